import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Foundation

/// What the pages have in common.
extension HTMLWriter {
    func head(title: String) {
        let html = self
        html(.head) {
            html(.meta, .fixed("charset", "utf-8"))
            html(.meta, .fixed("http-equiv", "Content-Security-Policy"), .content(PageTheme.policy))
            html(.meta, .fixed("name", "viewport"), .content("width=device-width, initial-scale=1"))
            html(.meta, .fixed("name", "referrer"), .content("no-referrer"))
            html(.title, text: title)
            html(.style, literal: PageTheme.style)
        }
    }

    /// - Parameters:
    ///   - frame: the status of which the page was made; nil for all batches.
    ///   - results: the folder to which the links to the results lead.
    ///   - showsResults: whether the page shows the files of the results, and not only copies of them.
    func footer(
        of frame: Status?, _ zone: TimeZone, results: String? = nil, showsResults: Bool = false
    ) {
        let html = self
        html(.footer) {
            html(.small) {
                html.text("Made by Darkroom \(Release.version)")
                if let written = frame?.written {
                    html.text(" from status.json of ")
                    html.time(written, zone)
                }
                html.text(". All times are in the zone \(zone.identifier).")
                guard let results else { return }
                if results == ".." {
                    html.text(" The results themselves are in the folder above that of this page. ")
                } else {
                    html.text(" The results themselves are in the folder ")
                    html(.bdi, text: results)
                    html.text(", seen from this page. ")
                }
                html.text(
                    showsResults
                        ? "The page shows them from there; without it, only small copies of large ones stay."
                        : "Without it, the links to them lead nowhere; the pictures of this page stay."
                )
            }
        }
    }

    func time(_ timestamp: String, _ zone: TimeZone) {
        self(.time, .datetime(timestamp), text: HumanText.time(timestamp, in: zone))
    }

    // MARK: States

    func badge(_ word: String, _ classes: Attribute) { self(.span, classes, text: word) }

    func badge(_ state: BatchState) {
        switch state {
        case .pending: badge("waiting", .class("state rest"))
        case .processing: badge("in work", .class("state rest"))
        case .held, .cancelled: badge(state.rawValue, .class("state rest"))
        case .completed: badge("completed", .class("state good"))
        case .completedWithErrors: badge("completed with errors", .class("state warning"))
        case .rejected: badge("rejected", .class("state bad"))
        }
    }

    // MARK: Counts

    private static func parts(
        _ counts: Status.Counts
    ) -> [(count: Int, word: String, class: Attribute)] {
        let open = max(0, counts.total.saturatingSubtract(counts.finished))
        return [
            (counts.filtered, "filtered", .class("good")),
            (counts.failed, "failed", .class("bad")),
            (counts.cancelled, "cancelled", .class("rest")),
            (open, "not finished", .class("rest")),
        ].filter { $0.0 > 0 }
    }

    /// `12 images: 11 filtered and 1 failed; 3 with warnings`.
    static func words(_ counts: Status.Counts) -> String {
        let total = Words.count(max(0, counts.total), "image")
        let parts = parts(counts).map { "\($0.count) \($0.word)" }
        let warnings = counts.warningText.map { "; \($0)" } ?? ""
        return (parts.isEmpty ? total : "\(total): " + Words.list(parts, "and")) + warnings
    }

    func bar(_ counts: Status.Counts) {
        let html = self
        let parts = Self.parts(counts)
        guard !parts.isEmpty else { return }
        let total = Double(max(1, parts.reduce(0) { $0.saturatingAdd($1.count) }))
        html(
            .svg, .class("bar"), .fixed("viewBox", "0 0 100 10"),
            .fixed("preserveAspectRatio", "none"), .fixed("role", "img"),
            .label(Self.words(counts))
        ) {
            var start = 0.0
            for part in parts {
                let width = Double(part.count) / total * 100
                html(
                    .rect, part.class, .number("x", start), .fixed("y", "0"),
                    .number("width", width), .fixed("height", "10"))
                start += width
            }
        }
    }
}
