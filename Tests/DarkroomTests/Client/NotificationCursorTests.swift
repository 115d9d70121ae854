import Foundation
import TestSupport
import Testing

@testable import DarkroomClient
@testable import DarkroomCore

struct NotificationCursorTests {
    private let scratch: ScratchDirectory
    private var path: String { scratch.url.appending(path: "cursor").path }

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func open(spool: String = "/srv/spool") throws -> NotificationCursor {
        try NotificationCursor(path: path, spool: spool)
    }

    private static func record(
        _ id: ByteString, _ state: NotificationCursor.State, tries: Int? = nil, retries: Int? = nil
    ) -> NotificationCursor.Record {
        .init(
            id, .init(finished: "2026-11-23T08:00:00.123Z", retries: retries, identity: "1-2"),
            state, tries: tries)
    }

    private func text() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test func keepsTheLastStateOfEachBatch() throws {
        let records: [NotificationCursor.Record]
        do {
            let cursor = try open()
            #expect(cursor.isNew && cursor.records == [:])
            try cursor.rewrite()
            try cursor.append([Self.record("a", .due), Self.record("b", .due)])
            try cursor.append([Self.record("a", .failed, tries: 2)])
            try cursor.append([Self.record("b", .called, retries: 1)])
            records = [
                Self.record("a", .failed, tries: 2), Self.record("b", .called, retries: 1),
            ]
        }
        let cursor = try open()
        #expect(!cursor.isNew)
        #expect(cursor.records.values.sorted { $0.id < $1.id } == records)
        let begin = #"{"end":{"finished":"2026-11-23T08:00:00.123Z","identity":"1-2""#
        #expect(
            try text() == """
                {"cursor":1,"spool":"/srv/spool"}
                \(begin)},"id":"a","state":"due"}
                \(begin)},"id":"b","state":"due"}
                \(begin)},"id":"a","state":"failed","tries":2}
                \(begin),"retries":1},"id":"b","state":"called"}

                """)
        cursor.forget(["b"])
        try cursor.rewrite()
        #expect(
            try text() == """
                {"cursor":1,"spool":"/srv/spool"}
                \(begin)},"id":"a","state":"failed","tries":2}

                """)
    }

    /// Every length to which a kill can cut the last line.
    @Test func ignoresATornLine() throws {
        do {
            let cursor = try open()
            try cursor.rewrite()
            try cursor.append([Self.record("a", .due)])
        }
        let whole = try Data(contentsOf: URL(filePath: path))
        do { try open().append([Self.record("a", .called)]) }
        let longer = try Data(contentsOf: URL(filePath: path))
        for count in whole.count..<longer.count {
            try longer.prefix(count).write(to: URL(filePath: path))
            let cursor = try open()
            // Only the line end may be missing.
            let state = count == longer.count - 1 ? NotificationCursor.State.called : .due
            #expect(cursor.records["a"]?.state == state, "\(count)")
            try cursor.append([Self.record("b", .called)])
            #expect(cursor.records["b"]?.state == .called)
        }
        #expect(try open().records.count == 2)
    }

    /// Two texts that are equal in Unicode are two batches.
    @Test func comparesIDsByTheirBytes() throws {
        do {
            let cursor = try open()
            try cursor.rewrite()
            try cursor.append([Self.record("\u{E9}", .called), Self.record("e\u{301}", .due)])
        }
        #expect(try open().records.count == 2)
    }

    @Test func isForOneProcess() throws {
        let first = try open()
        #expect(
            throws: ClientError(
                .tryAgain, code: "cursor-in-use", "\(path): another process uses this cursor",
                remedy: "Each receiver needs a cursor of its own: --cursor FILE.")
        ) { _ = try open() }
        withExtendedLifetime(first) {}
    }

    /// At once: nobody reads the zeros of a hole.
    @Test func refusesAFileThatIsTooLong() throws {
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(truncate(path, 1 << 40) == 0)
        let error = #expect(throws: ClientError.self) { _ = try open() }
        #expect(error?.code == "bad-cursor" && error?.exit == .configuration)
        #expect(error?.message == "\(path): it has more than 512 MiB, so it is not a cursor")
    }

    private static let unknown = "it is not a cursor that this version of darkroom can read"

    @Test(arguments: [
        ("", "bad-cursor", unknown), ("hello\n", "bad-cursor", unknown),
        ("{\"cursor\":2,\"spool\":\"/srv/spool\"}\n", "bad-cursor", unknown),
        ("{\"cursor\":1}\n", "bad-cursor", unknown),
        (
            "{\"cursor\":1,\"spool\":\"/srv/other\"}\n", "other-spool",
            "this cursor belongs to the spool /srv/other, not to /srv/spool"
        ),
    ])
    func refuses(text: String, code: String, reason: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
        #expect(
            throws: ClientError(
                .configuration, code: code, "\(path): \(reason)",
                remedy: "Name another file with --cursor. Without a file, a new cursor begins.")
        ) { _ = try open() }
        #expect(try self.text() == text)
    }

    @Test func isWrittenAnewBeforeItGrowsLong() throws {
        let cursor = try open()
        try cursor.rewrite()
        for _ in 0..<501 { try cursor.append([Self.record("a", .due), Self.record("a", .due)]) }
        #expect(!cursor.isLong)
        try cursor.append([Self.record("a", .due)])
        #expect(cursor.isLong)
        try cursor.rewrite()
        #expect(!cursor.isLong)
        #expect(try text().split(separator: "\n").count == 2)
    }
}
