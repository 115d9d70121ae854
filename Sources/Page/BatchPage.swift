import DarkroomClient
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Foundation

/// One page of a batch: at most `perPage` images. The first one also says what became of the whole batch.
///
/// A class, because each closure of the document would copy a structure.
final class BatchPage {
    static let perPage = 500

    let summary: PageSummary
    /// From 1 on.
    let number: Int
    let entries: [PageEntry]
    let zone: TimeZone
    /// The folder of the results, from the folder of the page.
    let results: String
    /// Whether it shows the files of the results, and not only copies of them.
    let showsResults: Bool
    /// The page of all batches, if there is one.
    let overview: PageLink?
    /// The views of this page by the names of their images.
    private(set) lazy var views = Dictionary(
        entries.map { (ByteString($0.image.name), $0.view) },
        uniquingKeysWith: { first, _ in first })

    init(
        summary: PageSummary, number: Int, entries: [PageEntry], zone: TimeZone, results: String,
        showsResults: Bool = false, overview: PageLink?
    ) {
        self.summary = summary
        self.number = number
        self.entries = entries
        self.zone = zone
        self.results = results
        self.showsResults = showsResults
        self.overview = overview
    }

    /// The number of pages; a batch without images has one.
    var count: Int { max(1, summary.failuresOfPages.count) }

    static func fileName(_ number: Int) -> String {
        number == 1 ? "index.html" : "page-\(number).html"
    }

    /// The whole document.
    var document: Markup {
        let id = summary.frame.id
        return Markup.document(language: "en") {
            PageParts.head(title: number == 1 ? id : "\(id), page \(number)")
            Markup(.body) {
                Markup(.header) {
                    if let overview {
                        Markup(.nav, .label("All batches")) {
                            Markup(.a, .href(overview)) { "All batches" }
                        }
                    }
                    Markup(.h1) {
                        Markup(.bdi) { id }
                        " "
                        PageParts.badge(summary.frame.state)
                    }
                    if number == 1 { facts }
                }
                Markup(.main) {
                    if number == 1 {
                        failures
                        problems
                    }
                    if number == 1 {
                        TimelineDrawing(timeline: summary.timeline, zone: zone).markup
                    }
                    pages(isIndex: number == 1)
                    grid
                    if number == 1 { slowest }
                    pages()
                    entries.indices.map { view(of: $0) }
                }
                PageParts.footer(
                    of: summary.frame, zone, results: results, showsResults: showsResults)
                Markup(.script, literal: PageTheme.program)
            }
        }
    }

    // MARK: The head

    private var facts: Markup {
        let frame = summary.frame
        return Markup(.section, .label("Summary")) {
            PageParts.bar(frame.counts)
            Markup(.p) { PageParts.words(frame.counts) }
            Markup(.dl, .class("facts")) {
                fact("Received") { PageParts.time(frame.times.received, zone) }
                if let finished = frame.times.finished {
                    fact("Finished") { PageParts.time(finished, zone) }
                    if let took = Self.seconds(from: frame.times.received, to: finished) {
                        fact("Took") { Words.time(microseconds: UInt64(clamping: Int(took * 1e6))) }
                    }
                }
                if let user = frame.manifest.uid {
                    fact("Submitted by") { HumanText.user(user) }
                }
                fact("Manifest") { Markup(.bdi) { frame.manifest.name } }
                if summary.downloadedBytes > 0 {
                    fact("Downloaded") { HumanText.bytes(Double(summary.downloadedBytes)) }
                }
                fact("Results") { HumanText.bytes(Double(summary.outputBytes)) }
                if summary.warningCount > 0 { fact("Warnings") { "\(summary.warningCount)" } }
            }
        }
    }

    func fact(_ name: String, @MarkupBuilder _ value: () -> Markup) -> Markup {
        Markup(.div) {
            Markup(.dt) { name }
            Markup(.dd, content: value)
        }
    }

    private static func seconds(from start: String, to end: String) -> Double? {
        guard let start = Clock.date(start), let end = Clock.date(end) else { return nil }
        return max(0, min(1e10, end.timeIntervalSince(start)))
    }

    // MARK: Failures

    private var failures: Markup {
        let count = summary.codes.values.reduce(0, +)
        guard count > 0 else { return .nothing }
        let codes = Dictionary(
            summary.codes.map { ($0.key.string, $0.value) }, uniquingKeysWith: +)
        return Markup(.section) {
            Markup(.h2) { Words.count(count, "failure") }
            if count > 1 { Markup(.p, .class("soft")) { Words.reasons(codes) } }
            summary.failures.map { failure($0) }
            if count > summary.failures.count {
                Markup(.p) {
                    "\(count - summary.failures.count) more failed images are marked in the lists below."
                }
            }
        }
    }

    private func failure(_ item: PageSummary.Item) -> Markup {
        Markup(.article, .class("failure")) {
            Markup(.h3) {
                link(to: item.number) { Markup(.bdi) { item.image.name } }
            }
            if let error = item.image.error {
                Markup(.p) {
                    error.message
                    " "
                    Markup(.code) { error.code }
                }
                Markup(.p, .class("soft")) { remedy(error.isTransient) }
            }
        }
    }

    func remedy(_ isRetryable: Bool) -> Markup {
        if summary.isRun {
            return Markup(.span) {
                isRetryable
                    ? "A retry may help: the same command with "
                    : "Correct the cause first. Then repeat the command with "
                Markup(.code) { "--retry" }
            }
        }
        let command = "darkroom retry \(summary.frame.id.shellQuoted)"
        return isRetryable
            ? Markup(.span) {
                "A retry may help: "
                Markup(.code) { command }
            }
            : Markup(.span) {
                "Correct the cause first. If it is the source, then repeat the image: "
                Markup(.code) { command }
                ". If it is the manifest, submit the corrected one."
            }
    }

