import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomSpool

/// The table of states in `Spool`, row by row: what a start finds, and what it does about it.
@Suite(.tags(.concurrency)) final class RecoveryTests: SpoolSuite {
    static let text = #"{"images": [{"name": "a", "source": "a"}, {"name": "b", "source": "b"}]}"#

    /// As `Claim` leaves it before the manifest has its answer.
    ///
    /// - Parameter hasFolder: whether it has a folder of its own, as those of earlier versions and long names have.
    /// - Returns: its place in `active/x`.
    private func submit(
        _ name: FileName, hasFolder: Bool = false, copy: String? = nil
    ) throws -> FileName {
        try spool.active.makeDirectory("x", mode: 0o700)
        let active = try folders.active()
        let place = SubmittedFile.place(of: name, isFolder: hasFolder)
        if hasFolder { try active.makeDirectory(SubmittedFile.folderName, mode: 0o700) }
        try active.write(Array(Self.text.utf8), to: place, durably: false)
        if let copy { try active.write(Array(copy.utf8), to: "manifest.json", durably: false) }
        return place
    }

    /// As `Claim` leaves it afterwards.
    private func leaveClaim(_ text: String = text) throws {
        try spool.active.makeDirectory("x", mode: 0o700)
        try folders.active().write(Array(text.utf8), to: "manifest.json", durably: false)
    }

    /// A batch that has its receipt, and then these records in its journal.
    @discardableResult
    private func begin(_ records: JournalRecord...) throws -> PreparedBatch {
        try leaveClaim()
        let prepared = try resume()
        if !records.isEmpty { try journal(records) }
        return prepared
    }

    private func claimed(as name: String, _ reading: ManifestReading) -> ClaimedManifest {
        ClaimedManifest(
            folders: folders, name: name, format: .json, received: Clock.timestamp,
            reading: reading)
    }

    private func journal(_ records: [JournalRecord]) throws {
        try ItemJournal.append(records, in: folders.active(), durably: true)
    }

    private func recovery(
        bytes: Int = .max, stop: CancellationFlag = CancellationFlag()
    ) -> Recovery {
        var examination = Examination(
            limits: ManifestLimits(bytes: bytes), defaultFilters: [], settle: 0)
        examination.stop = stop
        return recovery(by: examination)
    }

    /// An update between two starts; the first of them may be that of a version that did not write versions.
    @Test func versionsOfEarlierProcessesAreKept() throws {
        var old = PictureVersions.present
        old.darkroom = "0.0.1"
        try leaveClaim()
        #expect(try resume().status.versions == [.present])
        for (earlier, expected) in [(nil, [.present]), ([old], [old, .present])]
            as [([PictureVersions]?, [PictureVersions])]
        {
            var status = try #require(try status())
            status.versions = earlier
            try folders.writeStatus(status, durably: false)
            #expect(try resume().status.versions == expected)
        }
    }

    private func status() throws -> Status? {
        Status(decoding: try folders.outbox().read("status.json"))
    }

    // MARK: Progress

    /// Whatever the last daemon has left, an unfinished batch has the progress that its journal proves.
    @Test(arguments: ["", "{", "missing", "old"]) func writesTheProgressAnew(left: String) throws {
        let first = try begin(
            .ended(index: 0, .filtered("a")), .commanded(ControlRecord(.hold, uid: 1)))
        let outbox = try folders.outbox()
        switch left {
        case "missing": break
        case "old": folders.writeProgress(BatchProgress(of: first.status))
        default: try outbox.write(Array(left.utf8), to: BatchFile.progress, durably: false)
        }
        let prepared = try resume()
        let progress = try #require(folders.progress())
        #expect(progress.saysTheSame(as: BatchProgress(of: prepared.status)))
        #expect(progress.state == .held && progress.outputBytes == 1)
        #expect(progress.counts.filtered == 1 && progress.commands?.count == 1)
        // What is right is not written again.
        let identity = try outbox.information(of: BatchFile.progress).map { FileIdentity($0) }
        _ = try resume()
        #expect(
            try outbox.information(of: BatchFile.progress).map { FileIdentity($0) } == identity)
    }

    /// A kill between the last status and the last progress.
    @Test func endsTheProgressOfAnEndedBatch() throws {
        var last = try begin().status
        #expect(folders.progress() == nil)
        last.images[0] = .filtered("a")
        last.images[1].state = .cancelled
        last.counts = Status.Counts(of: last.images)
        last.state = .cancelled
        last.times.finished = Clock.timestamp
        try folders.writeStatus(last, durably: false)
        guard case .finished = try recovery.recover("x") else { throw Unexpected() }
        let progress = try #require(folders.progress())
        #expect(progress.saysTheSame(as: BatchProgress(of: last)) && progress.outputBytes == 1)
        #expect(try spool.active.names().isEmpty)
    }

    @Test func clearsAProgressThatWasNotMoved() throws {
        try begin()
        try folders.active().write([1], to: BatchFile.newProgress, durably: false)
        _ = try resume()
        #expect(try !folders.active().exists(BatchFile.newProgress))
    }

    /// After a crash of the machine a status may be newer than what is beside it.
    @Test func removesAProgressThatIsOlderThanItsStatus() throws {
        let ids = ["right", "old", "empty", "missing", "unfinished"]
        for id in ids {
            try spool.outbox.makeDirectory(FileName(id))
            let folder = try Directory(FileName(id), in: spool.outbox)
            for (file, second) in [("status.json", 2), ("progress.json", id == "right" ? 3 : 1)] {
                if id == "missing", file == "progress.json" { continue }
                try folder.write(
                    id == "empty" ? [] : [1], to: FileName(file), durably: false)
                setTimes(of: folder.path(of: FileName(file)), to: second)
            }
        }
        try spool.active.makeDirectory("unfinished")
        #expect(try OutdatedProgress.remove(from: spool) { false } == 2)
        let left = try ids.filter {
            try Directory(FileName($0), in: spool.outbox).exists(BatchFile.progress)
        }
        #expect(left == ["right", "unfinished"])
        #expect(try OutdatedProgress.remove(from: spool) { true } == 0)
    }

    // MARK: States

    @Test func clearsAClaimThatHadNotGotItsManifest() throws {
        try spool.active.makeDirectory("x", mode: 0o700)
        guard case .empty = try recovery.recover("x") else { throw Unexpected() }
        #expect(try !spool.active.exists("x"))
        #expect(try !spool.outbox.exists("x"))
    }

    @Test func writesTheReceiptOfAClaimedManifest() throws {
        let prepared = try begin()
        #expect(prepared.status.counts.new == 2)
        #expect(try status()?.state == .pending)
        #expect(try folders.outbox().read("manifest.json") == Array(Self.text.utf8))
    }

    /// Its ID may be another than its name says, and the copy may be half written.
    @Test(arguments: [nil, #"{"images": [{"na"#], [false, true])
    func goesOnWithWhatWasSubmitted(copy: String?, hasFolder: Bool) throws {
        let place = try submit("dup1.json", hasFolder: hasFolder, copy: copy)
        let path = spool.active.path + "/x/\(place.text)"
        if geteuid() == 0 { #expect(chown(path, 1234, 1234) == 0) }
        let prepared = try resume()
        #expect(prepared.status.id == "x")
        #expect(prepared.status.manifest.name == "dup1.json")
        #expect(prepared.status.manifest.uid == (geteuid() == 0 ? 1234 : geteuid()))
        #expect(try folders.outbox().read("manifest.json") == Array(Self.text.utf8))
        let active = try folders.active()
        #expect(try active.read("manifest.json") == Array(Self.text.utf8))
        #expect(try !active.names().contains(where: SubmittedFile.isPlace))
        #expect(try active.information(of: "manifest.json")?.st_uid == geteuid())
    }

    /// It has its answer, and counts no more.
    @Test(arguments: [false, true])
    func removesWhatWasSubmittedBehindTheReceipt(hasFolder: Bool) throws {
        let place = try submit("dup1.json", hasFolder: hasFolder, copy: Self.text)
        var status = try resume().status
        #expect(status.manifest.name == "dup1.json")
        let active = try folders.active()
        if hasFolder { try active.makeDirectory(SubmittedFile.folderName) }
        try active.write([1], to: place, durably: false)
        status = try resume().status
        #expect(status.counts.new == 2)
        #expect(try !active.names().contains(where: SubmittedFile.isPlace))
    }

    /// Another file has taken the name meanwhile, or not.
    @Test(arguments: things.indices, [false, true])
    func putsBackWhatIsNoFile(thing: Int, isNameTaken: Bool) throws {
        // Each in both places, but not in all combinations.
        let place = try submit("y.json", hasFolder: (thing % 2 == 0) == isNameTaken)
        try folders.active().remove(place)
        let path = spool.active.path + "/x/\(place.text)"
        #expect(Self.things[thing].1(path) == 0, "\(Self.things[thing].0)")
        let inbox = try spool.openInbox()
        if isNameTaken { try inbox.write([1], to: "y.json", durably: false) }
        guard case .putBack(let name) = try recovery.recover("x") else { throw Unexpected() }
        #expect((name == "y.json") == !isNameTaken)
        #expect(!isNameTaken || Examination.reasonToIgnore(name) == .notYet(.backup))
        #expect(try inbox.names().count == (isNameTaken ? 2 : 1))
        #expect(try inbox.information(of: name)?.isRegularFile == false)
        #expect(try spool.active.names().isEmpty && spool.outbox.names().isEmpty)
    }

    /// Its submitter has exchanged the file for a folder with a manifest just before it was moved.
    @Test func putsBackAFolderInTheFilesPlace() throws {
        let place = try submit("y.json")
        let active = try folders.active()
        try active.remove(place)
        try active.makeDirectory(place)
        let folder = try Directory(place, in: active)
        try folder.write(Array(Self.text.utf8), to: "manifest.json", durably: false)
        try folder.write([1], to: "a", durably: false)
        guard case .putBack("y.json") = try recovery.recover("x") else { throw Unexpected() }
        let back = try Directory("y.json", in: spool.openInbox())
        #expect(try entries(of: back) == ["a", "manifest.json"])
        #expect(try spool.active.names().isEmpty && spool.outbox.names().isEmpty)
    }

    /// A crash before the answer, and one between that and the file's return.
    @Test(arguments: [false, true], [false, true])
    func givesBackWhatIsTooLarge(isAnswered: Bool, hasFolder: Bool) throws {
        let small = recovery(bytes: 10)
        let place = try submit("y.json", hasFolder: hasFolder)
        if isAnswered {
            let reading = try small.examination.read(
                OpenManifest(place, .json, in: folders.active()))
            _ = try Receipt.issue(for: claimed(as: "y.json", reading), durably: true)
        }
        switch try small.recover("x") {
        case .finished(let name) where isAnswered: #expect(name == "y.json")
        case .rejected(_, let name) where !isAnswered: #expect(name == "y.json")
        default: throw Unexpected()
        }
        #expect(try spool.tmp.read("y.json") == Array(Self.text.utf8))
        #expect(try entries(of: folders.outbox()) == ["progress.json", "status.json"])
        #expect(try status()?.errors?.map(\.code) == ["too-large"])
        #expect(try spool.active.names().isEmpty)
    }

    /// It was accepted, and a limit that is lowered since does not take that back.
    @Test func anAcceptedManifestStaysSo() throws {
        try begin()
        let small = recovery(bytes: 10)
        guard case .unfinished(let prepared) = try small.recover("x") else { throw Unexpected() }
        #expect(prepared.status.counts.new == 2)
    }

    @Test func isInterruptedByAStop() throws {
        _ = try submit("y.json")
        let stop = CancellationFlag()
        stop.set()
        let error = #expect(throws: FileError.self) { try recovery(stop: stop).recover("x") }
        #expect(error?.errno == .canceled)
        #expect(try resume().status.manifest.name == "y.json")
    }

    @Test func writesTheReceiptAgainThatWasHalfBuilt() throws {
        try leaveClaim()
        try folders.active().makeDirectory("receipt")
        _ = try resume()
        #expect(try status()?.state == .pending)
        #expect(try !folders.active().exists("receipt"))
    }

    @Test func answersAClaimedManifestThatIsNotAcceptable() throws {
        try leaveClaim(#"{"imagse": []}"#)
        guard case .rejected = try recovery.recover("x") else { throw Unexpected() }
        #expect(try status()?.state == .rejected)
        #expect(try !spool.active.exists("x"))
        #expect(try folders.outbox().exists("manifest.json"))
    }

    /// A rejected manifest goes into the receipt before that goes into the outbox; here is a crash between.
    @Test(arguments: [(#"{"imagse": []}"#, BatchState.rejected), (RecoveryTests.text, .pending)])
    func takesTheManifestBackFromAReceiptThatWasNotSent(text: String, state: BatchState) throws {
        try leaveClaim()
        let active = try folders.active()
        try active.remove("manifest.json")
        try active.makeDirectory("receipt")
        let receipt = try Directory("receipt", in: active)
        try receipt.write([], to: "status.json", durably: false)
        try receipt.write(Array(text.utf8), to: "manifest.json", durably: false)
        _ = try recovery.recover("x")
        #expect(try status()?.state == state)
        #expect(try folders.outbox().read("manifest.json") == Array(text.utf8))
        #expect(try spool.active.exists("x") == !state.isFinal)
    }

    private static let secrets = [
        #"{"images": [{"name": "a", "source": "https://ann:a@h/a.png?token=1"}]}"#,
        #"{"imagse": [{"name": "a", "source": "https://ann:pw@h/a.png?token=1"}]}"#,
    ]

    /// The group reads answers, but only the daemon reads a copy with a password that cannot be replaced.
    @Test(arguments: secrets + [RecoveryTests.text, #"{"imagse": []}"#])
    func onlyTheDaemonReadsAManifestWithSecrets(text: String) throws {
        try leaveClaim(text)
        _ = try recovery.recover("x")
        let outbox = try folders.outbox()
        let information = try #require(try outbox.information(of: "manifest.json"))
        #expect((information.st_mode & 0o077 == 0) == Self.secrets.contains(text))
        #expect(information.st_mode & 0o600 == 0o600)
        #expect(try outbox.read("manifest.json") == Array(text.utf8))
        #expect(try #require(try outbox.information(of: "status.json")).st_mode & 0o044 != 0)
    }

    @Test func aRejectionHasItsManifestFromTheFirstMoment() throws {
        let text = Array(#"{"imagse": []}"#.utf8)
        try leaveClaim(#"{"imagse": []}"#)
        let reading = try recovery.examination.read(
            OpenManifest("manifest.json", .json, in: folders.active()))
        let claimed = claimed(as: "x.json", reading)
        // Whoever issues it again, because the disk was full, does so from what is there.
        for _ in 0..<2 {
            try Receipt.issue(
                Receipt.status(of: claimed), manifest: text, .exact, in: folders, durably: true)
            #expect(try folders.outbox().read("manifest.json") == text)
            #expect(try status()?.state == .rejected)
            try spool.outbox.rename("x", to: folders.active(), as: "receipt")
        }
    }

    @Test func doesOnlyWhatTheJournalLacks() throws {
        try begin(.ended(index: 0, .filtered("a")))
        let active = try folders.active()
        try active.write([1], to: BatchFile.output(0), durably: false)
        try active.write([2], to: BatchFile.output(1), durably: false)
        try active.write([3], to: BatchFile.source(1), durably: false)
        let prepared = try resume()
        #expect(prepared.status.counts.filtered == 1)
        #expect(prepared.status.counts.new == 1)
        #expect(prepared.status.images[0] == .filtered("a"))
        // The decided rename was finished, the undecided work cleared away.
        #expect(try folders.outbox().read("a.png") == [1])
        #expect(Set(try active.names().map(\.text)) == ["manifest.json", "journal"])
    }

    /// The journal's record of an image vouches for the pixels that it has handed over.
    @Test func keepsThePixelsOfImagesThatAreFiltered() throws {
        try begin(.ended(index: 0, .filtered("a")))
        let active = try folders.active()
        // Those of image 1 are of work that was not recorded; there is no image 2; the rest was being written.
        let scrap: [FileName] = [
            BatchFile.pixels(1), BatchFile.pixels(2), BatchFile.newPixels(0),
            BatchFile.outputAgain(0), "pixels-00", "pixels-", "pixels-x",
        ]
        for name in [BatchFile.pixels(0)] + scrap {
            try active.write([1], to: name, durably: false)
        }
        #expect(try resume().handOvers == [0])
        let left = try active.names().map(\.text)
        #expect(Set(left) == ["manifest.json", "journal", "pixels-0"])
        // And another time, for a batch that waits is read more than once.
        #expect(try resume().handOvers == [0])
        try active.remove(BatchFile.pixels(0))
        #expect(try resume().handOvers == [])
    }

    @Test func takesAnOutputThatIsNotThereForOneThatSomeoneFetched() throws {
        try begin(.ended(index: 0, .filtered("a")))
        let prepared = try resume()
        #expect(prepared.status.counts.filtered == 1)
        #expect(try !folders.outbox().exists("a.png"))
    }

    /// As after an outbox that was exchanged for another folder. The next start, which finds the new answer, agrees.
    @Test func repeatsImagesWhoseOutputsWentAwayWithTheAnswer() throws {
        try begin(.ended(index: 0, .filtered("a")), .ended(index: 1, .filtered("b")))
        let active = try folders.active()
        try active.write([2], to: BatchFile.output(1), durably: false)
        try spool.outbox.rename("x", to: spool.root, as: "away")
        for _ in 1...2 {
            let status = try resume().status
            #expect(status.images[0].state == .new && status.images[0].output == nil)
            #expect(status.images[1] == .filtered("b"))
            #expect(status.counts.filtered == 1 && status.counts.new == 1)
            #expect(try folders.outbox().read("b.png") == [2])
        }
        try journal([.ended(index: 0, .filtered("a"))])
        #expect(try resume().status.counts.filtered == 2)
    }

    /// Only the status is gone, so the outputs are still those of the journal.
    @Test func keepsImagesWhoseOutputsAreThereWithoutAStatus() throws {
        try begin(.ended(index: 0, .filtered("a")))
        try folders.outbox().write([1], to: "a.png", durably: false)
        try folders.outbox().remove("status.json")
        let status = try resume().status
        #expect(status.images[0] == .filtered("a") && status.counts.filtered == 1)
    }

    @Test func remembersACancellation() throws {
        try begin(.cancelled)
        #expect(try resume().control == .cancelled)
    }

    typealias Commands = (given: [ControlCommand], control: ControlState)

    static let commands: [Commands] = [
        ([.hold], .held), ([.hold, .release], .free), ([.cancel], .cancelled),
        ([.hold, .cancel], .cancelled), ([.cancel, .hold], .cancelled),
        ([.cancel, .release], .cancelled), ([.hold, .release, .hold], .held),
        ([.retry], .free), ([.hold, .retry], .held),
    ]

    @Test(arguments: commands) func remembersCommands(commands: Commands) throws {
        try begin()
        let records = commands.given.map { ControlRecord($0, time: "t", uid: 7) }
        try journal(records.map { .commanded($0) })
        for _ in 0..<2 {
            let prepared = try resume()
            #expect(prepared.control == commands.control)
            #expect(prepared.status.commands == records)
            // A hold is shown, and its end too, however long it takes until the batch goes on.
            #expect(try status()?.state == (commands.control == .held ? .held : .pending))
        }
        try journal([.commanded(ControlRecord(.release, time: "t", uid: 7))])
        #expect(
            try resume().control == (commands.control == .cancelled ? .cancelled : .free))
        #expect(try status()?.state == .pending)
    }

    @Test func keepsTheLastSixteenCommands() throws {
        var status = Receipt.status(
            of: claimed(as: "x.json", recovery.examination.reading(of: Self.text)))
        for index in 0..<20 { status.note(ControlRecord(.hold, time: "\(index)", uid: 0)) }
        #expect(status.commands?.map(\.time) == (4..<20).map { "\($0)" })
    }

    @Test func knowsWhoseManifestItIs() throws {
        try leaveClaim()
        let path = spool.active.path + "/x/manifest.json"
        if geteuid() == 0 { #expect(chown(path, 1234, 1234) == 0) }
        let owner = geteuid() == 0 ? 1234 : geteuid()
        #expect(try resume().status.manifest.uid == owner)
        #expect(try status()?.manifest.uid == owner)
        // Afterwards the status says it.
        if geteuid() == 0 { #expect(chown(path, 99, 99) == 0) }
        #expect(try resume().status.manifest.uid == owner)
    }

    @Test(arguments: BatchState.allCases.filter(\.isFinal))
    func clearsTheLeftoversOfAFinishedBatch(state: BatchState) throws {
        var status = try begin().status
        status.state = state
        try folders.writeStatus(status, durably: true)
        guard case .finished = try recovery.recover("x") else { throw Unexpected() }
        #expect(try !spool.active.exists("x"))
        #expect(try self.status()?.state == state)
    }

    /// A kill in the middle of the removal of a folder with a page, which has a folder of its own.
    @Test func goesOnWithARemoval() throws {
        var status = try begin().status
        status.state = .completed
        try folders.writeStatus(status, durably: true)
        let active = try folders.active()
        try active.remove("manifest.json")
        for name: FileName in [".1", "page.old"] {
            try active.makeDirectory(name)
            try Directory(name, in: active).write([1], to: "1-pair.jpg", durably: false)
        }
        #expect(try recovery.ids() == ["x"])
        guard case .finished = try recovery.recover("x") else { throw Unexpected() }
        #expect(try spool.active.names().isEmpty)
    }

    private func exchangeManifest(in folder: Directory) throws {
        try folder.write(
            Array(#"{"images": ["other"]}"#.utf8), to: "manifest.json", replacing: true,
            durably: false)
    }

    @Test func goesByTheCopyWhenTheManifestWasChangedAfterTheClaim() throws {
        try begin()
        try exchangeManifest(in: folders.active())
        #expect(try resume().manifest.images.map(\.name) == ["a", "b"])
    }

    /// Neither is the manifest that was accepted, and nothing else is done in its name.
    @Test func endsABatchWhoseManifestIsAnother() throws {
        try begin()
        for folder in [try folders.active(), try folders.outbox()] {
            try exchangeManifest(in: folder)
        }
        guard case .removed(let last) = try recovery.recover("x") else { throw Unexpected() }
        #expect(last.images.map(\.name) == ["a", "b"])
        #expect(last.images.map(\.error?.code) == ["batch-removed", "batch-removed"])
    }

    @Test func canBeDoneAnyNumberOfTimes() throws {
        try leaveClaim()
        for _ in 0..<3 { #expect(try resume().status.counts.new == 2) }
    }

    /// The journal has decided on a rename that a stranger's file stands in the way of.
    @Test func overwritesNothing() throws {
        try begin(.ended(index: 0, .filtered("a")))
        try folders.active().write([1], to: BatchFile.output(0), durably: false)
        try folders.outbox().write([7], to: "a.png", durably: false)
        for _ in 0..<2 {
            let image = try resume().status.images[0]
            #expect(image.state == .failed)
            #expect(image.error?.code == "file-exists")
            #expect(image.output == nil)
            #expect(try folders.outbox().read("a.png") == [7])
        }
    }

    /// The manifest was removed from `active`; the one beside the status is the same.
    @Test func takesBackAManifestThatWasRemoved() throws {
        try begin()
        try folders.active().remove("manifest.json")
        #expect(try resume().status.counts.new == 2)
        #expect(try folders.active().read("manifest.json") == Array(Self.text.utf8))
    }

    /// Nothing is left to continue with, so the batch ends.
    @Test(arguments: [true, false]) func endsABatchThatWasRemoved(wholeFolder: Bool) throws {
        try begin(.ended(index: 0, .filtered("a")))
        try folders.outbox().remove("manifest.json")
        if wholeFolder {
            try spool.active.removeTree("x")
        } else {
            try folders.active().remove("manifest.json")
        }
        guard case .removed(let last) = try recovery.recover("x") else { throw Unexpected() }
        // What the journal has is kept with it.
        #expect(last.state == .completedWithErrors)
        #expect(last.counts.failed == (wholeFolder ? 2 : 1))
        #expect(last.counts.filtered == (wholeFolder ? 0 : 1))
        #expect(last.images[1].error?.code == "batch-removed")
        #expect(try status()?.undated == last.undated)
        #expect(try !spool.active.exists("x"))
    }

    // MARK: Crashes

    @Test func journalsCrashesOnce() throws {
        // As a process leaves it that was killed while it filtered image 1.
        let running = try self.spool.crashRecords.record(batch: "x", image: 1, before: 0) { _ in
            Result { try self.spool.root.read("attempts") }
        }.get()
        let other = try ScratchDirectory()
        try Directory(path: other.path).write(running, to: "attempts", durably: false)
        let spool = try Spool(path: other.path)
        let recovery = Recovery(spool: spool, examination: recovery.examination, durably: true)
        let folders = BatchFolders(spool: spool, id: "x")
        try spool.active.makeDirectory("x", mode: 0o700)
        try folders.active().write(Array(Self.text.utf8), to: "manifest.json", durably: false)
        // A crash between journaling and forgetting has left the line already.
        let line = JournalRecord.crashed(index: 1, number: 1, .killed)
        try ItemJournal.append([line], in: folders.active(), durably: false)
        for _ in 0..<3 {
            guard case .unfinished(let prepared) = try recovery.recover("x") else {
                throw Unexpected()
            }
            #expect(prepared.crashes.keys.sorted() == [1])
            #expect(prepared.crashes[1]?.all == [.killed])
            #expect(prepared.status.counts.new == 2)
        }
        #expect(try ItemJournal.read(in: folders.active()) == [line, line])
        #expect(spool.crashRecords.crashes(of: "x").isEmpty)
    }
}

extension Examination {
    /// What reading this text as JSON gives.
    func reading(of text: String) -> ManifestReading {
        let bytes = Array(text.utf8)
        return ManifestReading(
            bytes: bytes, byteCount: bytes.count, sha256: SHA256Digest.hex(of: bytes),
            outcome: .failure(ManifestRejection(problems: [])))
    }
}
