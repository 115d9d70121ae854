import Foundation
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomPage

/// What a timeline says about the operations of a batch. Times are in milliseconds after an arbitrary moment.
struct TimelineTests {
    private static func drawing(_ timeline: Timeline) -> String {
        let html = HTMLWriter()
        TimelineDrawing(timeline: timeline, zone: .gmt, html: html).draw()
        return html.html
    }

    private static let start = 1_795_264_205_000

    private static func moment(_ time: Int) -> Moment { Moment(milliseconds: start + time) }

    private static func image(
        _ name: String, source: String? = nil, download: ClosedRange<Int>? = nil,
        filter: ClosedRange<Int>? = nil, state: ImageState = .filtered, attempts: Int = 1
    ) -> ImageStatus {
        var image = ImageStatus(name: name, source: source, state: state, attempts: 1)
        if download != nil { image.download = .init(attempts: attempts) }
        image.times = .init(
            downloading: download.map { moment($0.lowerBound) },
            downloaded: download.map { moment($0.upperBound) },
            filtering: filter.map { moment($0.lowerBound) })
        image.milliseconds.filtering = filter?.count.advanced(by: -1) ?? 0
        return image
    }

    private static func timeline(
        _ images: [ImageStatus], commands: [ControlRecord] = []
    ) -> Timeline {
        var timeline = Timeline()
        for (index, image) in images.enumerated() { timeline.add(image, number: index + 1) }
        timeline.close(commands: commands)
        return timeline
    }

    private static func command(_ command: ControlCommand, _ time: Int) -> ControlRecord {
        ControlRecord(command, time: moment(time).text, uid: 0)
    }

    @Test func isEmptyWithoutTimes() {
        var image = Self.image("a")
        image.times = nil
        let timeline = Self.timeline([image])
        #expect(timeline.isEmpty)
        #expect(Self.drawing(timeline) == "")
    }

    @Test func hasTheOperationsInTheirOrder() {
        let timeline = Self.timeline([
            Self.image("a", source: "u/a", download: 10...40, filter: 41...60),
            Self.image("b", source: "u/b", download: 0...20, filter: 20...30, attempts: 3),
            Self.image("c", source: "u/c", download: 5...90, state: .failed),
        ])
        #expect(timeline.begin == Self.start && timeline.end == Self.start + 90)
        #expect(timeline.downloads.map(\.image) == [2, 3, 1])
        #expect(timeline.downloads.map(\.isFailed) == [false, true, false])
        #expect(timeline.downloads.map(\.isRepeated) == [true, false, false])
        #expect(timeline.filters.map(\.image) == [2, 1])
        #expect(timeline.filters.map { $0.end - $0.begin } == [10, 19])
        #expect(Timeline.mostAtOnce(timeline.downloads) == 3)
        #expect(Timeline.mostAtOnce(timeline.filters) == 1)
        let lanes = Timeline.lanes(timeline.downloads, most: 3)
        #expect(lanes?.map { $0.map(\.image) } == [[2], [3], [1]])
        #expect(Timeline.lanes(timeline.downloads, most: 2) == nil)
        #expect(Timeline.lanes(timeline.filters, most: 1)?.count == 1)
    }

    /// Images of one source wait for one download, and variants are filtered together.
    @Test func sharedOperationsCountOnce() {
        let timeline = Self.timeline([
            Self.image("a-1", source: "u/a", download: 0...40, filter: 41...60),
            Self.image("b", source: "u/b", download: 0...40, filter: 41...60),
            Self.image("a-2", source: "u/a", download: 0...40, filter: 42...62),
            Self.image("c", filter: 41...50), Self.image("d", filter: 41...50),
        ])
        #expect(timeline.downloads.count == 2)
        // b has another source; c and d have none in common.
        #expect(timeline.filters.count == 4 && timeline.filteredCount == 5)
        let drawing = Self.drawing(timeline)
        #expect(drawing.contains(">2 downloads</text>"))
        #expect(drawing.contains(">Filters of 5 images</text>"))
        #expect(timeline.filters.first { $0.image == 1 }?.end == Self.start + 62)
    }

