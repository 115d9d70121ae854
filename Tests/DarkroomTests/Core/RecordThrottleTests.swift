import Foundation
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomWork

/// Many records of one kind, and of one batch, at once.
struct RecordThrottleTests {
    private static let second: UInt64 = 1_000_000_000

    private func arrival(_ batch: String?, _ reason: String? = nil, images: Int = 0)
        -> RecordThrottle.Arrival
    {
        RecordThrottle.Arrival(batch: batch, reason: reason, images: images)
    }

    @Test func tellsTheFirstOneByOneAndCollectsTheRest() {
        var burst = RecordThrottle()
        let verdicts = (0..<300).map { burst.take(arrival("b\($0)"), at: 5) }
        #expect(verdicts.prefix(200).allSatisfy { $0 == .tell })
        #expect(verdicts[200] == .collectedFirst)
        #expect(verdicts[201...].allSatisfy { $0 == .collected })
        let rest = burst.takeRest()
        #expect(rest?.records == 100)
        #expect(rest?.batches == (200..<300).map { "b\($0)" })
        #expect(rest?.since == 5)
        let nothing = burst.takeRest()
        #expect(nothing == nil)
    }

    /// What comes steadily is never summed up.
    @Test func aSteadyStreamIsTold() {
        var burst = RecordThrottle()
        for index in 0..<5000 {
            let verdict = burst.take(arrival("b"), at: UInt64(index + 1) * Self.second / 10)
            #expect(verdict == .tell)
        }
    }

    @Test func whatComesLaterDoesNotOvertakeWhatWasCollected() {
        var burst = RecordThrottle()
        for index in 0...200 { _ = burst.take(arrival("b\(index)"), at: 1) }
        let late = burst.take(arrival("late"), at: 9 * Self.second)
        #expect(late == .collected)
        let rest = burst.takeRest()
        #expect(rest?.batches == ["b200", "late"])
        let later = burst.take(arrival("later"), at: 9 * Self.second)
        #expect(later == .tell)
    }

    @Test func oneRecordHoldsSoManyBatches() {
        var burst = RecordThrottle()
        for _ in 0..<200 { _ = burst.take(arrival("b"), at: 1) }
        let verdicts = (0..<RecordThrottle.batchesAtOnce).map {
            burst.take(arrival("b\($0)"), at: 1)
        }
        #expect(verdicts.last == .full)
        #expect(verdicts.dropLast().allSatisfy { $0 != .full })
    }

