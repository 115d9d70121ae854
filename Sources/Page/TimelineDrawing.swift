import DarkroomCore
import DarkroomSpool
import Foundation

/// A timeline as SVG. Its places across are percentages, so that texts and marks keep their size in each window.
struct TimelineDrawing {
    let timeline: Timeline
    let zone: TimeZone

    /// More lanes, or more operations of one kind, are drawn as the number of operations at once.
    static let mostLanes = 24
    static let mostOperations = 600
    /// The columns of such a drawing. Each has one dot at most.
    private static let columns = 240

    private static let captionHeight = 20
    private static let chartHeight = 64
    private static let gap = 10
    private static let axisHeight = 22

    /// The drawing of one kind of operation.
    private struct Group {
        let caption: String
        let shapes: [Markup]
        let height: Int
    }

    var markup: Markup {
        guard !timeline.isEmpty else { return .nothing }
        let scale = TimeScale(timeline)
        var groups: [Markup] = []
        var top = 0
        for kind in Timeline.Kind.allCases where !timeline.operations(kind).isEmpty {
            let group = group(kind, scale, top: top + Self.captionHeight)
            groups.append(
                Markup(.svgText, .fixed("x", "0"), .number("y", Double(top + 14))) {
                    group.caption
                })
            groups += group.shapes
            top += Self.captionHeight + group.height + Self.gap
        }
        let height = top + Self.axisHeight
        return Markup(.section) {
            Markup(.h2) { "Timeline" }
            Markup(
                .svg, .class("timeline"), .fixed("width", "100%"),
                .number("height", Double(height)),
                .fixed("role", "img"), .label(words)
            ) {
                timeline.pauses.map { pause($0, scale, height: top) }
                scale.marks.map { mark($0, height: top) }
                groups
            }
            legend
        }
    }

    // MARK: Groups

    private func group(_ kind: Timeline.Kind, _ scale: TimeScale, top: Int) -> Group {
        let operations = timeline.operations(kind)
        let name = caption(kind)
        guard operations.count <= Self.mostOperations,
            let lanes = Timeline.lanes(operations, most: Self.mostLanes)
        else { return chart(kind, operations, name, scale, top: top) }
        let lane = lanes.count <= 8 ? 14 : 8
        let shapes = lanes.enumerated().flatMap { index, operations in
            operations.map { bar($0, kind, scale, y: top + index * lane, height: lane - 2) }
        }
        let repeated = lanes.enumerated().flatMap { index, operations in
            operations.filter(\.isRepeated).map {
                dot(scale.place($0.begin), y: top + index * lane + lane / 2 - 1)
            }
        }
        return Group(caption: name, shapes: shapes + repeated, height: lanes.count * lane)
    }

    private func bar(
        _ operation: Timeline.Operation, _ kind: Timeline.Kind, _ scale: TimeScale, y: Int,
        height: Int
    ) -> Markup {
        let (from, to) = (scale.place(operation.begin), scale.place(operation.end))
        let length = UInt64(clamping: operation.end - operation.begin).saturatingMultiply(1000)
        let repeated = operation.isRepeated ? ", several attempts" : ""
        return Markup(
            .rect, Self.colour(kind, isFailed: operation.isFailed), .percent("x", from),
            .number("y", Double(y)), .percent("width", max(to - from, 0.001)),
            .number("height", Double(height))
        ) {
            Markup(.title) {
                "Image \(operation.image): \(Words.time(microseconds: length))"
                    + (operation.isFailed ? ", failed" : "") + repeated
            }
        }
    }

    /// The number of operations at once, for many operations.
    private func chart(
        _ kind: Timeline.Kind, _ operations: [Timeline.Operation], _ name: String,
        _ scale: TimeScale, top: Int
    ) -> Group {
        let count = Self.columns
        let load = Timeline.load(operations, in: scale, count: count)
        let highest = max(load.max() ?? 0, 1e-9)
        var shapes: [Markup] = load.enumerated().compactMap { index, value in
            let height = value / highest * Double(Self.chartHeight)
            guard height >= 0.05 else { return nil }
            return Markup(
                .rect, Self.colour(kind, isFailed: false),
                .percent("x", Double(index) / Double(count)),
                .number("y", Double(top + Self.chartHeight) - height),
                .percent("width", 1 / Double(count)), .number("height", height))
        }
        let repeated = operations.filter(\.isRepeated).map {
            min(Int(scale.place($0.begin) * Double(count)), count - 1)
        }
        for column in Set(repeated).sorted() {
            let place = (Double(column) + 0.5) / Double(count)
            shapes.append(dot(place, y: top + Self.chartHeight - 4))
        }
        return Group(
            caption: "\(name), at most \(Timeline.mostAtOnce(operations)) at once", shapes: shapes,
            height: Self.chartHeight)
    }

