import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Darkroom

@Suite struct InboxWatchTests {
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
        bytes.withUnsafeBytes { InotifyDescriptor.parse($0, into: &events) }
        return events
    }

    static let records: [([UInt8], [InboxEvent])] = [
        ([], []),
        (record(Int(IN_MOVED_TO), "a.json", padding: 10), [.moved("a.json")]),
        (record(Int(IN_CLOSE_WRITE), "a.json"), [.closed("a.json")]),
        (record(Int(IN_ATTRIB), "a.json"), [.changed("a.json")]),
        (record(Int(IN_ATTRIB)), []),
        (record(Int(IN_Q_OVERFLOW)), [.overflow]),
        (record(Int(IN_DELETE_SELF)), [.lost]),
        (record(Int(IN_MOVE_SELF)), [.lost]),
        (record(Int(IN_UNMOUNT)), [.lost]),
        (record(Int(IN_IGNORED)), [.lost]),
        (
            record(Int(IN_MOVED_TO), "a") + record(Int(IN_MOVED_TO), "a")
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

    @Test func tellsOfARealFolder() async throws {
        let scratch = try ScratchDirectory()
        let folder = try Directory(path: scratch.path)
        let seen = Mutex<[InboxEvent]>([])
        let queue = DispatchQueue(label: "test")
        let watch = try InboxWatch(folder: folder, queue: queue) { events in
            seen.withLock { $0 += events }
        }
        try folder.write([1], to: ".new", durably: false)
        try folder.rename(".new", to: folder, as: "moved.json")
        try await eventually("the events of the file") {
            let events = seen.withLock { $0 }
            return events.contains(.closed(".new")) && events.contains(.moved("moved.json"))
                ? true : nil
        }
        try folder.remove("moved.json")
        try FileManager.default.removeItem(at: scratch.url)
        try await eventually("the folder's loss") {
            seen.withLock { $0.contains(.lost) } ? true : nil
        }
        withExtendedLifetime(watch) {}
    }
}
