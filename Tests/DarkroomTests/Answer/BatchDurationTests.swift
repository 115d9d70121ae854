import DarkroomCore
import Testing

@testable import DarkroomAnswer

/// How long batches took.
struct BatchDurationTests {
    private static func time(_ seconds: Double) -> String {
        Moment(milliseconds: 1_800_000_000_000 + Int(seconds * 1000)).text
    }

    private static func times(_ seconds: Double, work: Int? = nil) -> Status.Times {
        Status.Times(
            received: time(0), started: time(min(1, seconds)), finished: time(seconds),
            workMilliseconds: work)
    }

    @Test(
        arguments: [
            (0.09, nil, "90 ms"), (0.09, 68, "90 ms"),
            // Less than a second, or than a tenth, is not worth a word.
            (1.5, 600, "1.5 s"), (100, 95_000, "1 min 40 s"),
            (11_100, 2500, "3 h 5 min (2.5 s in work)"), (20, 0, "20.0 s (0 ms in work)"),
            // The clock was set.
            (5, 90_000, "5.0 s"),
        ] as [(Double, Int?, String)]) func words(seconds: Double, work: Int?, words: String)
    {
        #expect(BatchDuration(Self.times(seconds, work: work), nil)?.words == words)
    }

    @Test func needsAnEnd() {
        #expect(BatchDuration(Status.Times(received: Self.time(0)), nil) == nil)
        // Rejected, or cancelled before its turn.
        let rejected = Status.Times(received: Self.time(0), finished: Self.time(3))
        #expect(BatchDuration(rejected, nil) == nil)
        let setBack = Status.Times(
            received: Self.time(9), started: Self.time(9), finished: Self.time(3))
        #expect(BatchDuration(setBack, nil) == nil)
    }

    @Test func beginsWhenItWasReopened() {
        let commands = [
            ControlRecord(.hold, time: Self.time(1), uid: 0),
            ControlRecord(.retry, time: Self.time(3000), uid: 0),
        ]
        #expect(
            BatchDuration(Self.times(3010, work: 9500), commands)
                == BatchDuration(Self.times(10, work: 9500), nil))
    }

    private static func image(
        download: (Double, Double)? = nil, filter: (Double, Int)? = nil
    ) -> ImageStatus {
        func moment(_ seconds: Double) -> Moment {
            Moment(milliseconds: 1_800_000_000_000 + Int(seconds * 1000))
        }
        var image = ImageStatus(name: "a", source: nil, state: .filtered)
        image.times = ImageStatus.Times(
            downloading: download.map { moment($0.0) }, downloaded: download.map { moment($0.1) },
            filtering: filter.map { moment($0.0) })
        image.milliseconds.filtering = filter?.1 ?? 0
        return image
    }

    /// Each second in which anything ran counts once, and no other.
    @Test func countsTheTimeInWork() {
        var status = Status(
            id: "a", manifest: .init(name: "a.json", file: nil, sha256: nil, bytes: 1),
            state: .completed, times: Self.times(50_000))
        status.images = [
            Self.image(download: (0, 2), filter: (3, 1000)),
            // In the middle of the first one, and beyond its end.
            Self.image(download: (1, 2.5)),
            // After a night.
            Self.image(filter: (40_000, 500)), Self.image(filter: (40_000.25, 500)),
            Self.image(),
        ]
        #expect(status.workMilliseconds == 2500 + 1000 + 750)
        status.commands = [ControlRecord(.retry, time: Self.time(20_000), uid: 0)]
        #expect(status.workMilliseconds == 750)
        status.times.workMilliseconds = status.workMilliseconds
        #expect(status.times.workMilliseconds == 750)
    }
}
