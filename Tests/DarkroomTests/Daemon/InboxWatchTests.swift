import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomDaemon

@Suite(.tags(.concurrency)) struct InboxWatchTests {
    /// A record as the kernel writes it.
    private static func record(_ mask: Int, _ name: String = "", padding: Int = 1) -> [UInt8] {
        let text = Array(name.utf8)
        let length = text.isEmpty ? 0 : text.count + padding
        var bytes = [UInt8](repeating: 0, count: 16)
        withUnsafeBytes(of: UInt32(mask)) { bytes.replaceSubrange(4..<8, with: $0) }
        withUnsafeBytes(of: UInt32(length)) { bytes.replaceSubrange(12..<16, with: $0) }
        return bytes + text + [UInt8](repeating: 0, count: length - text.count)
    }

    private static func parse(_ bytes: [UInt8]) -> [InboxEvent] {
        var events: [InboxEvent] = []
        bytes.withUnsafeBytes { buffer in
            Inotify.parse(buffer) { _, mask, name in
                let event = Inotify.event(mask) { InboxRecords.event(mask: mask, name: name) }
                if let event { events.append(event) }
            }
        }
        return events
    }

    static let records: [([UInt8], [InboxEvent])] = [
        ([], []),
        (record(Int(IN_MOVED_TO), "a.json", padding: 10), [.moved("a.json")]),
        (record(Int(IN_CLOSE_WRITE), "a.json"), [.closed("a.json")]),
        (record(Int(IN_ATTRIB), "a.json"), [.changed("a.json")]),
        (record(Int(IN_CREATE), "a.json"), [.made("a.json")]),
        (record(Int(IN_MODIFY), "a.json"), [.written("a.json")]),
        (record(Int(IN_CREATE) | Int(IN_ISDIR), "a.json"), [.made("a.json")]),
        (record(Int(IN_ATTRIB)), []),
        (record(Int(IN_Q_OVERFLOW)), [.overflow]),
        (record(Int(IN_DELETE_SELF)), [.lost]),
        (record(Int(IN_MOVE_SELF)), [.lost]),
        (record(Int(IN_UNMOUNT)), [.lost]),
        (record(Int(IN_IGNORED)), [.lost]),
        (
            record(Int(IN_MOVED_TO), "a")
                + record(Int(IN_CLOSE_WRITE), "b", padding: 16), [.moved("a"), .closed("b")]
        ),
        // A record cut short by a reader's buffer does not lead beyond it.
        (Array(record(Int(IN_MOVED_TO), "abcdef").dropLast(4)), [.moved("abc")]),
        (Array(record(Int(IN_MOVED_TO), "abcdef").prefix(15)), []),
    ]

    @Test(arguments: records)
    func parses(bytes: [UInt8], events: [InboxEvent]) {
        #expect(Self.parse(bytes) == events)
    }

    /// Ways in which the inbox goes, each while it is open.
    static let losses: [(String, @Sendable (URL) throws -> Void)] = [
        ("removed", { try FileManager.default.removeItem(at: $0.appending(path: "inbox")) }),
        (
            "renamed",
            {
                try FileManager.default.moveItem(
                    at: $0.appending(path: "inbox"), to: $0.appending(path: "other"))
            }
        ),
        (
            "its parent renamed",
            {
                try FileManager.default.moveItem(
                    atPath: $0.path, toPath: $0.deletingLastPathComponent().path + "/gone")
            }
        ),
    ]

    @Test(arguments: losses.indices)
    func tellsOfARealFolder(loss: Int) async throws {
        let scratch = try ScratchDirectory()
        let url = scratch.url.appending(path: "spool")
        try FileManager.default.makeFolder(at: url)
        let parent = try Directory(path: url.path)
        try parent.makeDirectory("inbox")
        let folder = try Directory("inbox", in: parent)
        let seen = Mutex<[InboxEvent]>([])
        let queue = DispatchQueue(label: "test")
        let watch = try InboxWatch(folder: folder, named: "inbox", in: parent, queue: queue) {
            events in
            seen.withLock { $0 += events }
        }
        try folder.write([1], to: ".new", durably: false)
        try folder.rename(".new", to: folder, as: "moved.json")
        try await eventually("the events of the file") {
            let events = seen.withLock { $0 }
            return events.contains(.closed(".new")) && events.contains(.moved("moved.json"))
                ? true : nil
        }
        #expect(seen.withLock { !$0.contains(.lost) })
        try Self.losses[loss].1(url)
        try await eventually("the loss of a folder that was \(Self.losses[loss].0)") {
            seen.withLock { $0.contains(.lost) } ? true : nil
        }
        withExtendedLifetime(watch) {}
    }
}
