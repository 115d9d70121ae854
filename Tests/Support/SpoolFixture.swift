import DarkroomAnswer
import Foundation

/// A spool in a folder of its own, seen from outside: manifests go in, status and pictures come out.
package final class SpoolFixture: TestFolder {
    package let root: URL
    private let scratch: ScratchDirectory?

    /// Makes an empty folder for the spool; the daemon makes what is in it.
    package init() throws {
        let scratch = try ScratchDirectory()
        self.scratch = scratch
        root = scratch.url.appending(path: "spool")
        try FileManager.default.makeFolder(at: root)
    }

    /// The folder `root`, which is the caller's, as a spool.
    package init(root: URL) {
        scratch = nil
        self.root = root
    }

    /// Makes `tmp` and `inbox` where no daemon has yet done so.
    package func makeFolders() throws {
        for name in ["tmp", "inbox"] { try makeFolder(name) }
    }

    // MARK: Manifests in

    /// Writes the manifest into `tmp` and renames it into the inbox.
    package func drop(_ name: String, _ content: String) throws {
        try drop(Array(name.utf8), Array(content.utf8))
    }

    /// The same with a name that need not be text.
    package func drop(_ name: [UInt8], _ content: [UInt8]) throws {
        let staged = Array(root.path.utf8) + Array("/tmp/".utf8) + name
        let target = Array(root.path.utf8) + Array("/inbox/".utf8) + name
        try Self.write(content, to: staged, flags: O_CREAT | O_EXCL)
        try Self.check(rename(Self.cString(staged), Self.cString(target)))
    }

    /// Writes the manifest in the inbox itself, each part by an open, a write and a close of its own.
    package func writeInPlace(
        _ name: String, parts: [String], pause: Duration
    ) async throws {
        let target = Array(root.appending(path: "inbox/\(name)").path.utf8)
        for (index, part) in parts.enumerated() {
            if index > 0 { try await Task.sleep(for: pause) }
            try Self.write(Array(part.utf8), to: target, flags: O_CREAT | O_APPEND)
        }
    }

    // MARK: What came out

    /// The batch's status, or nil if it has none yet. A status file that cannot be decoded is an
    /// error: it is replaced atomically, so there is no moment at which it may be incomplete.
    package func status(of id: String) throws -> Status? {
        let file = root.appending(path: "outbox/\(id)/status.json")
        guard let data = FileManager.default.contents(atPath: file.path) else { return nil }
        return try JSONDecoder().decode(Status.self, from: data)
    }

    /// Waits until the batch's status satisfies the condition, and returns that status.
    package func waitForStatus(
        of id: String, _ daemon: DaemonProcess, _ what: String,
        within limit: Duration = patience, until condition: (Status) -> Bool
    ) async throws -> Status {
        try await eventually(
            "batch \(id) to be \(what)", within: limit,
            context: { describe(id) + daemon.describe() }
        ) {
            if let status = try status(of: id), condition(status) { return status }
            if let ending = daemon.currentEnding() {
                throw DeadlineExceeded("\(ending) before \(id) was \(what). \(daemon.describe())")
            }
            return nil
        }
    }

    /// Waits until the batch is in a state, and returns that status.
    package func waitForStatus(
        of id: String, _ daemon: DaemonProcess, _ state: BatchState
    ) async throws -> Status {
        try await waitForStatus(of: id, daemon, "\(state)") { $0.state == state }
    }

    /// Waits until the batch has ended after so many retries, and returns that status.
    package func waitForRetry(
        _ number: Int, of id: String, _ daemon: DaemonProcess
    ) async throws -> Status {
        try await waitForStatus(of: id, daemon, "ended again") {
            $0.state.isFinal && $0.retries == number
        }
    }

    /// Waits until so many images of the batch are filtered, and returns that status.
    package func waitForStatus(
        of id: String, _ daemon: DaemonProcess, filtered count: Int
    ) async throws -> Status {
        try await waitForStatus(of: id, daemon, "under way") { $0.counts.filtered >= count }
    }

    /// Waits until the batch is in a final state, whichever it is, and the daemon has cleared up behind it; where it may
    /// not remove what another user owns, until the ID is free.
    package func finish(
        _ id: String, _ daemon: DaemonProcess, within limit: Duration = patience,
        mayRemove: Bool = true
    ) async throws -> Status {
        let status = try await waitForStatus(of: id, daemon, "finished", within: limit) {
            $0.state.isFinal
        }
        // Its folder gets another name, and is removed after that.
        try await eventually("active/\(id) to be cleared") {
            list("active").contains { $0 == id || mayRemove && $0.hasPrefix(".ended-\(id).") }
                ? nil : true
        }
        return status
    }

    /// What tells one writing of a file from another: a file written again differs in it.
    package func identity(_ file: String) throws -> FileIdentity {
        var found = stat()
        try Self.check(stat(root.appending(path: file).path, &found))
        return FileIdentity(
            inode: UInt64(found.st_ino), seconds: Int(found.st_mtim.tv_sec),
            nanoseconds: Int(found.st_mtim.tv_nsec))
    }

    /// Ordered by the moment of the writing.
    package struct FileIdentity: Comparable, Sendable {
        let inode: UInt64
        let seconds: Int
        let nanoseconds: Int

        package static func < (a: Self, b: Self) -> Bool {
            (a.seconds, a.nanoseconds) < (b.seconds, b.nanoseconds)
        }
    }

    private func describe(_ id: String) -> String {
        guard let status = try? status(of: id) else {
            return "It has no status; inbox: \(list("inbox")), active: \(list("active")). "
        }
        let failures = status.images.compactMap(\.error).prefix(3)
        return "It is \(status.state), \(status.counts), \(status.errors ?? []), \(failures). "
    }

    // MARK: Files

    private static func write(_ content: [UInt8], to path: [UInt8], flags: CInt) throws {
        let number = open(cString(path), O_WRONLY | O_CLOEXEC | flags, 0o644)
        try check(number)
        defer { close(number) }
        var rest = content[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            try check(CInt(clamping: count))
            rest = rest.dropFirst(count)
        }
    }

    private static func cString(_ bytes: [UInt8]) -> [CChar] {
        bytes.map { CChar(bitPattern: $0) } + [0]
    }

    private static func check(_ result: CInt) throws {
        if result < 0 { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    }
}
