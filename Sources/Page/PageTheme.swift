import DarkroomCore
import Foundation

/// How pages look and what they do: one style, one program, and the policy that lets nothing else in.
enum PageTheme {
    /// Colours are variables, so that light and dark differ in one place. Each pair of text and background has a contrast
    /// of at least 4.5 to 1 (WCAG 2.2, 1.4.3).
    static let style: StaticString = """
        :root{color-scheme:light dark;--paper:#fbfaf8;--card:#fff;--ink:#1d1c1a;--soft:#5d5a55;--line:#dedad3;\
        --accent:#1f5fa8;--good:#2e7d4f;--bad:#b3261e;--warning:#7a5b00;--rest:#8a8680;--shade:#efece6}
        @media (prefers-color-scheme:dark){:root{--paper:#161513;--card:#201f1c;--ink:#ece9e4;--soft:#a9a49c;\
        --line:#3a3733;--accent:#8ab8f0;--good:#6cc091;--bad:#f2938c;--warning:#e3bd5b;--rest:#7d7973;--shade:#2a2825}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;\
        overflow-wrap:anywhere}
        header,main,footer{max-width:72rem;margin:0 auto;padding:0 1rem}
        header{padding-top:1rem}
        footer{padding-bottom:2rem;margin-top:2rem}
        h1{margin:.5rem 0;font-size:1.6rem;line-height:1.2}
        h2{margin:1.75rem 0 .6rem;font-size:1.15rem}
        h3{margin:0;font-size:1rem}
        a{color:var(--accent)}
        a:focus-visible,button:focus-visible,input:focus-visible,summary:focus-visible{outline:3px solid \
        var(--accent);outline-offset:2px}
        small,.soft{color:var(--soft)}
        code{font-family:ui-monospace,monospace;font-size:.9em}
        .state{display:inline-block;padding:.05rem .55rem;border-radius:1rem;border:1px solid currentColor;\
        font-size:.85rem;vertical-align:middle}
        .good{color:var(--good)}.bad{color:var(--bad)}.rest{color:var(--soft)}\
        .warning{color:var(--warning)}
        dl.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(10.75rem,42%),1fr));\
        gap:.75rem 1rem;margin:1rem 0 0}
        dl.facts dt{color:var(--soft);font-size:.85rem}
        dl.facts dd{margin:0}
        svg.bar{display:block;width:100%;height:.9rem;border-radius:.45rem}
        .bar .good{fill:var(--good)}.bar .bad{fill:var(--bad)}.bar .rest{fill:var(--rest)}
        svg.timeline{display:block;overflow:visible}
        .timeline text{fill:var(--soft);font-size:.85rem;paint-order:stroke;stroke:var(--paper);stroke-width:4px}
        .timeline .download{fill:var(--accent)}.timeline .filter{fill:var(--good)}.timeline .bad{fill:var(--bad)}
        .timeline .pause{fill:var(--shade)}.timeline .mark{stroke:var(--line)}
        .again{fill:var(--ink);stroke:var(--paper);stroke-width:1.5}
        ul.pauses{margin:.25rem 0 1rem;padding-left:1.2rem}
        .failure{margin:.75rem 0;padding:.75rem 1rem;border:1px solid var(--line);border-left:.3rem solid var(--bad);\
        border-radius:.4rem;background:var(--card)}
        .failure p{margin:.25rem 0 0}.failure p:first-child{margin:0}
        table{border-collapse:collapse;width:100%}
        th,td{padding:.3rem .6rem .3rem 0;text-align:left;border-bottom:1px solid var(--line);font-weight:normal}
        thead th{color:var(--soft);font-size:.85rem}
        .number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
        ul.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(10rem,1fr));gap:1rem;margin:0;padding:0;\
        list-style:none}
        ul.list{margin:1rem 0;padding:0;list-style:none}
        .list li{margin:.75rem 0;padding:.75rem 1rem;border:1px solid var(--line);border-radius:.4rem;background:var(--card)}
        .list h2{margin:0 0 .4rem}.list p{margin:.4rem 0 0}
        .grid li{padding:.5rem;border:1px solid var(--line);border-radius:.4rem;background:var(--card)}
        .grid a{display:block;color:inherit;text-decoration:none}
        .frame{display:flex;align-items:center;justify-content:center;height:11rem;margin-bottom:.5rem;\
        background:var(--shade);border-radius:.25rem;text-align:center;font-size:.85rem;color:var(--soft)}
        .frame img{max-width:100%;max-height:100%;object-fit:contain}
        .grid .group{grid-column:1/-1;padding:.4rem 0 0;border:0;border-bottom:1px solid var(--line);border-radius:0;\
        background:none}
        .grid .row{grid-column-start:1}
        .name{display:block;font-size:.9rem}
        .size{display:block;color:var(--soft);font-size:.85rem}
        details{margin:.75rem 0}
        summary{cursor:pointer;color:var(--accent)}
        .view{display:none;position:fixed;inset:0;z-index:1;overflow:auto;padding:1rem;background:var(--paper)}
        .view:target{display:block}
        body:has(.view:target){overflow:hidden}
        body:has(.view:target) :is(header,footer,main>:not(.view)){visibility:hidden}
        .view>div{max-width:90rem;margin:0 auto}
        .steps{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;padding:0;margin:0 0 1rem;list-style:none}
        dd ol,dd ul{margin:0;padding-left:1.2rem}
        .pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1rem;margin:1rem 0}
        .pair figure,.slider figure{margin:0}
        .pair figure>img,.stack>img{display:block;max-width:100%;height:auto;background:#fff}
        .pair figure>img{outline:1px solid var(--line)}
        figcaption{color:var(--soft);font-size:.85rem;margin-bottom:.25rem}
        .slider>div{display:inline-block;max-width:100%}
        .stack{position:relative;width:fit-content;max-width:100%}
        .stack .top{position:absolute;inset:0;clip-path:inset(0 50% 0 0)}
        .top>img{width:100%;height:100%;background:#fff}
        .tiny{image-rendering:pixelated}
        .frame img.tiny{width:4rem;height:4rem;object-fit:contain}
        .slider input{display:block;width:100%;min-width:12rem;margin:.25rem 0 .5rem;accent-color:var(--accent)}
        @media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
        @media print{.view{display:none!important}.grid li,.failure{break-inside:avoid}}
        @media print{details::details-content{content-visibility:visible;block-size:auto}}
        """