    @Test func countsReasonsAndEachBatchOnce() {
        var burst = RecordThrottle()
        for _ in 0..<200 { _ = burst.take(arrival(nil), at: 1) }
        // Two spellings of one letter are two batches.
        for (batch, reason) in [("a", "x"), ("a", "y"), ("é", "x"), ("e\u{301}", "x")] {
            _ = burst.take(arrival(batch, reason, images: 2), at: 1)
        }
        let rest = burst.takeRest()
        #expect(rest?.reasons == ["x": 3, "y": 1])
        #expect(
            rest?.batches.map { Array($0.utf8) } == ["a", "é", "e\u{301}"].map { Array($0.utf8) })
        #expect(rest?.images == 8)
    }

    // MARK: The journal

    /// Ten thousand manifests of one image, each with its three records and a failure.
    @Test func tenThousandManifestsAreFoundInAFewRecords() throws {
        let journal = RecordedJournal()
        let log = journal.log(from: .info)
        var status = Status.full
        let start = ContinuousClock.now
        for index in 0..<10_000 {
            status.id = "m\(index)"
            log.claimed(status)
            log.begun(.init(id: status.id, images: 1, isContinued: false, waited: 0))
            log.ended(batch: status.id, status.images[1], at: .filter)
            log.finished(status, microseconds: 1)
        }
        log.flush()
        // Each ten seconds some more are summed up.
        let most = 40 + 40 * Int((ContinuousClock.now - start) / .seconds(10))
        let kinds: [Event] = [.batchClaimed, .batchBegun, .imageFailed, .batchFinished]
        for event in kinds {
            let alone = journal.all(event)
            let summed = journal.all(.summedUp).filter { $0[.event] == event.name }
            // Some more than 200 where the test takes its time.
            #expect((200...1000).contains(alone.count), "\(event): \(alone.count)")
            #expect(summed.count <= most)
            let found = (alone + summed).flatMap { $0.fields["DARKROOM_BATCH"] ?? [] }
            #expect(Set(found).count == 10_000 && found.count == 10_000, "\(event)")
            let records = summed.compactMap { $0[.count].flatMap { Int($0) } }.reduce(0, +)
            #expect(records + alone.count == 10_000)
        }
        for record in journal.all(.summedUp) { try record.expectItsForm() }
        let failed = try #require(journal.all(.summedUp).first { $0[.event] == "imageFailed" })
        #expect(failed.level == .warning)
        let claimed = try #require(journal.all(.summedUp).first { $0[.event] == "batchClaimed" })
        #expect(claimed.level == .info)
        #expect(failed.message.contains("images failed (\(failed[.count] ?? "") png-crc)"))
        // Many images of few batches are not told at all beyond so many; see below.
        #expect(journal.records.count < 4 * 1040)
    }

    /// What is told of each alone is told of all together, at whatever level.
    @Test func aSummaryHasTheLevelOfItsKind() throws {
        let journal = RecordedJournal()
        let log = journal.log(from: .notice)
        for index in 0..<300 { log.obeyed(id: "m\(index)", ControlRecord(.hold, uid: 1)) }
        log.flush()
        let summary = try #require(journal.all(.summedUp).first)
        #expect(summary.level == .notice && summary[.event] == "batchHeld")
        #expect(summary.message.contains("combined into this one: manifests held"))
    }

    @Test func failuresOfOneBatchAreToldUpToANumber() throws {
        let journal = RecordedJournal()
        let log = journal.log()
        var status = Status.full
        status.images = (0..<1000).map {
            var image = status.images[1]
            image.name = "i\($0)"
            if $0 % 10 == 0 { image.error = Failure(code: "timeout", message: "m") }
            return image
        }
        status.counts.failed = 1000
        for image in status.images { log.ended(batch: status.id, image, at: .filter) }
        log.finished(status, microseconds: 61_000_000)
        #expect(journal.all(.imageFailed).count == ProgressThrottle.failures)
        let counted = try #require(journal.all(.failuresCounted).first)
        #expect(journal.all(.failuresCounted).count == 1)
        try counted.expectItsForm()
        let last = try #require(journal.records.last)
        #expect(last.message.contains("1000 failed (900 png-crc, 100 timeout), in 1 min 1 s"))
        // What was remembered of it is forgotten.
        #expect(log.withProgress { progress, _ in progress.count } == 0)
    }

    /// At most once a minute, and only where something has moved.
    @Test func tellsOfProgressNowAndThen() {
        let minute = ProgressThrottle.interval
        var progress = ProgressThrottle()
        progress.begun("a", at: 0)
        let asked: [(batch: String, ended: Int, at: UInt64, isTold: Bool)] = [
            ("a", 5, minute - 1, false), ("a", 5, minute, true), ("a", 6, minute + 1, false),
            ("a", 5, minute * 2, false), ("a", 7, minute * 2, true), ("b", 5, minute * 9, false),
        ]
        for (batch, ended, time, isTold) in asked {
            let told = progress.progressed(batch, ended: ended, at: time)
            #expect(told == isTold, "\(batch) \(ended) \(time)")
        }
        progress.ended("a")
        let afterwards = progress.progressed("a", ended: 9, at: minute * 9)
        #expect(!afterwards)
    }

    @Test func progressNamesWhatHasFailed() throws {
        let journal = RecordedJournal()
        let log = journal.log()
        var status = Status.full
        log.progressed(status)
        #expect(journal.records.isEmpty)
        log.withProgress { progress, _ in progress.begun(status.id, at: 0) }
        status.waiting = .init(code: "host-paused", message: "h:80 is paused", since: "s")
        log.progressed(status)
        let record = try #require(journal.records.first)
        try record.expectItsForm()
        #expect(
            record.message
                == "holiday: 2 of 2 images have ended, 1 of them failed (1 png-crc); waiting: h:80 is paused"
        )
    }

    // MARK: Words

    @Test(
        arguments: [
            (0, "0 ms"), (312_400, "312 ms"), (999_999, "999 ms"), (1_000_000, "1.0 s"),
            (4_249_999, "4.2 s"), (59_940_000, "59.9 s"), (59_960_000, "1 min 0 s"),
            (200_000_000, "3 min 20 s"), (7_500_000_000, "2 h 5 min"),
        ] as [(UInt64, String)])
    func timesAreReadable(microseconds: UInt64, text: String) {
        #expect(Words.time(microseconds: microseconds) == text)
    }

    @Test(arguments: [
        (["a": 1], "1 a"), (["a": 1, "b": 2, "c": 2], "2 b, 2 c, 1 a"),
        (["a": 6, "b": 5, "c": 4, "d": 3, "e": 2, "f": 1], "6 a, 5 b, 4 c, 3 d, 3 others"),
        (["a": 6, "b": 5, "c": 4, "d": 3, "e": 2], "6 a, 5 b, 4 c, 3 d, 2 e"),
    ])
    func reasonsComeByTheirNumber(counts: [String: Int], text: String) {
        #expect(Words.reasons(counts) == text)
    }
}
