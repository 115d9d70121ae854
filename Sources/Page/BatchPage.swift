import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Foundation

/// One page of a batch: at most `perPage` images. The first one also says what became of the whole batch.
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
    let html = HTMLWriter()
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

    var count: Int { summary.pageCount }

    static func fileName(_ number: Int) -> String {
        number == 1 ? "index.html" : "page-\(number).html"
    }

    func document() -> HTMLWriter {
        let id = summary.frame.id
        html.document(language: "en") {
            html.head(title: number == 1 ? id : "\(id), page \(number)")
            html(.body) {
                html(.header) {
                    if let overview {
                        html(.nav, .label("All batches")) {
                            html(.a, .href(overview), text: "All batches")
                        }
                    }
                    html(.h1) {
                        html(.bdi, text: id)
                        html.text(" ")
                        html.badge(summary.frame.state)
                    }
                    if number == 1 { facts() }
                }
                html(.main) {
                    if number == 1 {
                        failures()
                        problems()
                        TimelineDrawing(timeline: summary.timeline, zone: zone, html: html).draw()
                    }
                    pages(isIndex: number == 1)
                    grid()
                    if number == 1 { slowest() }
                    pages()
                    for index in entries.indices { view(of: index) }
                }
                html.footer(of: summary.frame, zone, results: results, showsResults: showsResults)
                html(.script, literal: PageTheme.program)
            }
        }
        return html
    }

    // MARK: The head

    private func facts() {
        let frame = summary.frame
        html(.section, .label("Summary")) {
            html.bar(summary.counts)
            if summary.counts.total > 0 { html(.p, text: HTMLWriter.words(summary.counts)) }
            html(.dl, .class("facts")) {
                fact("Received") { html.time(frame.times.received, zone) }
                if let finished = frame.times.finished {
                    fact("Finished") { html.time(finished, zone) }
                    if let took = BatchDuration(frame.times, frame.commands) {
                        fact("Took", took.words)
                    }
                }
                if let user = frame.manifest.uid { fact("Submitted by", HumanText.user(user)) }
                fact("Manifest") { html(.bdi, text: frame.manifest.name) }
                if summary.downloadedBytes > 0 {
                    fact("Downloaded", HumanText.bytes(Double(summary.downloadedBytes)))
                }
                if summary.outputBytes > 0 {
                    fact("Results", HumanText.bytes(Double(summary.outputBytes)))
                }
            }
        }
    }

    func fact(_ name: String, _ value: String) { fact(name) { html.text(value) } }

    func fact(_ name: String, _ value: () -> Void) {
        html(.div) {
            html(.dt, text: name)
            html(.dd, content: value)
        }
    }

    // MARK: Failures

    func reason(for image: ImageStatus) {
        guard let error = image.error else { return }
        html(.p) {
            html.text("\(error.message) ")
            html(.code, text: error.code)
        }
        html(.p, .class("soft")) { remedy(error.isTransient) }
    }

    private func remedy(_ isRetryable: Bool) {
        if summary.isRun {
            html.text(
                isRetryable
                    ? "A retry may help: the same command with "
                    : "Correct the cause first. Then repeat the command with ")
            html(.code, text: "--retry")
            return
        }
        html.text(
            isRetryable
                ? "A retry may help: "
                : "Correct the cause first. If it is the source, then repeat the image: ")
        html(.code, text: "darkroom retry \(summary.frame.id.shellQuoted)")
        if !isRetryable { html.text(". If it is the manifest, submit the corrected one.") }
    }

    /// A rejected manifest has no images, but reasons.
    private func problems() {
        guard let errors = summary.frame.errors, !errors.isEmpty else { return }
        html(.section) {
            html(.h2, text: "The manifest was rejected")
            for problem in errors.prefix(PageSummary.mostFailures) {
                html(.article, .class("failure")) {
                    html(.p) {
                        let place = [("Line", problem.line), ("column", problem.column)]
                            .compactMap { word, number in number.map { "\(word) \($0)" } }
                        if !place.isEmpty { html.text(place.joined(separator: ", ") + ": ") }
                        if !problem.path.isEmpty {
                            html(.bdi, text: problem.path)
                            html.text(": ")
                        }
                        html.text(problem.message)
                        if let suggestion = problem.suggestion {
                            html.text("; did you mean ‘\(suggestion)’?")
                        }
                        html.text(" ")
                        html(.code, text: problem.code)
                    }
                }
            }
        }
    }

    // MARK: Lists

    /// A link to an image, which may be on another page.
    func link(to item: PageSummary.Item) {
        let page = (item.number - 1) / Self.perPage + 1
        let anchor = AnchorID("view", item.number)
        html(.a, page == number ? .href(anchor) : .href(PageLink(Self.fileName(page)), anchor)) {
            html(.bdi, text: item.image.name)
        }
    }

    /// Links to all pages on the first one, and otherwise to the first, the last and the nearest ones, so that the pages
    /// of a large batch do not grow with its square.
    private func pages(isIndex: Bool = false) {
        guard count > 1 else { return }
        let near = (number - 2)...(number + 2)
        html(.nav, isIndex ? .label("All pages") : .label("Pages")) {
            html(.ul, .class("steps")) {
                for page in 1...count
                where isIndex || page == 1 || page == count || near ~= page {
                    let text = "Page \(page)" + notes(onPage: page)
                    html(.li) {
                        if page == number {
                            html(.strong, .fixed("aria-current", "page"), text: text)
                        } else {
                            html(.a, .href(PageLink(Self.fileName(page))), text: text)
                        }
                    }
                }
            }
        }
    }

    /// How many of its images have failed or have warnings.
    private func notes(onPage page: Int) -> String {
        let failed = summary.failuresOfPages[page - 1]
        let warned = summary.warnedOfPages[page - 1]
        let notes = [
            failed > 0 ? "\(failed) failed" : nil, warned > 0 ? "\(warned) with warnings" : nil,
        ].compactMap(\.self)
        return notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))"
    }

    private func slowest() {
        guard summary.slowest.count > 1 else { return }
        html(.section) {
            html(.h2, text: "The slowest images")
            html(.table) {
                html(.thead) {
                    html(.tr) {
                        html(.th, .fixed("scope", "col"), text: "Image")
                        html(.th, .class("number"), .fixed("scope", "col"), text: "Download")
                        html(.th, .class("number"), .fixed("scope", "col"), text: "Filters")
                    }
                }
                html(.tbody) {
                    for item in summary.slowest {
                        let times = item.image.milliseconds
                        html(.tr) {
                            html(.th, .fixed("scope", "row")) { link(to: item) }
                            for time in [times.downloading, times.filtering] {
                                html(.td, .class("number"), text: Words.time(milliseconds: time))
                            }
                        }
                    }
                }
            }
        }
    }

    // MARK: Words

    /// - Parameters:
    ///   - alt: what stands in the place of the picture if it cannot be shown.
    ///   - isRead: whether a screen reader reads it.
    func picture(_ image: PageImage, alt: String, isRead: Bool = true) {
        // A few pixels would look like nothing.
        let longest = max(image.width, image.height, 1)
        let isTiny = longest < 32 && min(image.width, image.height) > 0
        let factor = isTiny ? 64 / longest : 1
        html(
            .img, isTiny ? .class("tiny") : nil, .src(image.link), .width(image.width * factor),
            .height(image.height * factor), .lazy, isRead ? nil : .hiddenFromReaders, .alt(alt))
    }

    func badge(_ state: ImageState) {
        switch state {
        case .filtered: html.badge(Self.word(state), .class("state good"))
        case .failed: html.badge(Self.word(state), .class("state bad"))
        default: html.badge(Self.word(state), .class("state rest"))
        }
    }

    func warningBadge(_ image: ImageStatus) {
        guard image.isWarned, let count = image.warnings?.count else { return }
        html.text(" ")
        html.badge(Words.count(count, "warning"), .class("state warning"))
    }

    static func word(_ state: ImageState) -> String {
        switch state {
        case .new: "not begun"
        case .downloaded: "waiting for its filters"
        default: state.rawValue
        }
    }
}

extension Words {
    static func time(milliseconds: Int) -> String {
        time(microseconds: UInt64(clamping: milliseconds).saturatingMultiply(1000))
    }
}
