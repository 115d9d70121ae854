import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomSpool
@testable import DarkroomWork

/// Several batches that share the waits for the disk, and of which one goes wrong: with one sync for all of them, and
/// with a sync for each file.
@Suite(.tags(.concurrency)) struct GroupCommitTests {
    private let scratch: ScratchDirectory
    private let examination = Examination(
        limits: ManifestLimits(), defaultFilters: [], settle: 0)

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func start(isTogether: Bool) throws -> CommitterFixture {
        CommitterFixture(
            try Spool(path: scratch.path, groupSync: isTogether ? GroupSync() : nil))
    }

    // MARK: Claims and receipts

    private typealias Text = (name: FileName, text: String)

    private func examine(_ texts: [Text], _ inbox: Directory) throws -> [Candidate] {
        try texts.map { name, text in
            try inbox.write(Array(text.utf8), to: name, durably: false)
            guard
                case .ready(let candidate) = examination.examine(name, in: inbox, isWhole: true)
            else { throw Unexpected() }
            return candidate
        }
    }

    private func take(
        _ candidates: [Candidate], _ inbox: Directory, _ spool: Spool
    ) -> [ClaimedManifest] {
        let outcome = Claim(
            spool: spool, inbox: inbox, examination: examination, durably: true
        ).take(candidates)
        #expect(outcome.failure == nil && outcome.refused.isEmpty)
        return outcome.claimed
    }

    private func claim(_ texts: [Text], _ spool: Spool) throws -> [ClaimedManifest] {
        let inbox = try spool.openInbox()
        return take(try examine(texts, inbox), inbox, spool)
    }

    private struct Unexpected: Error {}

    private func answer(
        _ claimed: [ClaimedManifest], _ fixture: CommitterFixture
    ) throws -> (outcome: Acceptance.Outcome, batches: [String]) {
        var batches: [String] = []
        let acceptance = Acceptance(
            spool: fixture.spool, inbox: try fixture.spool.openInbox(), examination: examination,
            storage: fixture.storage, log: .silent, durably: true, stop: CancellationFlag()
        ) { batches.append($0.id) }
        let outcome = acceptance.answer(claimed)
        return (outcome, batches)
    }

    private static let good = #"{"images": ["a.png"]}"#

    @Test(arguments: [true, false])
    func answersManyManifestsTogether(isTogether: Bool) throws {
        let fixture = try start(isTogether: isTogether)
        let spool = fixture.spool
        let claimed = try claim(
            [
                ("a.json", Self.good), ("bad.json", "{"), ("taken.json", Self.good),
                ("z.json", Self.good),
            ], spool)
        #expect(claimed.map(\.id) == ["a", "bad", "taken", "z"])
        try spool.outbox.makeDirectory("taken")
        let answer = try self.answer(claimed, fixture)
        #expect(answer.batches == ["a", "taken-2", "z"])
        #expect(answer.outcome.unanswered.isEmpty && answer.outcome.uncleared.isEmpty)
        for id in ["a", "taken-2", "z"] {
            let folders = BatchFolders(spool: spool, id: id)
            #expect(try Status(in: folders.outbox())?.state == .pending)
            #expect(try folders.outbox().read("manifest.json") == Array(Self.good.utf8))
            // Of so few images the status is as small.
            #expect(try !folders.outbox().exists(BatchFile.progress))
            #expect(try SubmittedFile(in: folders.active()) == nil)
        }
        let rejected = try Directory("bad", in: spool.outbox)
        #expect(try Status(in: rejected)?.state == .rejected)
        #expect(try rejected.read("manifest.json") == Array("{".utf8))
        let active = try spool.active.names().filter { !EndedFolders.isOne($0) }
        #expect(active.map(\.text).sorted() == ["a", "taken-2", "z"])
        #expect(try Directory("taken", in: spool.outbox).names().isEmpty)
    }

    @Test(arguments: [true, false])
    func aManifestThatWasRemovedDoesNotAffectTheOthers(isTogether: Bool) throws {
        let fixture = try start(isTogether: isTogether)
        let spool = fixture.spool
        let claimed = try claim(
            [("a.json", Self.good), ("b.json", Self.good), ("c.json", Self.good)], spool)
        try spool.active.removeTree("b")
        let answer = try self.answer(claimed, fixture)
        #expect(answer.batches == ["a", "c"])
        #expect(answer.outcome.unanswered.isEmpty)
        #expect(fixture.storage.mayWork)
        #expect(try spool.outbox.names().map(\.text).sorted() == ["a", "c"])
    }

    /// A receipt that cannot be built keeps the manifests behind it waiting, and none of those before it.
    @Test(arguments: [true, false])
    func aRefusalLeavesTheRestUnanswered(isTogether: Bool) throws {
        let fixture = try start(isTogether: isTogether)
        let spool = fixture.spool
        let claimed = try claim(
            [("a.json", Self.good), ("b.json", Self.good), ("c.json", Self.good)], spool)
        // Neither a receipt nor a folder that could be removed.
        let folder = try claimed[1].folders.active()
        try folder.write([], to: BatchFile.receipt, durably: false)
        let answer = try self.answer(claimed, fixture)
        #expect(answer.batches == ["a"])
        #expect(answer.outcome.unanswered.map(\.id) == ["b", "c"])
        #expect(try spool.outbox.names().map(\.text) == ["a"])
        try folder.remove(BatchFile.receipt)
        let again = try self.answer(answer.outcome.unanswered, fixture)
        #expect(again.batches == ["b", "c"])
        #expect(try spool.outbox.names().map(\.text).sorted() == ["a", "b", "c"])
    }

    /// A receipt that was built and not moved, because the disk has refused the next one, is built again.
    @Test(arguments: [true, false])
    func aReceiptThatWasNotMovedIsBuiltAgain(isTogether: Bool) throws {
        let fixture = try start(isTogether: isTogether)
        let spool = fixture.spool
        let claimed = try claim([("a.json", Self.good), ("bad.json", "{")], spool)
        for manifest in claimed {
            for _ in 0..<2 {
                try Receipt.build(
                    Receipt.status(of: manifest), manifest: manifest.reading.bytes, .exact,
                    in: manifest.folders, durably: true)
            }
        }
        let answer = try self.answer(claimed, fixture)
        #expect(answer.batches == ["a"])
        #expect(answer.outcome.unanswered.isEmpty && answer.outcome.uncleared.isEmpty)
        let rejected = try Directory("bad", in: spool.outbox)
        #expect(try rejected.read("manifest.json") == Array("{".utf8))
        #expect(try spool.active.names().filter { !EndedFolders.isOne($0) } == ["a"])
    }

    /// The manifest is not opened again if it is still the same, but its owner and its identity are those of the file
    /// that was taken; if it has changed since, it is read again.
    @Test func aClaimKnowsTheFileThatWasTaken() throws {
        let spool = try start(isTogether: true).spool
        let inbox = try spool.openInbox()
        let candidates = try examine(
            [("same.json", Self.good), ("other.json", Self.good)], inbox)
        let identities = try candidates.map { try inbox.droppedIdentity(of: $0.name) }
        let new = Array(#"{"images": ["a.png", "b.png"]}"#.utf8)
        try inbox.write(new, to: "other.json", replacing: true, durably: false)
        let claimed = take(candidates, inbox, spool)
        #expect(claimed.map(\.identity) == identities)
        #expect(claimed.allSatisfy { $0.uid == geteuid() })
        #expect(claimed.map(\.reading.byteCount) == [21, new.count])
        #expect(try claimed[1].folders.active().read("manifest.json") == new)
    }

    // MARK: Outputs and journals

    /// Makes batches with one finished output each.
    private func batches(_ count: Int, _ fixture: CommitterFixture) throws -> [BatchFolders] {
        try (0..<count).map { try fixture.batch("b\($0)", outputs: [0: UInt8($0)]) }
    }

    private func publish(
        _ batches: [BatchFolders], _ fixture: CommitterFixture
    ) -> [ImageStatus?] {
        // They arrive while the queue is busy, so they are one group.
        fixture.committer.queue.suspend()
        for folders in batches { fixture.commit(folders, 0, .finished("i")) }
        fixture.committer.queue.resume()
        fixture.drain()
        return batches.map { fixture.recorded($0)[0] }
    }

    @Test(arguments: [true, false])
    func publishesManyBatchesTogether(isTogether: Bool) throws {
        let fixture = try start(isTogether: isTogether)
        let spool = fixture.spool
        // More than share one sync.
        let batches = try batches(70, fixture)
        try spool.active.removeTree("b1")
        try batches[2].outbox().write([7], to: "i.png", durably: false)
        try batches[3].active().remove(BatchFile.output(0))
        let results = publish(batches, fixture)
        let codes = ["b1": "batch-removed", "b2": "file-exists", "b3": "file-missing"]
        for (number, folders) in batches.enumerated() {
            let result = try #require(results[number])
            #expect(result.error?.code == codes[folders.id])
            if codes[folders.id] == nil {
                #expect(result.state == .filtered)
                #expect(try folders.outbox().read("i.png") == [UInt8(number)])
            } else {
                #expect(result.state == .failed && result.output == nil)
                #expect(try folders.outbox().exists("i.png") == (number == 2))
            }
            if number == 1 { continue }
            #expect(
                try ItemJournal.read(in: folders.active()).last == .ended(index: 0, result))
        }
        #expect(try batches[2].outbox().read("i.png") == [7])
        #expect(fixture.storage.mayWork)
    }

    /// A journal that may not be on the disk vouches for nothing. fsync(2) refuses a fifo, as it would refuse a file of a
    /// broken disk.
    @Test func aJournalThatCannotBeSyncedFailsItsOwnImagesOnly() async throws {
        let fixture = try start(isTogether: false)
        let batches = try batches(3, fixture)
        let journal = "\(try batches[1].active().path)/journal"
        #expect(mkfifo(journal, 0o600) == 0)
        // Someone reads it, or the fifo would forget what is written.
        let reader = Descriptor(owning: open(journal, O_RDWR | O_CLOEXEC))
        let results = publish(batches, fixture)
        #expect(results.map { $0?.state } == [.filtered, .failed, .filtered])
        let result = try #require(results[1])
        #expect(result.error?.message.contains("active/b1/journal: cannot sync") == true)
        #expect(try result.output == nil && !batches[1].outbox().exists("i.png"))
        #expect(!fixture.storage.mayWork)
        // The line that said otherwise is followed by one that takes it back.
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(reader.number, &bytes, bytes.count)
        let line = try #require(bytes.prefix(max(count, 0)).split(separator: 10).last)
        let record = try JSONDecoder().decode(JournalRecord.self, from: Data(line))
        #expect(record == .ended(index: 0, result))

        fixture.storage.tryAgain()
        try await eventually("work to begin again") { fixture.storage.mayWork ? true : nil }
    }

    // MARK: Last statuses

    /// Batches of one image that wait for their last statuses, before the suspended queue of the committer.
    private func ending(_ ids: [String], isTogether: Bool) async throws -> SchedulerFixture {
        let fixture = try SchedulerFixture(
            window: 64, groupSync: isTogether ? GroupSync() : nil
        ) { $0.isDurable = true }
        let statuses = fixture.statusKeeper.queue
        statuses.suspend()
        for id in ids { try fixture.accept(id, images: 1) }
        try await fixture.wait(for: "the ends") {
            fixture.board { board in
                board.batches.values.count(where: \.isFinishing) == ids.count
            }
        }
        fixture.committer.drain()
        fixture.committer.queue.suspend()
        statuses.resume()
        statuses.sync {}
        return fixture
    }

    /// The batches end at the same moment, and one has lost its folder in the outbox, another one that in `active`.
    @Test(arguments: [true, false])
    func endsManyBatchesTogether(isTogether: Bool) async throws {
        let ids = (0..<40).map { "b\($0)" }
        let fixture = try await ending(ids, isTogether: isTogether)
        try fixture.spool.active.removeTree("b7")
        try fixture.spool.outbox.removeTree("b9")
        fixture.committer.queue.resume()
        try await fixture.finish()
        for id in ids { #expect(try fixture.status(id)?.state == .completed, "\(id)") }
        #expect(try fixture.spool.active.names().isEmpty)
        #expect(fixture.journal.all(.batchFinished).count == 40)
    }

    // MARK: Results and ends

    /// A pass has one part of each batch, and is full with 32 of them, or with ends of many images.
    @Test func aPassTakesPartsOfDifferentBatches() throws {
        let spool = try start(isTogether: true).spool
        func results(_ id: String) -> Committer.Part {
            .results(Committer.Results(folders: BatchFolders(spool: spool, id: id)))
        }
        func end(_ id: String, images: Int = 1) -> Committer.Part {
            let folders = BatchFolders(spool: spool, id: id)
            let source = EndedBatch(folders: folders, image: .finished("i"), images: images)
            return .end(Committer.End(key: 1, folders: folders, source: source))
        }
        var pass = Committer.Pass()
        func take(_ part: Committer.Part) -> Bool { pass.take(part, mayFinish: true) }
        #expect(take(results("a")) && !take(end("a")) && !take(results("a")))
        #expect(take(end("b", images: Committer.Pass.mostImages - 1)))
        #expect(take(end("c")) && !take(end("d")))
        #expect((0..<29).allSatisfy { take(results("r\($0)")) } && !take(results("r29")))
        #expect(pass.results.count == 30 && pass.ends.count == 2 && !pass.isUndecided)
        // A daemon that stops drops the end.
        pass = Committer.Pass()
        let isTaken = pass.take(end("b"), mayFinish: false)
        #expect(isTaken && pass.ends.isEmpty && pass.isUndecided)
    }

    /// Two batches end while images of two others do, and each goes its own way through the same passes.
    @Test(arguments: [true, false])
    func resultsAndEndsDoNotDisturbEachOther(isTogether: Bool) async throws {
        let fixture = try await ending(["e0", "e1"], isTogether: isTogether)
        for id in ["r0", "r1"] { try fixture.accept(id, images: 2) }
        try await fixture.wait(for: "the results") { fixture.committer.pendingCount == 4 }
        // The end of one finds no place, and the images of another one no folder.
        try fixture.spool.outbox.removeTree("e1")
        try fixture.spool.active.removeTree("r1")
        fixture.committer.queue.resume()
        try await fixture.finish()
        for id in ["e0", "e1", "r0"] {
            #expect(try fixture.status(id)?.state == .completed, "\(id)")
        }
        #expect(try fixture.status("r1")?.counts.failed == 2)
        #expect(try fixture.spool.active.names().isEmpty)
        #expect(fixture.journal.all(.batchFinished).count == 4)
    }

    /// The results of a batch come before its end, in whichever order they are kept.
    @Test func anEndWaitsBehindTheResultsOfItsBatch() throws {
        let fixture = try start(isTogether: true)
        let folders = try batches(1, fixture)[0]
        let source = EndedBatch(folders: folders, image: .finished("i"))
        fixture.committer.queue.suspend()
        fixture.committer.commit(Committer.End(key: 1, folders: folders, source: source))
        fixture.commit(folders, 0, .finished("i")) { _ in source.note("result") }
        fixture.committer.queue.resume()
        fixture.committer.drain()
        #expect(source.notes == ["result", "end"])
        #expect(try folders.outbox().read("i.png") == [0])
        #expect(try Status(in: folders.outbox())?.state == .completed)
        #expect(try !fixture.spool.active.exists(FileName(folders.id)))
    }

    /// A batch whose images have ended.
    private final class EndedBatch: StatusSource {
        private let folders: BatchFolders
        private let images: [ImageStatus]
        private let log = Mutex<[String]>([])

        init(folders: BatchFolders, image: ImageStatus, images: Int = 1) {
            self.folders = folders
            self.images = Array(repeating: image, count: images)
        }

        var notes: [String] { log.withLock { $0 } }
        func note(_ text: String) { log.withLock { $0.append(text) } }

        func snapshot(of key: BatchKey) -> StatusSnapshot? {
            var status = Status(
                id: folders.id,
                manifest: Status.ManifestReference(
                    name: "m.json", file: "manifest.json", sha256: "0", bytes: 1),
                state: .completed,
                times: Status.Times(received: "2026-01-01T00:00:00Z"),
                counts: Status.Counts(), images: images)
            status.counts.filtered = images.count
            return StatusSnapshot(folders: folders, status: status, startedAt: nil)
        }

        func progress(of key: BatchKey) -> ProgressSnapshot? { nil }
        func finished(_ key: BatchKey) { note("end") }
        func parked(_ key: BatchKey) {}
    }
}