    @Test func findsHoldsAndTimesWithoutWork() {
        let images = [
            Self.image("a", filter: 0...1000), Self.image("b", filter: 3000...4000),
            Self.image("c", filter: 9000...10_000),
        ]
        let timeline = Self.timeline(
            images,
            commands: [
                Self.command(.hold, 1500), Self.command(.hold, 1600), Self.command(.release, 2500),
            ])
        let pauses = timeline.pauses.map {
            "\($0.begin - Self.start)-\($0.end - Self.start) \($0.reason)"
        }
        #expect(
            pauses == ["1000-1500 idle", "1500-2500 held", "2500-3000 idle", "4000-9000 idle"])
        // A hold that lasts is one until the end; a pause that is too short to be seen is none.
        let held = Self.timeline(
            [Self.image("a", filter: 0...1000), Self.image("b", filter: 1010...2000)],
            commands: [Self.command(.hold, 1500)])
        #expect(held.pauses.map(\.reason) == [.held])
        #expect(held.pauses[0].end == Self.start + 2000)
    }

    /// A night between two hours of work takes a small part of the drawing.
    @Test func aLongPauseIsDrawnShort() {
        let night = 12 * 3_600_000
        let timeline = Self.timeline([
            Self.image("a", filter: 0...60_000), Self.image("b", filter: night...(night + 60_000)),
        ])
        let scale = TimeScale(timeline)
        #expect(scale.parts.map(\.isShortened) == [false, true, false])
        #expect(scale.place(timeline.begin) == 0 && scale.place(timeline.end) == 1)
        #expect(abs(scale.place(Self.start + 60_000) - 0.463) < 0.001)
        #expect(abs(scale.place(Self.start + night) - 0.537) < 0.001)
        #expect(scale.marks.map(\.text) == ["0", "30 s", "1:00 min", "12:00:30 h"])
        #expect(scale.place(0) == 0 && scale.place(.max) == 1)
    }

    @Test(arguments: [
        (0, "0"), (250, "250 ms"), (12_000, "12 s"), (2500, "2.5 s"), (185_000, "3:05 min"),
        (43_390_000, "12:03:10 h"),
    ])
    func marksAreShort(milliseconds: Int, text: String) {
        #expect(TimeScale.text(milliseconds) == text)
    }

    /// The sum of the load is the time of the operations.
    @Test func loadIsTheTimeOfTheOperations() {
        let timeline = Self.timeline(
            (0..<100).map { Self.image("\($0)", filter: ($0 * 7)...($0 * 7 + $0 * 3)) })
        let scale = TimeScale(timeline)
        let load = Timeline.load(timeline.filters, in: scale, count: 13)
        let all = load.reduce(0, +) / 13 * Double(timeline.end - timeline.begin)
        let sum = timeline.filters.reduce(0) { $0 + $1.end - $1.begin }
        #expect(abs(all - Double(sum)) < 1e-6 * Double(sum))
        #expect((load.max() ?? 0) <= Double(Timeline.mostAtOnce(timeline.filters)))
    }

    /// However many images there are, the drawing has a bounded size.
    @Test func aLargeBatchHasASmallDrawing() {
        let few = Self.timeline(
            (0..<200).map { Self.image("\($0)", filter: ($0 * 9)...($0 * 9 + 12)) })
        let bars = Self.drawing(few)
        #expect(bars.matches(of: /class="filter"/).count == 200)
        let many = Self.timeline(
            (0..<100_000).map {
                Self.image(
                    "\($0)", source: "u/\($0)", download: ($0 * 9)...($0 * 9 + 50),
                    filter: ($0 * 9 + 50)...($0 * 9 + 80), attempts: $0 % 100 == 0 ? 2 : 1)
            })
        let html = Self.drawing(many)
        #expect(html.utf8.count < 100_000)
        #expect(html.contains("100000 downloads, at most 6 at once"))
        #expect(html.contains("class=\"again\""))
    }

    /// The times of a file may have any values.
    @Test func takesTimesOfAnyValue() {
        var image = Self.image("a", download: 0...10, filter: 10...20)
        image.times?.downloading = Moment("0001-01-01T00:00:00.000Z")
        image.times?.filtering = Moment("9999-12-31T23:59:59.999Z")
        image.milliseconds.filtering = .max
        var backwards = Self.image("b", download: 0...10)
        backwards.times?.downloaded = Self.moment(-5)
        let timeline = Self.timeline([image, backwards])
        #expect(timeline.end > timeline.begin)
        #expect(Self.drawing(timeline).contains("<svg"))
    }
}
