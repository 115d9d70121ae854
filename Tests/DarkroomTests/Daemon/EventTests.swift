import Foundation
import Logging
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomConfiguration
@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomFetch
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomPicture
@testable import DarkroomSpool
@testable import DarkroomWork

/// Every kind of record, held against the table of its form and against the catalog.
struct EventTests {
    private static let failure = Failure(code: "http-status", message: "m", isTransient: true)
    private static let fileError = FileError(.write, "x", .noSpace)

    private static func image(_ state: ImageState) -> ImageStatus {
        var image = Status.full.images[0]
        image.state = state
        if state != .filtered {
            image.output = nil
            image.error = failure
        }
        return image
    }

    private static func job() throws -> DownloadJob {
        DownloadJob(
            id: "holiday", slot: 0, source: "https://ann:pw@example.org/a.png?t=1", image: "a",
            attempt: 1, partial: nil)
    }

    private static func control() throws -> ControlRequest {
        ControlRequest(try #require(ControlFile("holiday.hold")), stat())
    }

    private static func batch() throws -> PreparedBatch {
        var status = Status.full
        status.images[1].state = .new
        var crashes = Crashes(of: .daemon)
        crashes.add(.watchdog, number: 1)
        return PreparedBatch(
            id: "holiday", manifest: Manifest(images: []), status: status, crashes: [1: crashes],
            suspects: [1])
    }

    private static func filterJob() throws -> FilterJob {
        FilterJob(
            id: "holiday", image: 0, name: "a", input: .source("b", slot: 0),
            steps: PictureSteps([]), overlays: [:], resultName: "a.png", isPublished: true,
            handsOver: false, isAgain: false, crashes: 0)
    }

    @Test(arguments: [
        ("SIGTERM", "systemd or a user asked for it (SIGTERM)"),
        ("SIGINT", "a user asked for it (SIGINT)"),
    ]) func tellsWhoStopsTheDaemon(signal: String, words: String) {
        let journal = RecordedJournal()
        journal.log().stopping(signal: signal, running: 1, batches: [])
        #expect(
            journal.records.map(\.message) == [
                "Stopping, because \(words): 1 operation finishing"
            ])
    }