    /// Marks a retry.
    private func dot(_ place: Double, y: Int) -> Markup {
        Markup(
            .circle, .class("again"), .percent("cx", place), .number("cy", Double(y)),
            .fixed("r", "3"))
    }

    private func pause(_ pause: Timeline.Pause, _ scale: TimeScale, height: Int) -> Markup {
        let (from, to) = (scale.place(pause.begin), scale.place(pause.end))
        return Markup(
            .rect, .class("pause"), .percent("x", from), .fixed("y", "0"),
            .percent("width", max(to - from, 0.001)), .number("height", Double(height))
        ) {
            Markup(.title) { sentence(pause) }
        }
    }

    private func mark(_ mark: TimeScale.Mark, height: Int) -> Markup {
        Markup(.g) {
            Markup(
                .line, .class("mark"), .percent("x1", mark.place), .percent("x2", mark.place),
                .fixed("y1", "0"), .number("y2", Double(height + 4)))
            Markup(.svgText, .percent("x", mark.place), .number("y", Double(height + 18))) {
                mark.text
            }
        }
    }

    private static func colour(
        _ kind: Timeline.Kind, isFailed: Bool
    ) -> Markup.Attribute {
        if isFailed { return .class("bad") }
        return kind == .download ? .class("download") : .class("filter")
    }

    private func name(_ kind: Timeline.Kind) -> String {
        kind == .download
            ? Words.count(timeline.downloads.count, "download")
            : "filters of \(Words.count(timeline.filteredCount, "image"))"
    }

    /// Begins with a capital letter.
    private func caption(_ kind: Timeline.Kind) -> String {
        let name = name(kind)
        return name.prefix(1).uppercased() + name.dropFirst()
    }

    // MARK: Words

    private var hasRepeated: Bool {
        timeline.downloads.contains(where: \.isRepeated)
            || timeline.filters.contains(where: \.isRepeated)
    }

    private var legend: Markup {
        Markup(.div, .class("soft")) {
            if hasRepeated {
                Markup(.p) {
                    Markup(
                        .svg, .class("key"), .fixed("width", "8"), .fixed("height", "8"),
                        .hiddenFromReaders
                    ) {
                        Markup(
                            .circle, .class("again"), .fixed("cx", "4"), .fixed("cy", "4"),
                            .fixed("r", "3"))
                    }
                    " A dot marks an image with several attempts."
                }
            }
            if !timeline.pauses.isEmpty {
                Markup(.ul, .class("pauses")) {
                    timeline.pauses.prefix(Self.mostPauses).map { pause in
                        Markup(.li) { sentence(pause) }
                    }
                }
            }
        }
    }

    /// Pauses that are listed; all are shaded.
    private static let mostPauses = 10

    private func sentence(_ pause: Timeline.Pause) -> String {
        let length = Words.time(
            microseconds: UInt64(clamping: pause.end - pause.begin).saturatingMultiply(1000))
        let time = PageParts.clock(pause.begin, zone)
        return switch pause.reason {
        case .held: "Held for \(length), from \(time)"
        case .idle: "No work for \(length), from \(time)"
        }
    }

    /// What a screen reader says in place of the drawing.
    private var words: String {
        let length = Words.time(
            microseconds: UInt64(clamping: timeline.end - timeline.begin).saturatingMultiply(1000))
        let kinds = Timeline.Kind.allCases.filter { !timeline.operations($0).isEmpty }.map {
            "\(name($0)), at most "
                + "\(Timeline.mostAtOnce(timeline.operations($0))) at once"
        }
        let pauses = timeline.pauses.count
        return "\(length): " + kinds.joined(separator: "; ")
            + (pauses > 0 ? "; \(Words.count(pauses, "pause"))" : "")
    }
}
