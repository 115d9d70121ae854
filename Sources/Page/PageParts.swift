import DarkroomClient
import DarkroomCore
import DarkroomSpool
import Foundation

/// What the pages have in common.
enum PageParts {
    static func head(title: String) -> Markup {
        Markup(.head) {
            Markup(.meta, .fixed("charset", "utf-8"))
            Markup(
                .meta, .fixed("http-equiv", "Content-Security-Policy"), .content(PageTheme.policy))
            Markup(
                .meta, .fixed("name", "viewport"), .content("width=device-width, initial-scale=1"))
            Markup(.meta, .fixed("name", "referrer"), .content("no-referrer"))
            Markup(.title) { title }
            Markup(.style, literal: PageTheme.style)
        }
    }

    /// - Parameters:
    ///   - frame: the status of which the page was made; nil for all batches.
    ///   - results: the folder to which the links to the results lead.
    ///   - showsResults: whether the page shows the files of the results, and not only copies of them.
    static func footer(
        of frame: Status?, _ zone: TimeZone, results: String? = nil, showsResults: Bool = false
    ) -> Markup {
        Markup(.footer) {
            Markup(.small) {
                "Made by Darkroom \(Release.version)"
                if let written = frame?.written {
                    " from status.json of "
                    time(written, zone)
                }
                ". All times are in the zone \(zone.identifier)."
                if let results {
                    if results == ".." {
                        " The results themselves are in the folder above that of this page. "
                    } else {
                        " The results themselves are in the folder "
                        Markup(.bdi) { results }
                        ", seen from this page. "
                    }
                    showsResults
                        ? "The page shows them from there; without it, only small copies of large ones stay."
                        : "Without it, the links to them lead nowhere; the pictures of this page stay."
                }
            }
        }
    }

    static func time(_ timestamp: String, _ zone: TimeZone) -> Markup {
        Markup(.time, .datetime(timestamp)) { HumanText.time(timestamp, in: zone) }
    }

    /// - Parameter milliseconds: since 1970.
    static func clock(_ milliseconds: Int, _ zone: TimeZone) -> String {
        HumanText.time(Moment(milliseconds: milliseconds).text, in: zone)
    }

    // MARK: States

    static func badge(_ word: String, _ classes: Markup.Attribute) -> Markup {
        Markup(.span, classes) { word }
    }

    static func badge(_ state: BatchState) -> Markup {
        switch state {
        case .pending: badge("waiting", .class("state rest"))
        case .processing: badge("in work", .class("state rest"))
        case .held: badge("held", .class("state rest"))
        case .cancelled: badge("cancelled", .class("state rest"))
        case .completed: badge("completed", .class("state good"))
        case .completedWithErrors: badge("completed with errors", .class("state bad"))
        case .rejected: badge("rejected", .class("state bad"))
        }
    }

    // MARK: Counts

    private static func parts(
        _ counts: Status.Counts
    ) -> [(count: Int, word: String, class: Markup.Attribute)] {
        let open = max(0, counts.total.saturatingSubtract(counts.finished))
        return [
            (counts.filtered, "filtered", .class("good")),
            (counts.failed, "failed", .class("bad")),
            (counts.cancelled, "cancelled", .class("rest")),
            (open, "not finished", .class("rest")),
        ].filter { $0.0 > 0 }
    }

    /// `12 images: 11 filtered and 1 failed`.
    static func words(_ counts: Status.Counts) -> String {
        let total = Words.count(max(0, counts.total), "image")
        let parts = parts(counts).map { "\($0.count) \($0.word)" }
        return parts.isEmpty ? total : "\(total): " + Words.list(parts, "and")
    }

    static func bar(_ counts: Status.Counts) -> Markup {
        let parts = parts(counts)
        let total = Double(max(1, parts.reduce(0) { $0.saturatingAdd($1.count) }))
        var start = 0.0
        var rectangles: [Markup] = []
        for part in parts {
            let width = Double(part.count) / total * 100
            rectangles.append(
                Markup(
                    .rect, part.class, .number("x", start), .fixed("y", "0"),
                    .number("width", width), .fixed("height", "10")))
            start += width
        }
        return Markup(
            .svg, .class("bar"), .fixed("viewBox", "0 0 100 10"),
            .fixed("preserveAspectRatio", "none"), .fixed("role", "img"), .label(words(counts))
        ) { rectangles }
    }
}