    /// A rejected manifest has no images, but reasons.
    private var problems: Markup {
        guard let errors = summary.frame.errors, !errors.isEmpty else { return .nothing }
        return Markup(.section) {
            Markup(.h2) { "The manifest was rejected" }
            errors.prefix(PageSummary.mostFailures).map { problem in
                Markup(.article, .class("failure")) {
                    Markup(.p) {
                        if let line = problem.line { "Line \(line): " }
                        problem.message
                        " "
                        Markup(.code) { problem.code }
                    }
                }
            }
        }
    }

    // MARK: Lists

    /// A link to an image, which may be on another page.
    private func link(to image: Int, @MarkupBuilder _ content: () -> Markup) -> Markup {
        let page = (image - 1) / Self.perPage + 1
        let anchor = AnchorID("view", image)
        return page == number
            ? Markup(.a, .href(anchor), content: content)
            : Markup(.a, .href(PageLink(Self.fileName(page)), anchor), content: content)
    }

    /// Links to all pages on the first one, and otherwise to the first, the last and the nearest ones, so that the pages
    /// of a large batch do not grow with its square.
    private func pages(isIndex: Bool = false) -> Markup {
        guard count > 1 else { return .nothing }
        let near = (number - 2)...(number + 2)
        return Markup(.nav, isIndex ? .label("All pages") : .label("Pages")) {
            Markup(.ul, .class("steps")) {
                (1...count).filter { isIndex || $0 == 1 || $0 == count || near ~= $0 }.map { page in
                    let failed = summary.failuresOfPages[page - 1]
                    let text = "Page \(page)" + (failed > 0 ? " (\(failed) failed)" : "")
                    return Markup(.li) {
                        if page == number {
                            Markup(.strong, .fixed("aria-current", "page")) { text }
                        } else {
                            Markup(.a, .href(PageLink(Self.fileName(page)))) { text }
                        }
                    }
                }
            }
        }
    }

    private var grid: Markup {
        guard !entries.isEmpty else { return .nothing }
        return Markup(.section) {
            Markup(.h2) { count > 1 ? "Images, page \(number) of \(count)" : "Images" }
            Markup(.ul, .class("grid")) { entries.map { card($0) } }
        }
    }

    private func card(_ entry: PageEntry) -> Markup {
        Markup(.li, .id(entry.grid)) {
            Markup(.a, .href(entry.view)) {
                Markup(.span, .class("frame")) {
                    if let small = entry.after?.small {
                        picture(small, alt: "")
                    } else {
                        entry.afterNote ?? Self.word(entry.image.state)
                    }
                }
                Markup(.span, .class("name")) { Markup(.bdi) { entry.image.name } }
                if entry.image.state != .filtered { badge(entry.image.state) }
            }
        }
    }

    private var slowest: Markup {
        guard summary.slowest.count > 1 else { return .nothing }
        return Markup(.section) {
            Markup(.h2) { "The slowest images" }
            Markup(.table) {
                Markup(.thead) {
                    Markup(.tr) {
                        Markup(.th, .fixed("scope", "col")) { "Image" }
                        Markup(.th, .class("number"), .fixed("scope", "col")) { "Download" }
                        Markup(.th, .class("number"), .fixed("scope", "col")) { "Filters" }
                    }
                }
                Markup(.tbody) {
                    summary.slowest.map { item in
                        Markup(.tr) {
                            Markup(.th, .fixed("scope", "row")) {
                                link(to: item.number) { Markup(.bdi) { item.image.name } }
                            }
                            Markup(.td, .class("number")) {
                                milliseconds(item.image.milliseconds.downloading)
                            }
                            Markup(.td, .class("number")) {
                                milliseconds(item.image.milliseconds.filtering)
                            }
                        }
                    }
                }
            }
        }
    }

    // MARK: Words

    func picture(_ image: PageImage, alt: String) -> Markup {
        // A few pixels would look like nothing.
        let longest = max(image.width, image.height, 1)
        let isTiny = longest < 32 && min(image.width, image.height) > 0
        let factor = isTiny ? 64 / longest : 1
        let (width, height) = (image.width * factor, image.height * factor)
        let part: (class: Markup.Attribute, height: Double)
        switch image.part {
        case .upper(let height): part = (.class("upper"), height)
        case .lower(let height): part = (.class("lower"), height)
        case nil:
            return Markup(
                .img, isTiny ? .class("tiny") : nil, .src(image.link), .width(width),
                .height(height), .lazy, .alt(alt))
        }
        // The drawing has no content. It gives the frame its proportions.
        return Markup(.span, isTiny ? .class("part tiny") : .class("part")) {
            Markup(.svg, .box(width, height), .width(width), .hiddenFromReaders)
            Markup(
                .img, part.class, .src(image.link), .fixed("width", "100%"),
                .percent("height", part.height), .lazy, .alt(alt))
        }
    }

    func milliseconds(_ count: Int) -> String {
        Words.time(microseconds: UInt64(clamping: count).saturatingMultiply(1000))
    }

    func badge(_ state: ImageState) -> Markup {
        switch state {
        case .filtered: PageParts.badge(Self.word(state), .class("state good"))
        case .failed: PageParts.badge(Self.word(state), .class("state bad"))
        default: PageParts.badge(Self.word(state), .class("state rest"))
        }
    }

    private static func word(_ state: ImageState) -> String {
        switch state {
        case .new: "not begun"
        case .downloading: "downloading"
        case .downloaded: "waiting for its filters"
        case .filtering: "filtering"
        case .filtered: "filtered"
        case .failed: "failed"
        case .cancelled: "cancelled"
        }
    }
}
