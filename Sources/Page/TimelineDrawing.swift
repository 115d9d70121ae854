import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Foundation

/// Draws a timeline as SVG. Its places across are percentages, so that texts and marks keep their size in each window.
struct TimelineDrawing {
    let timeline: Timeline
    let zone: TimeZone
    let html: HTMLWriter

    /// More lanes, or more operations of one kind, are drawn as the number of operations at once.
    static let mostLanes = 24
    static let mostOperations = 600
    /// The columns of such a drawing. Each has one dot at most.
    private static let columns = 240

    private static let captionHeight = 20
    private static let chartHeight = 64
    private static let gap = 10
    private static let axisHeight = 22

    private struct Group {
        let kind: Timeline.Kind
        let caption: String
        /// Each operation as a bar; nil for the number of operations at once.
        let lanes: [[Timeline.Operation]]?
        let laneHeight: Int
        let height: Int
    }

    /// Writes the section with the drawing, unless there is nothing to draw.
    func draw() {
        guard !timeline.isEmpty else { return }
        let scale = TimeScale(timeline)
        let groups = Timeline.Kind.allCases.filter { !timeline.operations($0).isEmpty }.map(group)
        let height = groups.reduce(0) { $0 + Self.captionHeight + $1.height + Self.gap }
        html(.section) {
            html(.h2, text: "Timeline")
            html(
                .svg, .class("timeline"), .fixed("width", "100%"),
                .number("height", Double(height + Self.axisHeight)),
                .fixed("role", "img"), .label(words)
            ) {
                for pause in timeline.pauses { draw(pause, scale, height: height) }
                for mark in scale.marks { draw(mark, height: height) }
                var top = 0
                for group in groups {
                    html(
                        .svgText, .fixed("x", "0"), .number("y", Double(top + 14)),
                        text: group.caption)
                    draw(group, scale, top: top + Self.captionHeight)
                    top += Self.captionHeight + group.height + Self.gap
                }
            }
            legend()
        }
    }

    // MARK: Groups

    private func group(_ kind: Timeline.Kind) -> Group {
        let operations = timeline.operations(kind)
        let name = name(kind)
        let caption: String = name.prefix(1).uppercased() + name.dropFirst()
        guard operations.count <= Self.mostOperations,
            let lanes = Timeline.lanes(operations, most: Self.mostLanes)
        else {
            return Group(
                kind: kind,
                caption: "\(caption), at most \(Timeline.mostAtOnce(operations)) at once",
                lanes: nil, laneHeight: 0, height: Self.chartHeight)
        }
        let laneHeight = lanes.count <= 8 ? 14 : 8
        return Group(
            kind: kind, caption: caption, lanes: lanes, laneHeight: laneHeight,
            height: lanes.count * laneHeight)
    }

    private func draw(_ group: Group, _ scale: TimeScale, top: Int) {
        guard let lanes = group.lanes else { return drawChart(group.kind, scale, top: top) }
        let height = group.laneHeight
        for (index, operations) in lanes.enumerated() {
            for operation in operations {
                draw(operation, group.kind, scale, y: top + index * height, height: height - 2)
            }
        }
        for (index, operations) in lanes.enumerated() {
            for operation in operations where operation.isRepeated {
                drawDot(scale.place(operation.begin), y: top + index * height + height / 2 - 1)
            }
        }
    }

    private func draw(
        _ operation: Timeline.Operation, _ kind: Timeline.Kind, _ scale: TimeScale, y: Int,
        height: Int
    ) {
        let (from, to) = (scale.place(operation.begin), scale.place(operation.end))
        let length = Words.time(milliseconds: operation.end - operation.begin)
        let repeated = operation.isRepeated ? ", several attempts" : ""
        html(
            .rect, Self.colour(kind, isFailed: operation.isFailed), .percent("x", from),
            .number("y", Double(y)), .percent("width", max(to - from, 0.001)),
            .number("height", Double(height))
        ) {
            html(
                .title,
                text: "Image \(operation.image): \(length)"
                    + (operation.isFailed ? ", failed" : "") + repeated)
        }
    }

