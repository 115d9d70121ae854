import DarkroomAnswer
import DarkroomCore
import Foundation
import TestSupport
import Testing

@testable import DarkroomManifest

/// Pages in a real browser.
@Suite(.fewAtATime, .enabled(if: Browser.path != nil, "there is no chromium"))
struct PageBrowserTests {
    private let fixture: RunFixture
    /// Names that would be markup, a program, or another text if they were not escaped.
    private static let hostile = [
        "<script>document.title = 'x'<script>", "<img src=x onerror=alert(1)>",
        "\"' onload=\"alert(1)",
        "a\u{301}b", "写真", String(repeating: "long", count: 49), "&lt;b&gt;",
    ]

    init() throws {
        fixture = try RunFixture()
    }

    /// Makes a page of a batch whose names, sources and messages are hostile.
    private func page() async throws -> String {
        var images = ["small", "gray", "alpha", "deep", "large"].map {
            "- {name: \($0), source: \($0).png, filters: [{sepia: 0.8}, flip]}"
        }
        for name in Self.hostile {
            let text = name.replacing("'", with: "''")
            images.append("- {name: '\(text)', source: small.png, filters: [{resize: 8}]}")
            images.append("- {name: '\(text).x', source: './no \(text.prefix(20)).png'}")
        }
        try fixture.write("images:\n" + images.joined(separator: "\n") + "\n", to: "m.yaml")
        #expect(try await fixture.end("run m.yaml -o out --quiet").exit == 3)
        #expect(try await fixture.end("page out").exit == 0)
        return "file://" + fixture.url("out-page/index.html").path
    }

    /// Works on that page in a browser. It must be quiet.
    private func onPage(
        _ work: @escaping @Sendable (Browser, String) throws -> Void
    ) async throws {
        let url = try await page()
        try await Browser.use { browser in
            try work(browser, url)
            Self.checkQuiet(browser, url)
        }
    }

    /// What must hold of each page: nothing is asked for outside of it, and nothing is complained about.
    private static func checkQuiet(_ browser: Browser, _ url: String) {
        let folder = String(url.prefix { $0 != "#" }).replacing("index.html", with: "")
        for event in browser.events {
            switch event.method {
            case "Network.requestWillBeSent":
                let request = event.parameters["request"] as? [String: Any]
                let asked = request?["url"] as? String ?? ""
                #expect(asked.hasPrefix(folder) || asked == "about:blank", "\(asked)")
            case "Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown",
                "Page.javascriptDialogOpening":
                Issue.record("\(event.method): \(event.parameters)")
            default: break
            }
        }
    }