    /// Says each kind of record once, as the daemon would.
    static let sayings: [(event: Event, say: @Sendable (EventLog) throws -> Void)] = [
        (.started, { $0.started(version: "1", spool: "/s", paused: true) }),
        (.stopping, { $0.stopping(signal: "SIGTERM", running: 1, batches: []) }),
        (.stopped, { $0.stopped(unfinished: 2) }),
        (.stopHurried, { $0.stopHurried(signal: "SIGTERM", running: 2) }),
        (.stopTimedOut, { $0.stopTimedOut(after: 60, running: 2) }),
        (.notStarted, { $0.notStarted("a\nb", code: "configuration") }),
        (.configured, { $0.configured("c") }),
        (.reloadRefused, { $0.reloadRefused("r") }),
        (.rootMissing, { $0.warned(.init(kind: .rootMissing, key: "k", path: "/r", words: "m")) }),
        (
            .headersExposed,
            { $0.warned(.init(kind: .headersExposed, key: "k", path: "/h", words: "m")) }
        ),
        (.paused, { $0.paused(batches: ["h", "i"]) }),
        (.resumed, { $0.resumed(batches: ["h"]) }),
        (.watching, { $0.watching("/s/inbox") }),
        (.polling, { $0.polling("/s/inbox", every: 2, because: fileError) }),
        (.inboxLost, { $0.inboxLost("/s/inbox") }),
        (.eventsLost, { $0.eventsLost("/s/inbox") }),
        (.notTaken, { $0.notTaken("n", because: "r") }),
        (.notTaken, { $0.notTaken(more: 3) }),
        (.notTaken, { $0.pictureNotTaken("/f/a", because: "r") }),
        (.folderLost, { $0.folderLost("/f", because: "r") }),
        (.picturesTaken, { $0.picturesTaken(2, from: "/f", as: "h") }),
        (.originalsKept, { $0.originalsKept(of: "h", in: "/f") }),
        (.originalsRefused, { $0.originalsRefused(fileError, batch: "h") }),
        (.batchClaimed, { $0.claimed(Status.full) }),
        (.batchRejected, { $0.rejected(Status.full) }),
        (.batchResumed, { $0.resumed(try batch()) }),
        (.batchBegun, { $0.begun(.init(id: "h", images: 2, isContinued: false, waited: 9)) }),
        (.batchFinished, { $0.finished(Status.full, microseconds: 1) }),
        (.batchRemoved, { $0.batchRemoved(Status.full) }),
        (.pageFailed, { $0.pageFailed(failure, batch: "h") }),
        (.manifestGivenBack, { $0.givenBack(id: "h", "n") }),
        (.batchCancelled, { $0.obeyed(id: "h", ControlRecord(.cancel, uid: 1)) }),
        (.batchHeld, { $0.obeyed(id: "h", ControlRecord(.hold, uid: 1)) }),
        (.batchReleased, { $0.obeyed(id: "h", ControlRecord(.release, uid: 1)) }),
        (.batchReopened, { $0.obeyed(id: "h", ControlRecord(.retry, uid: 1)) }),
        (.batchReopened, { $0.reopened(Status.full, uid: 1) }),
        (.answerRemoved, { $0.obeyed(id: "h", ControlRecord(.remove, uid: 1)) }),
        (.controlIdle, { $0.controlIdle(try control(), because: "r") }),
        (.controlRefused, { $0.controlRefused(try control(), owner: 2) }),
        (.imageDownloaded, { $0.downloaded(try job(), bytes: 1, microseconds: 2) }),
        (.imageDownloaded, { $0.copied(try job(), bytes: 1, microseconds: 2) }),
        (.imageFiltered, { $0.ended(batch: "h", image(.filtered), at: .filter) }),
        (.imageFailed, { $0.ended(batch: "h", image(.failed), at: .download) }),
        (.imageCancelled, { $0.ended(batch: "h", image(.cancelled), at: .filter) }),
        (.imageWaits, { $0.waitsForMemory(try filterJob(), bytes: 9) }),
        (.imageSuspected, { $0.suspected(try batch()) }),
        (
            .workStuck,
            {
                $0.stuck(
                    StillWork(
                        work: WatchedWork("w", batch: "h", image: "a"), patience: .steps, seconds: 9
                    ))
            }
        ),
        (
            .downloadRetried,
            {
                $0.retried(
                    Retry(
                        number: 1, delay: 1, attempts: 1, mostAttempts: 5, failure: failure,
                        batch: "h",
                        image: "a", source: "https://example.org/a.png"))
            }
        ),
        (
            .hostPaused,
            {
                $0.hostPaused(
                    "https://example.org/a", seconds: 2, because: failure, batches: ["h", "i"])
            }
        ),
        (.deliveryWaits, { $0.folderWaits("/d", "x cannot be placed", of: "images", failure) }),
        (
            .deliveryWorksAgain,
            { $0.folderWorksAgain("/d", "x can be placed", since: "s", failure) }
        ),
        (.storageFailed, { $0.storageFailed(fileError, batch: "h") }),
        (.storageWaits, { $0.storageWaits(failure, batch: nil) }),
        (.storageStillWaits, { $0.storageStillWaits(failure, since: "s") }),
        (.storageWorksAgain, { $0.storageWorksAgain(failure, since: "s") }),
        (.storageLost, { $0.storageLost(failure, batch: "h") }),
        (.spoolLost, { $0.spoolLost(fileError) }),
        (.entryExpired, { $0.expired(id: "h", finished: "f", bytes: 1) }),
        (.entriesExpired, { $0.expired(entries: 2, bytes: 1) }),
        (.entryKept, { $0.kept("h", because: "r") }),
        (.orphanFound, { $0.orphan("o", left: "r") }),
        (.orphanRemoved, { $0.orphan("o", removed: "r") }),
        (.orphanRemoved, { $0.leftoversRemoved(2) }),
        (.orphanRemoved, { $0.endedFoldersRemoved(2) }),
        (.orphanRemoved, { $0.stagedFoldersRemoved(2) }),
        (.uploadsStale, { $0.staleUploads(StaleUploads(), hours: 36) }),
        (.uploadsRemoved, { $0.uploadsRemoved(1, bytes: 2) }),
        (.clockDoubted, { $0.clockDoubted(.beforeProgram, program: 1_750_000_000) }),
        (.clockDoubted, { $0.clockDoubted(.ahead(1e300), program: 0) }),
        (.clockDoubted, { $0.clockDoubted(.longAfter(90_000), program: 0) }),
        (.clockDoubted, { $0.clockBelieved() }),
        (.metricsFailed, { $0.metricsFailed(fileError) }),
        (.reportFailed, { $0.reportFailed(fileError, of: "queue.json") }),
        (.cacheOpened, { $0.cacheOpened(.results, "/c", limit: 1) }),
        (.cacheUnused, { $0.cacheUnused(.responses, "/c", because: "r", isMissed: true) }),
        (.cacheUnused, { $0.cacheUnused(.responses, "/c", because: "r", isMissed: false) }),
        (.cacheDiscarded, { $0.cacheDiscarded(.results, "/c/f", because: "r") }),
        (.cacheTroubled, { $0.cacheTroubled(.responses, fileError) }),
        (.cacheTroubled, { $0.cacheHasNoRoom(.responses, "/c") }),
        (.cacheEvicted, { $0.cacheEvicted(.results, 1, bytes: 2) }),
        (.cacheDecided, { $0.cacheDecided(try job(), kept: true) }),
    ]