    /// The number of operations at once, for many operations.
    private func drawChart(_ kind: Timeline.Kind, _ scale: TimeScale, top: Int) {
        let operations = timeline.operations(kind)
        let count = Self.columns
        let load = Timeline.load(operations, in: scale, count: count)
        let highest = max(load.max() ?? 0, 1e-9)
        for (index, value) in load.enumerated() {
            let height = value / highest * Double(Self.chartHeight)
            guard height >= 0.05 else { continue }
            html(
                .rect, Self.colour(kind, isFailed: false),
                .percent("x", Double(index) / Double(count)),
                .number("y", Double(top + Self.chartHeight) - height),
                .percent("width", 1 / Double(count)), .number("height", height))
        }
        let repeated = operations.filter(\.isRepeated).map {
            min(Int(scale.place($0.begin) * Double(count)), count - 1)
        }
        for column in Set(repeated).sorted() {
            drawDot((Double(column) + 0.5) / Double(count), y: top + Self.chartHeight - 4)
        }
    }

    /// Marks a retry.
    private func drawDot(_ place: Double, y: Int) {
        html(
            .circle, .class("again"), .percent("cx", place), .number("cy", Double(y)),
            .fixed("r", "3"))
    }

    private func draw(_ pause: Timeline.Pause, _ scale: TimeScale, height: Int) {
        let (from, to) = (scale.place(pause.begin), scale.place(pause.end))
        html(
            .rect, .class("pause"), .percent("x", from), .fixed("y", "0"),
            .percent("width", max(to - from, 0.001)), .number("height", Double(height))
        ) {
            html(.title, text: sentence(pause))
        }
    }

    private func draw(_ mark: TimeScale.Mark, height: Int) {
        html(.g) {
            html(
                .line, .class("mark"), .percent("x1", mark.place), .percent("x2", mark.place),
                .fixed("y1", "0"), .number("y2", Double(height + 4)))
            html(
                .svgText, .percent("x", mark.place), .number("y", Double(height + 18)),
                text: mark.text)
        }
    }

    private static func colour(_ kind: Timeline.Kind, isFailed: Bool) -> HTMLWriter.Attribute {
        if isFailed { return .class("bad") }
        return kind == .download ? .class("download") : .class("filter")
    }

    private func name(_ kind: Timeline.Kind) -> String {
        kind == .download
            ? Words.count(timeline.downloads.count, "download")
            : "filters of \(Words.count(timeline.filteredCount, "image"))"
    }

    // MARK: Words

    private func legend() {
        html(.div, .class("soft")) {
            if [timeline.downloads, timeline.filters].contains(where: {
                $0.contains(where: \.isRepeated)
            }) {
                html(.p) {
                    html(
                        .svg, .class("key"), .fixed("width", "8"), .fixed("height", "8"),
                        .hiddenFromReaders
                    ) {
                        html(
                            .circle, .class("again"), .fixed("cx", "4"), .fixed("cy", "4"),
                            .fixed("r", "3"))
                    }
                    html.text(" A dot marks an image with several attempts.")
                }
            }
            let pauses = timeline.pauses.filter { $0.end - $0.begin >= Self.shortestListed }
            if !pauses.isEmpty {
                html(.ul, .class("pauses")) {
                    for pause in pauses.prefix(Self.mostPauses) { html(.li, text: sentence(pause)) }
                }
            }
        }
    }

    /// Pauses that are listed; all are shaded.
    private static let mostPauses = 10
    /// The sentences have times in seconds, so that of a shorter pause would tell nothing.
    private static let shortestListed = 1000

    private func sentence(_ pause: Timeline.Pause) -> String {
        let length = Words.time(milliseconds: pause.end - pause.begin)
        let time = HumanText.time(Moment(milliseconds: pause.begin).text, in: zone)
        return switch pause.reason {
        case .held: "Held for \(length), from \(time)"
        case .idle: "No work for \(length), from \(time)"
        }
    }

    /// What a screen reader says in place of the drawing.
    private var words: String {
        let length = Words.time(milliseconds: timeline.end - timeline.begin)
        let kinds = Timeline.Kind.allCases.filter { !timeline.operations($0).isEmpty }.map {
            "\(name($0)), at most "
                + "\(Timeline.mostAtOnce(timeline.operations($0))) at once"
        }
        let pauses = timeline.pauses.count
        return "\(length): " + kinds.joined(separator: "; ")
            + (pauses > 0 ? "; \(Words.count(pauses, "pause"))" : "")
    }
}