    @Test func isQuietAndShowsNamesAsText() async throws {
        try await onPage { browser, url in
            try browser.open(url)
            let names = try browser.value(
                "[...document.querySelectorAll('.grid .name')].map(n => n.textContent)",
                as: [String].self)
            #expect(names.count == 5 + 2 * Self.hostile.count)
            for name in Self.hostile { #expect(names.contains(name), "\(name)") }
            #expect(try browser.value("document.title", as: String.self) == "m")
            // Each picture has its size before it is loaded, and the right one. Tiny ones are enlarged evenly.
            let wrong = try browser.value(
                """
                [...document.images].filter(i => !i.width || !i.height || i.complete && i.naturalWidth &&
                  (i.getAttribute('width') % i.naturalWidth || i.naturalWidth > 31 && i.getAttribute('width') != i.naturalWidth ||
                    i.getAttribute('height') * i.naturalWidth != i.getAttribute('width') * i.naturalHeight))
                  .map(i => i.src)
                """, as: [String].self)
            #expect(wrong.filter { $0.contains("small") } == [])
        }
    }

    /// A status may have been sent by somebody else, so nothing in it is trusted.
    @Test func aHostileStatusIsText() async throws {
        let markup = "</title></style></script><script>alert(1)</script><h1>x</h1><img src=//h/x>"
        let names = [
            markup, "a\u{202E}gnp.exe", "\u{2066}b\u{2069}\u{200F}", "c\u{7}\n\u{9B}",
            String(repeating: "w", count: 200), String(repeating: "\u{301}", count: 100), "",
        ]
        let files = [
            "small.png", "passwd", "...", "javascript:alert(1).png", "\" onload=\"alert(1)",
            "x.png", "no.png",
        ]
        var status = Status(
            id: markup,
            manifest: .init(name: markup, file: "m.yaml", sha256: "", bytes: 1),
            state: .completedWithErrors,
            times: .init(received: markup, started: markup, finished: markup),
            counts: .init(new: .max), errors: [.init(code: markup, message: markup)],
            commands: [.init(.hold, time: markup, uid: 0)])
        status.images = zip(names, files).map { name, file in
            var image = ImageStatus(
                name: name, source: "javascript:alert(1)//\(name)", from: markup, state: .failed,
                output: .init(
                    file: file, format: .png, sha256: markup, bytes: .max, width: .min,
                    height: .max, depth: -1, channels: 99), attempts: .max,
                download: .init(attempts: .max, bytes: .max),
                error: Failure(code: markup, message: markup, isTransient: true),
                warnings: [markup], metadata: [markup: markup])
            image.milliseconds.filtering = .max
            image.times = .init(
                downloading: .init(milliseconds: .min), downloaded: .init(milliseconds: .max),
                filtering: .now)
            return image
        }
        try fixture.write("", to: "out/empty")
        for path in ["../small.png", "/etc/passwd", "..", "//h/x.png"] {
            var altered = status
            altered.images[0].output?.file = path
            try fixture.write(altered.encoded(), to: "out/status.json")
            try await fixture.end("page out").shows(exit: 74, errors: .has("status.json"))
        }
        try fixture.write(status.encoded(), to: "out/status.json")
        try await fixture.end("page out").shows(exit: 0)
        #expect(fixture.list("out-page/previews") == [])
        let url = "file://" + fixture.url("out-page/index.html").path
        let folder = "file://" + fixture.scratch.path
        try await Browser.use { browser in
            try browser.show(width: 390, height: 900)
            for part in ["", "#view-1", "#view-6"] {
                try browser.open(url + part)
                #expect(
                    try browser.value("document.documentElement.scrollWidth", as: Int.self) <= 390)
            }
            let shown = try browser.value(
                "[...document.querySelectorAll('.grid .name')].map(n => n.textContent)",
                as: [String].self)
            #expect(
                shown.map { Array($0.utf8) }
                    == [
                        markup, "a\\u{202E}gnp.exe", "\\u{2066}b\\u{2069}\\u{200F}",
                        "c\\u{07}\\n\\u{009B}", names[4], names[5], "",
                    ].map { Array($0.utf8) }, "\(shown)")
            let elements = try browser.value(
                "['script', 'style', 'h1', 'img', 'iframe', 'object', 'base', 'form']"
                    + ".map(t => t + document.getElementsByTagName(t).length)", as: [String].self)
            #expect(
                elements == [
                    "script1", "style1", "h11", "img0", "iframe0", "object0", "base0",
                    "form0",
                ])
            let links = try browser.value(
                "[...document.querySelectorAll('[href], [src]')].map(a => a.href)",
                as: [String].self)
            #expect(links.filter { !$0.hasPrefix(folder) } == [])
            Self.checkQuiet(browser, url)
        }
    }

    @Test func fitsEachWindowAndCanBeRead() async throws {
        try await onPage { browser, url in
            for (width, dark) in [390, 1024, 1920].flatMap({ [($0, false), ($0, true)] }) {
                try browser.show(width: width, height: 900, dark: dark)
                for part in ["", "#view-1"] {
                    try browser.open(url + part)
                    #expect(
                        try browser.value("document.documentElement.scrollWidth", as: Int.self)
                            <= width, "\(width)\(part)")
                    let faint = try browser.value(Self.faintTexts, as: [String].self)
                    #expect(faint == [], "\(width)\(part), dark: \(dark)")
                }
            }
        }
    }

    /// The texts whose contrast with what is behind them is below 4.5 to 1 (WCAG 2.2, 1.4.3).
    private static let faintTexts = """
        (() => {
          const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
          const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
            .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
            .reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
          const behind = e => {
            for (; e; e = e.parentElement) {
              const c = parse(getComputedStyle(e).backgroundColor);
              if (c.length == 3 || c[3] > 0.99) return c;
            }
            return [255, 255, 255];
          };
          const found = [];
          for (const e of document.querySelectorAll('body *')) {
            const own = [...e.childNodes].some(n => n.nodeType == 3 && n.textContent.trim());
            if (!own || !e.offsetParent || e.closest('svg, script')) continue;
            const a = light(parse(getComputedStyle(e).color)), b = light(behind(e));
            const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (ratio < 4.5) found.push(e.tagName + ' ' + ratio.toFixed(2) + ' ' + e.textContent.slice(0, 30));
          }
          return found;
        })()
        """

    @Test func theSliderAndTheKeysWork() async throws {
        try await onPage { browser, url in
            try browser.show(width: 1024, height: 900)
            try browser.open(url + "#view-1")
            let clip = "document.querySelector('#view-1 .top').style.clipPath"
            #expect(try browser.value(clip, as: String.self) == "inset(0px 50% 0px 0px)")
            _ = try browser.value(
                "(document.querySelector('#view-1 input').focus(), true)", as: Bool.self)
            try browser.press("ArrowRight", code: 39)
            #expect(try browser.value(clip, as: String.self) == "inset(0px 49% 0px 0px)")
            #expect(try browser.value("location.hash", as: String.self) == "#view-1")
            _ = try browser.value("(document.activeElement.blur(), true)", as: Bool.self)
            try browser.press("ArrowRight", code: 39)
            #expect(try browser.value("location.hash", as: String.self) == "#view-2")
            try browser.press("ArrowLeft", code: 37)
            #expect(try browser.value("location.hash", as: String.self) == "#view-1")
            try browser.press("Escape", code: 27)
            #expect(try browser.value("location.hash", as: String.self) == "#image-1")
        }
    }

    /// The tab key walks through the view that is open, and not through what is behind it.
    @Test func theKeyboardStaysInTheView() async throws {
        try await onPage { browser, url in
            try browser.show(width: 1024, height: 900)
            try browser.open(url)
            let focused = """
                (e => e.closest('.view') ? e.closest('.view').id : e.closest('.grid') ? 'grid' : e.tagName)
                  (document.activeElement)
                """
            // From the beginning of the page to the first picture, and into it.
            for _ in 0..<40 where try browser.value(focused, as: String.self) != "grid" {
                try browser.press("Tab", code: 9)
            }
            #expect(try browser.value(focused, as: String.self) == "grid")
            try browser.press("Enter", code: 13, text: "\r")
            #expect(try browser.value("location.hash", as: String.self) == "#view-1")
            var places: [String] = []
            for _ in 0..<8 {
                try browser.press("Tab", code: 9)
                places.append(try browser.value(focused, as: String.self))
            }
            #expect(places.contains("view-1"))
            #expect(Set(places).isSubset(of: ["view-1", "BODY", "HTML"]), "\(places)")
        }
    }

    /// Everything but the slider is there without a program.
    @Test func isCompleteWithoutAProgram() async throws {
        try await onPage { browser, url in
            try browser.send("Emulation.setScriptExecutionDisabled", ["value": true])
            try browser.open(url + "#view-1")
            let shown = "e => !!e && e.getClientRects().length > 0"
            #expect(
                try browser.value(
                    "(\(shown))(document.querySelector('#view-1 .pair img'))", as: Bool.self))
            #expect(
                try !browser.value(
                    "(\(shown))(document.querySelector('#view-1 .slider'))", as: Bool.self))
            #expect(
                try !browser.value(
                    "(\(shown))(document.querySelector('#view-2'))", as: Bool.self))
        }
    }

    /// For a screen reader: one heading of the first level and no level left out, a text for each picture that is not
    /// beside its name, a name for each link, button and field, and no ID twice.
    @Test func tellsAScreenReader() async throws {
        try await onPage { browser, url in
            try browser.open(url)
            let faults = try browser.value(
                """
                (() => {
                  const all = s => [...document.querySelectorAll(s)], found = [];
                  if (!document.documentElement.lang) found.push('no language');
                  if (all('main').length != 1) found.push('main');
                  if (all('h1').length != 1) found.push('h1');
                  let level = 0;
                  for (const h of all('h1, h2, h3, h4')) {
                    const now = Number(h.tagName[1]);
                    if (now > level + 1) found.push('level of ' + h.textContent);
                    level = now;
                  }
                  for (const i of all('img'))
                    if (!i.hasAttribute('alt')) found.push('alt of ' + i.src);
                  for (const a of all('a, button'))
                    if (!(a.textContent.trim() || a.getAttribute('aria-label'))) found.push('name of ' + a.outerHTML);
                  for (const i of all('input'))
                    if (!i.labels.length && !i.getAttribute('aria-label')) found.push('label of ' + i.outerHTML);
                  for (const s of all('svg:not([aria-hidden])'))
                    if (!s.getAttribute('aria-label')) found.push('label of a drawing');
                  const ids = all('[id]').map(e => e.id);
                  if (new Set(ids).size != ids.length) found.push('ids');
                  for (const a of all('a[href^="#"]'))
                    if (!document.getElementById(a.getAttribute('href').slice(1))) found.push('target of ' + a.href);
                  return found;
                })()
                """, as: [String].self)
            #expect(faults == [])
        }
    }

    /// A logo is no result, the results of one picture are told apart by their sizes, and many failures do not push the
    /// pictures down. All of this without a program, on a telephone too.
    @Test func showsWhatThePicturesAre() async throws {
        let missing = (1...9).map { "- no\($0).png" }
        try fixture.write(
            """
            images:
            - {name: logo, source: alpha.png, publish: false}
            - name: big
              source: large.png
              filters: [{overlay: {from: logo}}]
              variants: [{suffix: -20, filters: [{resize: 20}]}, {suffix: -10, filters: [{resize: 10}]}]
            - small.png
            - {name: text, source: m.yaml}
            \(missing.joined(separator: "\n"))

            """, to: "m.yaml")
        #expect(try await fixture.end("run m.yaml -o out --quiet").exit == 3)
        #expect(try await fixture.end("page out").exit == 0)
        let url = "file://" + fixture.url("out-page/index.html").path
        try await Browser.use { browser in
            try browser.send("Emulation.setScriptExecutionDisabled", ["value": true])
            try browser.show(width: 390, height: 844)
            try browser.open(url)
            func texts(_ selector: String) throws -> [String] {
                try browser.value(
                    "[...document.querySelectorAll('\(selector)')].map(n => n.textContent)",
                    as: [String].self)
            }
            #expect(try texts(".grid .name").prefix(3) == ["big-20", "big-10", "small"])
            #expect(try texts(".grid .group") == ["large.png, 2 results"])
            let sizes = try texts(".grid .size")
            #expect(sizes.count == 3 && Set(sizes).count == 3, "\(sizes)")
            #expect(
                try texts("summary") == [
                    "All 10 failures", "1 image without a file, used by other images",
                ])
            let reasons = try texts("section > ul:not(.grid) > li")
            #expect(reasons.first?.hasPrefix("9 images: source-missing, for example no1: ") == true)
            #expect(reasons.count == 2, "\(reasons)")
            // The first picture is on the second screen at the latest, and the failures are shown when they are opened.
            let top = "document.querySelector('.grid').getBoundingClientRect().top"
            #expect(try browser.value(top, as: Double.self) < 2 * 844)
            let isShown = "document.querySelector('.failure').checkVisibility()"
            #expect(try !browser.value(isShown, as: Bool.self))
            _ = try browser.value("(document.querySelector('details').open = true)", as: Bool.self)
            #expect(try browser.value(isShown, as: Bool.self))
            #expect(try browser.value("document.documentElement.scrollWidth", as: Int.self) <= 390)
            Self.checkQuiet(browser, url)
        }
    }
}
