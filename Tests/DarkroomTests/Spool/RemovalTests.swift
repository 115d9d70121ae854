import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomSpool

/// What `ID.remove` removes, and what it leaves alone.
final class RemovalTests: SpoolSuite {
    private static let owner: UInt32 = 1000

    private func put(
        _ id: String, _ state: BatchState = .completed, called: String? = nil,
        uid: UInt32? = owner
    ) throws {
        let status = Status(of: called ?? id, state, uid: uid, images: [.filtered("a")])
        try spool.outbox.makeDirectory(FileName(id))
        let folder = try answer(id)
        try folder.write(status.encoded(), to: "status.json", durably: false)
        try folder.write([1], to: "a.png", durably: false)
    }

    private func answer(_ id: String) throws -> Directory {
        try Directory(FileName(id), in: spool.outbox)
    }

    /// - Parameter age: how long before the answer the file was put into the inbox, in seconds.
    private func remove(
        _ id: String, by uid: UInt32 = owner, age: Double = -10
    ) throws -> Removal.Outcome {
        var information = stat()
        information.st_uid = uid
        information.st_ctim.tv_sec = Int(Clock.wall - age)
        let file = try #require(ControlFile(FileName("\(id).remove")))
        return try Removal.remove(
            id, ControlRequest(file, information), in: spool, durably: true)
    }

    @Test(arguments: [BatchState.completed, .completedWithErrors, .cancelled, .rejected])
    func movesTheAnswerOfAFinishedBatch(state: BatchState) throws {
        try put("x", state)
        try put("y")
        // Retention removes files of others too.
        try answer("x").write([1], to: "notes.txt", durably: false)
        #expect(try remove("x") == .removed(".expired-x"))
        #expect(try entries(of: spool.outbox) == ["y"])
        #expect(try entries(of: spool.active) == [".expired-x"])
        try clear(".expired-x")
        #expect(try entries(of: spool.active) == [])
        #expect(try remove("x") == .unusable("there is no such batch"))
    }

    /// The files of the first one may not be removed yet.
    @Test func theNextAnswerCanBeRemovedToo() throws {
        try put("x")
        #expect(try remove("x") == .removed(".expired-x"))
        try put("x")
        guard case .removed(let name) = try remove("x") else { throw Unexpected() }
        #expect(name.text.hasPrefix(".expired-x."))
        #expect(try Expired(spool: spool, isStopped: { false }).clear() == 2)
        #expect(try entries(of: spool.active) == [] && entries(of: spool.outbox) == [])
    }

    enum Obstacle: CaseIterable, Sendable {
        case pending, processing, held, inWork, strangerAsks, nobodyAsks, ownerUnknown, nothing
        case file, link, empty, foreignStatus, otherID, folder, askedBefore

        var outcome: Removal.Outcome {
            switch self {
            case .pending, .processing, .held, .inWork: .isInWork
            case .strangerAsks: .refused(owner: 1000)
            case .nobodyAsks: .refused(owner: ControlRecord.nobody)
            case .ownerUnknown: .refused(owner: nil)
            case .nothing, .file, .link, .empty: .unusable("there is no such batch")
            case .foreignStatus: .unusable("its status.json was not written by Darkroom")
            case .otherID: .unusable("its status.json belongs to y")
            case .folder: .unusable("it contains a folder, mine")
            case .askedBefore: .unusable("the batch ended after the file was put there")
            }
        }
    }

    @Test(arguments: Obstacle.allCases) func leavesAlone(obstacle: Obstacle) throws {
        var (uid, age) = (Self.owner, -10.0)
        switch obstacle {
        case .pending: try put("x", .pending)
        case .processing: try put("x", .processing)
        case .held: try put("x", .held)
        case .inWork:
            try put("x")
            try spool.active.makeDirectory("x")
        case .strangerAsks:
            try put("x")
            uid = 1001
        case .nobodyAsks:
            uid = ControlRecord.nobody
            try put("x", uid: uid)
        case .ownerUnknown: try put("x", uid: nil)
        case .nothing: break
        case .file: try spool.outbox.write([1], to: "x", durably: false)
        case .link:
            try put("y")
            try #require(symlink("y", spool.outbox.path + "/x") == 0)
        case .empty: try spool.outbox.makeDirectory("x")
        case .foreignStatus:
            try spool.outbox.makeDirectory("x")
            try answer("x").write(Array("{}".utf8), to: "status.json", durably: false)
        case .otherID: try put("x", called: "y")
        case .folder:
            try put("x")
            try answer("x").makeDirectory("mine")
        case .askedBefore:
            try put("x")
            age = 10
        }
        let before = try (entries(of: spool.outbox), entries(of: spool.active))
        #expect(try remove("x", by: uid, age: age) == obstacle.outcome)
        #expect(try (entries(of: spool.outbox), entries(of: spool.active)) == before)
    }

    /// Root, the owner of the spool, and the user that runs the daemon.
    @Test func thePrivilegedMayRemoveAll() throws {
        for uid in Set([0, geteuid()]) {
            try put("x")
            #expect(try remove("x", by: uid) == .removed(".expired-x"))
            try clear(".expired-x")
        }
    }
}