    /// Those that follow from others only; they have tests of their own.
    static let following: Set<Event> = [.summedUp, .said, .batchProgressed, .failuresCounted]

    @Test func saysEachKind() {
        let said = Set(Self.sayings.map(\.event))
        #expect(said.union(Self.following) == Set(Event.allCases))
        #expect(said.isDisjoint(with: Self.following))
    }

    @Test(arguments: Self.sayings.indices)
    func keepsToItsForm(index: Int) throws {
        let (event, say) = Self.sayings[index]
        let journal = RecordedJournal()
        try say(journal.log())
        let record = try #require(journal.records.first)
        #expect(journal.records.count == 1 && record.event == event)
        try record.expectItsForm()
    }

    @Test func idsAreAlike() {
        for event in Event.allCases {
            #expect(event.rawValue.count == 32)
            #expect(event.rawValue.allSatisfy { "0123456789abcdef".contains($0) })
        }
    }

    /// What someone has to act on is where a filter by level finds it.
    @Test(arguments: [
        (Event.storageLost, Logger.Level.critical), (.storageWaits, .critical),
        (.spoolLost, .critical), (.reloadRefused, .error), (.notStarted, .error),
        (.storageFailed, .error), (.imageFailed, .warning), (.batchRejected, .warning),
        (.controlRefused, .warning), (.imageFiltered, .debug), (.imageDownloaded, .debug),
        (.batchFinished, .notice), (.batchClaimed, .info), (.started, .notice),
    ])
    func hasItsLevel(event: Event, level: Logger.Level) {
        #expect(event.form.level == level)
    }

    @Test func aFinishedManifestWithFailuresIsAWarning() {
        let journal = RecordedJournal()
        var status = Status.full
        journal.log().finished(status, microseconds: 1)
        status.counts[.failed] = 0
        journal.log().finished(status, microseconds: 1)
        #expect(journal.records.map(\.level) == [.warning, .notice])
    }