    /// The slider that appears in a view when it opens, and the keys there: arrows for the next pictures, Escape to go
    /// back. A page is complete without it.
    static let program: StaticString = """
        'use strict';
        const make = (tag, name, ...content) => {
          const element = document.createElement(tag);
          element.className = name;
          element.append(...content);
          return element;
        };
        const copy = figure => {
          const picture = figure.lastElementChild.cloneNode(true);
          if (picture.alt) picture.alt = '';
          return picture;
        };
        const compare = () => {
          const pair = document.querySelector('.view:target .comparable');
          if (!pair) return;
          const [before, after] = pair.children;
          const top = make('div', 'top', copy(before)), input = make('input', '');
          Object.assign(input, {type: 'range', min: 0, max: 100, value: 50});
          const show = () => {
            top.style.clipPath = 'inset(0 ' + (100 - input.value) + '% 0 0)';
          };
          input.addEventListener('input', show);
          show();
          pair.classList.remove('comparable');
          pair.after(make('div', 'slider', make('div', '',
            make('label', '', 'Left: before. Right: after.', input),
            make('div', 'stack', copy(after), top))));
        };
        addEventListener('hashchange', compare);
        addEventListener('load', compare);
        compare();
        document.addEventListener('keydown', event => {
          const view = document.querySelector('.view:target');
          if (!view || event.ctrlKey || event.altKey || event.metaKey) return;
          if (event.target.type === 'range' && event.key !== 'Escape') return;
          const step = {ArrowLeft: '.previous', ArrowRight: '.next', Escape: '.back'}[event.key];
          const link = step && view.querySelector(step);
          if (link) { event.preventDefault(); link.click(); }
        });
        """

    /// The Content-Security-Policy (CSP Level 3). `file:` is for pages that are opened without a server, where 'self'
    /// means nothing.
    static var policy: String {
        "default-src 'none'; img-src 'self' file:; style-src '\(digest(style))'; "
            + "script-src '\(digest(program))'; base-uri 'none'; form-action 'none'"
    }

    private static func digest(_ text: StaticString) -> String {
        var digest = SHA256Digest()
        digest.update("\(text)".utf8)
        return "sha256-\(Data(digest.bytes()).base64EncodedString())"
    }
}
