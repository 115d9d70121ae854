import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomSpool

/// Each step of a manifest's way on a disk with 0, 4, 8, … kilobytes left: whichever write is the first to be
/// refused, nothing is lost, nothing is half there, and a start after it goes on.
@Suite(.enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
struct FullDiskOrderTests {
    let disk: SmallDisk
    let spool: Spool
    let inbox: Directory
    let examination = Examination(limits: ManifestLimits(), defaultFilters: [], settle: 0)

    init() throws {
        disk = try SmallDisk(kilobytes: 1024)
        spool = try Spool(path: disk.root.path)
        inbox = try spool.openInbox()
    }

    private struct Unexpected: Error {}

    private static let room = Array(stride(from: 0, through: 80, by: 4))

    /// A manifest of some kilobytes, acceptable or not.
    private static func text(_ isAcceptable: Bool) -> [UInt8] {
        let images = (0..<20).map { #"{"name": "i\#($0)", "source": "s\#($0)"}"# }
        let padding = String(repeating: " ", count: 6000)
        return Array(
            #"{"images": [\#(images.joined(separator: ","))]\#(isAcceptable ? "" : "?")}\#(padding)"#
                .utf8)
    }

    private func claim(_ text: [UInt8]) throws -> ClaimedManifest {
        try inbox.write(text, to: "x.json", durably: false)
        guard case .ready(let candidate) = examination.examine("x.json", in: inbox, isWhole: true)
        else { throw Unexpected() }
        let claim = Claim(spool: spool, inbox: inbox, examination: examination, durably: true)
        return try #require(claim.take([candidate]).claimed.first)
    }

    private var recovery: Recovery {
        Recovery(spool: spool, examination: examination, durably: true)
    }

    private func status() throws -> Status {
        try #require(Status(decoding: try spool.outboxFolder("x").read("status.json")))
    }

    @Test(arguments: room, [true, false])
    func aReceiptIsThereWholeOrNotAtAll(kilobytes: Int, isAcceptable: Bool) throws {
        let text = Self.text(isAcceptable)
        let claimed = try claim(text)
        try disk.fill(butFor: kilobytes)
        do {
            _ = try Receipt.issue(for: claimed, durably: true)
            #expect(try spool.outboxFolder("x").read("manifest.json") == text)
            #expect(try status().state == (isAcceptable ? .pending : .rejected))
        } catch let error as FileError {
            #expect(error.storageFailure == .full)
            #expect(try !spool.outbox.exists("x"))
            #expect(kilobytes < 40)
        }
        // The daemon is killed here, and starts again when there is room.
        disk.empty()
        switch try recovery.recover("x") {
        case .unfinished(let prepared): #expect(isAcceptable && prepared.status.counts.new == 20)
        case .rejected, .finished: #expect(!isAcceptable)
        default: throw Unexpected()
        }
        #expect(try spool.outboxFolder("x").read("manifest.json") == text)
        #expect(try status().state == (isAcceptable ? .pending : .rejected))
        #expect(try spool.active.exists("x") == isAcceptable)
        #expect(try spool.outbox.names() == ["x"])
    }

    @Test(arguments: room)
    func theLastStatusIsWholeOrTheOneBefore(kilobytes: Int) throws {
        let claimed = try claim(Self.text(true))
        let (_, pending) = try Receipt.issue(for: claimed, durably: true)
        var last = pending.removed(from: claimed.folders)
        last.state = .completed
        try disk.fill(butFor: kilobytes)
        do {
            try claimed.folders.writeLastStatus(last, durably: true)
            try Receipt.finish(claimed.folders, format: .json, durably: true)
            #expect(try status().undated == last)
            #expect(try !spool.active.exists("x"))
        } catch let error as FileError {
            #expect(error.storageFailure == .full)
            #expect(try status().undated == pending)
            #expect(try spool.active.exists("x"))
            #expect(kilobytes < 40)
            disk.empty()
            guard case .unfinished = try recovery.recover("x") else { throw Unexpected() }
        }
    }

    /// A claim that cannot be recovered for want of room is not given up.
    @Test(arguments: room) func aRecoveryIsRetried(kilobytes: Int) throws {
        let text = Self.text(true)
        _ = try claim(text)
        try disk.fill(butFor: kilobytes)
        do {
            guard case .unfinished = try recovery.recover("x") else { throw Unexpected() }
        } catch let error as FileError {
            #expect(error.storageFailure == .full)
            #expect(try !spool.outbox.exists("x"))
            #expect(try Directory("x", in: spool.active).read("manifest.json") == text)
            disk.empty()
            guard case .unfinished = try recovery.recover("x") else { throw Unexpected() }
        }
        #expect(try spool.outboxFolder("x").read("manifest.json") == text)
    }
}

extension Spool {
    fileprivate func outboxFolder(_ id: FileName) throws -> Directory {
        try Directory(id, in: outbox)
    }
}