    /// A restart, a hold or another attempt has no clock of its own, so that the times of the status count.
    @Test(
        arguments: [
            (false, nil, 9_000_000...60_000_000), (true, nil, 90_500_000...90_500_000),
            (true, "2026-11-21T08:01:00.000Z", 30_500_000...30_500_000),
        ] as [(Bool, String?, ClosedRange<UInt64>)])
    func aBatchsTimeIsThatSinceItsBeginning(
        isContinued: Bool, again: String?, range: ClosedRange<UInt64>
    ) throws {
        var status = Status.full
        status.times = .init(
            received: "2026-11-21T07:59:00.000Z", started: "2026-11-21T08:00:00.000Z",
            finished: "2026-11-21T08:01:30.500Z")
        status.commands = again.map { [ControlRecord(.retry, time: $0, uid: 1)] }
        let scratch = try ScratchDirectory()
        let snapshot = StatusSnapshot(
            folders: BatchFolders(spool: try Spool(path: scratch.path), id: "holiday"),
            status: status, startedAt: Clock.nanoseconds - 9_000_000_000, isContinued: isContinued)
        #expect(range.contains(snapshot.microseconds), "\(snapshot.microseconds)")
    }

    @Test func theEndTellsOfALongWait() throws {
        let journal = RecordedJournal()
        var status = Status.full
        status.retries = nil
        status.times.received = "2026-11-21T07:59:00.000Z"
        status.times.finished = "2026-11-21T08:01:30.500Z"
        journal.log().finished(status, microseconds: 500_000)
        let message = try #require(journal.records.first).message
        #expect(
            message.hasSuffix("1 failed (1 png-crc), in 500 ms, 2 min 31 s after it was claimed"))
    }

    @Test func aClaimTellsOfTheDrop() throws {
        let journal = RecordedJournal()
        var status = Status.full
        status.times.received = "2026-11-21T08:00:00.000Z"
        let dropped = try #require(Clock.date("2026-11-21T07:59:57.500Z")).timeIntervalSince1970
        journal.log().claimed(status, dropped: dropped)
        let record = try #require(journal.records.first)
        #expect(
            record.message
                == "holiday.json claimed as holiday: 2 images, 9 bytes, submitted by user 1000, last changed 2.5 s before, "
                + "priority high")
        #expect(record[.microseconds] == "2500000")
        // A clock that was set back.
        journal.log().claimed(status, dropped: dropped + 3600)
        #expect(journal.records.last?[.microseconds] == nil)
    }

    /// What another reading of a source would take for a password is no host.
    @Test(arguments: [
        ("https://ann:pw@example.org/a.png", "example.org:443"),
        ("http://ann:p/w@example.org/b.png", nil),
        ("photos/night.png", nil), ("HTTP://Example.org:8080/", "example.org:8080"),
    ])
    func aHostIsNoSecret(source: ByteString, host: String?) {
        let journal = RecordedJournal()
        journal.log().retried(
            Retry(
                number: 1, delay: 1, attempts: 1, mostAttempts: 5, failure: Self.failure,
                batch: "h",
                image: "a", source: source))
        #expect(journal.records.first?[.host] == host)
    }

    // MARK: The handler

    @Test func aLibrarysRecordHasAKindToo() {
        let fields = JournalLogHandler.fields(of: ["whatever": "1", "MESSAGE_ID": "none"])
        #expect(fields == ["MESSAGE_ID=\(Event.said.rawValue)"])
    }

    @Test func aFieldMayHaveSeveralValues() throws {
        let journal = RecordedJournal()
        try #require(Self.sayings.first { $0.event == .hostPaused }).say(journal.log())
        #expect(journal.records.first?.fields["DARKROOM_BATCH"] == ["h", "i"])
    }

    @Test func saysNothingBelowItsLevel() throws {
        let journal = RecordedJournal()
        for (_, say) in Self.sayings { try say(journal.log(from: .notice)) }
        #expect(journal.records.allSatisfy { $0.level >= .notice })
        #expect(journal.records.contains { $0.level == .notice })
    }
}
