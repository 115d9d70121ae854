import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomSpool

/// Taking a finished batch up again, step by step, and what a start finds after a crash at each.
final class ReopeningTests: SpoolSuite {
    static let text = #"""
        {"images": [{"name": "a", "source": "a"}, {"name": "b", "source": "b"},
                    {"name": "c", "from": "b"}, {"name": "d", "source": "d"}]}
        """#

    let retry = ControlRecord(.retry, time: "later", uid: 1000)

    private var outbox: Directory { get throws { try folders.outbox() } }

    /// In a sticky inbox the control file is still there after a restart.
    @Test(arguments: ["7-1.2", nil]) func theSameControlActsOnce(file: String?) throws {
        var status = try finished()
        status.commands = [ControlRecord(.retry, time: "r", uid: 1000, file: file)]
        try put(status)
        let outcome = try reopening.reopen("x", ControlRecord(.retry, uid: 1000, file: file))
        if case .unusable("it has taken effect before") = outcome {
            #expect(file != nil)
        } else {
            #expect(file == nil)
        }
    }

    private func failed(_ image: ImageStatus) -> ImageStatus {
        var image = image
        image.state = .failed
        image.error = Failure(code: "http-status", message: "404")
        image.attempts = 2
        return image
    }

    /// A batch that has ended: `a` filtered, `b` and `c` that was made from it failed, `d` cancelled.
    private func finished() throws -> Status {
        let bytes = Array(Self.text.utf8)
        var status = Status(
            id: "x",
            manifest: .init(
                name: "x.json", file: "manifest.json", sha256: SHA256Digest.hex(of: bytes),
                bytes: bytes.count, uid: 1000),
            state: .cancelled, times: .init(received: "r", started: "s", finished: "f"),
            commands: [ControlRecord(.cancel, time: "c", uid: 1000)],
            images: [
                .filtered("a"), failed(ImageStatus(name: "b", source: "b")),
                failed(ImageStatus(name: "c", from: "b")),
                ImageStatus(name: "d", source: "d", state: .cancelled),
            ])
        status.counts.total = 4
        for image in status.images { status.counts[image.state] += 1 }
        return status
    }

    /// Puts it into the outbox as the daemon leaves it.
    private func put(_ status: Status) throws {
        try spool.outbox.makeDirectory("x")
        try outbox.write(status.encoded(), to: BatchFile.status, durably: false)
        try outbox.write(Array(Self.text.utf8), to: "manifest.json", durably: false)
        try outbox.write([1], to: "a.png", durably: false)
    }

    private func show(_ status: Status) throws {
        try outbox.write(status.encoded(), to: BatchFile.status, replacing: true, durably: false)
    }

    private func shown() throws -> Status? {
        Status(decoding: try outbox.read(BatchFile.status))
    }

    private func reopen(by request: ControlRecord? = nil) throws -> PreparedBatch {
        guard case .reopened(let prepared) = try reopening.reopen("x", request ?? retry) else {
            throw Unexpected()
        }
        return prepared
    }

    private func check(_ prepared: PreparedBatch) throws {
        let before = try finished()
        #expect(prepared.control == .free)
        let status = prepared.status
        #expect(status.images[0] == before.images[0])
        #expect(status.images.dropFirst().map(\.state) == [.new, .new, .new])
        #expect(status.images.map(\.attempts) == [1, 2, 2, 0])
        #expect(status.images.allSatisfy { $0.error == nil })
        #expect(status.counts.new == 3 && status.counts.filtered == 1 && status.counts.total == 4)
        #expect(status.state == .pending)
        #expect(status.times == .init(received: "r", started: "s"))
        #expect(status.retries == 1)
        #expect(status.commands?.map(\.command) == [.cancel, .retry])
        #expect(status.manifest == before.manifest)
        #expect(try shown()?.undated == status)
    }

    @Test func doesAgainWhatFailedOrWasCancelledAndNothingElse() throws {
        try put(finished())
        try check(reopen())
        #expect(try entries(of: folders.active()) == ["manifest.json", "journal"])
        #expect(try outbox.read("a.png") == [1])
    }

    @Test func isUndoneByAStartBeforeTheRename() throws {
        try put(finished())
        try spool.active.makeDirectory(".retry-x")
        try Directory(".retry-x", in: spool.active).write([1], to: "journal", durably: false)
        #expect(try recovery.ids() == [])
        // The intake removes those.
        #expect(try ActiveFolder(of: spool).unfinished == [".retry-x"])
        #expect(try shown() == finished())
        // Nor is it a hindrance where it has stayed.
        try check(reopen())
    }

    /// The folder is in its place and the status is the old one.
    @Test func goesOnAfterAStartRightAfterTheRename() throws {
        try put(finished())
        _ = try reopen()
        for _ in 0..<3 {
            try show(finished())
            try check(resume())
        }
    }

    @Test func goesOnAfterAStartInMidWork() throws {
        try put(finished())
        _ = try reopen()
        var done = ImageStatus.filtered("b")
        done.attempts = 3
        try ItemJournal.append(
            [.ended(index: 1, done), .commanded(ControlRecord(.hold, time: "h", uid: 1000))],
            in: folders.active(), durably: true)
        let prepared = try resume()
        #expect(prepared.control == .held)
        #expect(prepared.status.images.map(\.state) == [.filtered, .filtered, .new, .new])
        #expect(prepared.status.images.map(\.attempts) == [1, 3, 2, 0])
        #expect(prepared.status.retries == 1)
        #expect(prepared.status.commands?.map(\.command) == [.cancel, .retry, .hold])
    }

    /// Whatever the clock says of the new end, be it the very time of the old one.
    @Test(arguments: ["f", "g"]) func isClearedAwayWhenItHasEndedAnew(time: String) throws {
        try put(finished())
        var status = try reopen().status
        status.state = .completedWithErrors
        status.times.finished = time
        try show(status)
        guard case .finished = try recovery.recover("x") else { throw Unexpected() }
        #expect(try spool.active.names().isEmpty)
        #expect(try shown() == status)
        // And so on.
        #expect(try reopen().status.retries == 2)
    }

    @Test func doesAgainAnImageWhoseOutputSomeoneRemoved() throws {
        var status = try finished()
        status.images = ["a", "b", "c", "d"].map(ImageStatus.filtered)
        try put(status)
        for name in ["b.png", "d.png"] { try outbox.write([1], to: FileName(name), durably: false) }
        #expect(try reopen().status.images.map(\.state) == [.filtered, .filtered, .new, .filtered])
    }

    @Test(arguments: [1000, 0] as [UInt32]) func obeysTheOwnerAndRoot(uid: UInt32) throws {
        try put(finished())
        #expect(try reopen(by: ControlRecord(.retry, uid: uid)).status.retries == 1)
    }

    @Test func obeysTheSpoolsOwnerAndWhoRunsTheDaemon() {
        #expect(spool.isPrivileged(0))
        #expect(spool.isPrivileged(geteuid()))
        #expect(spool.isPrivileged(spool.owner))
        #expect(!spool.isPrivileged(4242))
    }

    @Test func refusesEverybodyElse() throws {
        try put(finished())
        let stranger = ControlRecord(.retry, uid: 4242)
        guard case .refused(owner: 1000) = try reopening.reopen("x", stranger) else {
            throw Unexpected()
        }
        var status = try finished()
        status.manifest.uid = nil
        try show(status)
        guard case .refused(owner: nil) = try reopening.reopen("x", stranger) else {
            throw Unexpected()
        }
        #expect(try spool.active.names().isEmpty)
    }

    @Test func doesNothingWhereNothingIsToBeDone() throws {
        var status = try finished()
        status.images = ["a", "b", "c", "d"].map(ImageStatus.filtered)
        try put(status)
        for name in ["b", "c", "d"] { try outbox.write([1], to: "\(name).png", durably: false) }
        guard case .nothingToDo = try reopening.reopen("x", retry) else { throw Unexpected() }
        status.state = .rejected
        try show(status)
        guard case .isRejected = try reopening.reopen("x", retry) else { throw Unexpected() }
        try spool.active.makeDirectory("x")
        guard case .isInWork = try reopening.reopen("x", retry) else { throw Unexpected() }
    }

    // MARK: Pictures that are gone

    /// `b` and `c` that was made from it, and `d`, were to be repeated: which sources are gone, and what is repeated.
    @Test(
        arguments: [
            (["b"], ["d"]), (["d"], ["b", "c"]), (["a"], ["b", "c", "d"]), (["b", "d"], []),
        ] as [(Set<String>, [String])])
    func keepsTheErrorsOfPicturesThatAreGone(gone: Set<String>, repeated: [String]) throws {
        var status = try finished()
        status.manifest.isFolder = true
        try put(status)
        let outcome = try reopening.reopen("x", retry, without: { gone.contains($0.text.string) })
        if repeated.isEmpty {
            guard case .picturesGone = outcome else { throw Unexpected() }
            #expect(try shown() == status)
            return #expect(try spool.active.names().isEmpty)
        }
        guard case .reopened(let prepared) = outcome else { throw Unexpected() }
        for (image, before) in zip(prepared.status.images, status.images) {
            #expect(image == (repeated.contains(image.name) ? before.anew : before))
        }
    }

    /// With the pictures kept in the answer, or without any that came along, nobody asks what is gone.
    @Test(arguments: [true, false]) func asksOnlyIfPicturesAreGone(areKept: Bool) throws {
        var status = try finished()
        status.manifest.isFolder = areKept
        try put(status)
        if areKept { try outbox.makeDirectory(BatchFile.originals) }
        let outcome = try reopening.reopen("x", retry, without: { _ in true })
        guard case .reopened(let prepared) = outcome else { throw Unexpected() }
        #expect(prepared.status.counts.new == 3)
    }

    static let damages: [(String, @Sendable (inout Status) -> Void)] = [
        ("another batch's", { $0.id = "y" }), ("unfinished", { $0.state = .processing }),
        ("without an end", { $0.times.finished = nil }),
        ("of another manifest", { $0.manifest.sha256 = "0" }),
        ("without a manifest", { $0.manifest.file = "manifest" }),
        ("of other images", { $0.images[1].name = "z" }),
    ]

    /// What people may have done to the files in the outbox does not lead astray.
    @Test(arguments: damages)
    func leavesAloneWhatItDoesNotUnderstand(what: String, damage: @Sendable (inout Status) -> Void)
        throws
    {
        var status = try finished()
        damage(&status)
        try put(status)
        guard case .unusable = try reopening.reopen("x", retry) else { throw Unexpected() }
        #expect(try spool.active.names().isEmpty)
        #expect(try shown() == status)
    }
}
