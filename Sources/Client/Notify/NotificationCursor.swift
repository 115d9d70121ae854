import DarkroomAnswer
import DarkroomCore
import Foundation
import Glibc
import SystemPackage

/// The file that remembers which ends of batches were notified.
///
/// It has one JSON object per line: the first names the spool, each other one is the state of the last known end of one
/// batch. The last line of a batch counts. Lines are appended; a torn one is ignored. The file is written anew when
/// most of its lines do not count any more.
///
/// | state       | what has happened                              | what the next start does                     |
/// |-------------|------------------------------------------------|----------------------------------------------|
/// | (no line)   | the batch has not ended, or nobody has seen it | finds the end in the outbox, if it is there  |
/// | due         | its end was seen; a call may be running        | calls, also if a call was running            |
/// | failed      | so many calls have failed; one may be running  | calls again; the failed calls count          |
/// | called      | a call has succeeded                           | nothing                                      |
/// | passed-over | as many calls as allowed have failed           | nothing                                      |
/// | removed     | the answer was removed before a call succeeded | nothing                                      |
/// | replaced    | a retry began before a call succeeded          | nothing; the end of the retry is another one |
/// | before      | it had ended before the first start            | nothing                                      |
///
/// The states after `due` are synced before anything else happens. A lost `due` is found again in the outbox.
package final class NotificationCursor {
    package enum State: String, Codable, Sendable {
        case due, failed, called, removed, replaced, before
        case passedOver = "passed-over"

        /// Whether the end is still to be notified.
        package var isOpen: Bool { self == .due || self == .failed }
    }

    package struct Record: Codable, Sendable, Equatable {
        package var id: ByteString
        package var end: BatchEnd.Key
        package var state: State
        package var tries: Int?

        package init(_ id: ByteString, _ end: BatchEnd.Key, _ state: State, tries: Int? = nil) {
            self.id = id
            self.end = end
            self.state = state
            self.tries = tries
        }
    }

    private struct Head: Codable {
        var cursor: Int
        var spool: String
    }

    package let path: String
    package let isNew: Bool
    package private(set) var records: [ByteString: Record] = [:]
    private let spool: String
    private let folder: Directory
    private let name: FileName
    private let lock: Descriptor
    private var lines = 0

    /// Opens the file for this process alone, and reads it.
    ///
    /// - Parameter spool: the path of the spool to which it belongs.
    package init(path: String, spool: String) throws(ClientError) {
        self.path = path
        self.spool = spool
        let url = URL(filePath: path)
        name = FileName(url.lastPathComponent)
        do throws(FileError) {
            folder = try Directory(path: url.deletingLastPathComponent().path)
            lock = try Self.lock(FileName(url.lastPathComponent + ".lock"), in: folder)
            isNew = try !folder.exists(name)
        } catch  where error.errno == .wouldBlock {
            throw ClientError(
                .tryAgain, code: "cursor-in-use", "\(path): another process uses this cursor",
                remedy: "Each receiver needs a cursor of its own: --cursor FILE.")
        } catch {
            throw ClientError(
                error, remedy: "The folder must exist, and you must be able to write to it.")
        }
        if !isNew { try read() }
    }

    /// How often a lock that another process holds is tried again, every ten milliseconds.
    private static let lockAttempts = 100

    /// The lock is another file because the cursor itself is replaced. A program that a killed process has just started
    /// holds it too, until it is executed. So a restart waits for a moment.
    private static func lock(
        _ name: FileName, in folder: Directory
    ) throws(FileError) -> Descriptor {
        let file = try folder.openScratch(name)
        var attempts = 0
        while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
            let error = Errno(rawValue: errno)
            attempts += 1
            guard error == .wouldBlock, attempts < lockAttempts else {
                throw FileError(.lock, folder.path(of: name), error)
            }
            usleep(10_000)
        }
        return file
    }

    private func read() throws(ClientError) {
        let file: [UInt8]
        do throws(FileError) {
            file = try folder.read(name, limit: FileLimit.cursor)
        } catch  where error.errno == .fileTooLarge {
            throw unusable(
                "bad-cursor",
                "it has more than \(Units.bytes(FileLimit.cursor)), so it is not a cursor")
        } catch {
            throw ClientError(error)
        }
        let decoder = JSONDecoder()
        var rest = file[...].split(separator: UInt8(ascii: "\n"))[...]
        guard let first = rest.popFirst(),
            let head = try? decoder.decode(Head.self, from: Data(first)), head.cursor == 1
        else {
            throw unusable(
                "bad-cursor", "it is not a cursor that this version of darkroom can read")
        }
        guard ByteString(head.spool) == ByteString(spool) else {
            throw unusable(
                "other-spool", "this cursor belongs to the spool \(head.spool), not to \(spool)")
        }
        for line in rest {
            lines += 1
            guard let record = try? decoder.decode(Record.self, from: Data(line)) else { continue }
            records[record.id] = record
        }
    }

    private func unusable(_ code: String, _ reason: String) -> ClientError {
        ClientError(
            .configuration, code: code, "\(path): \(reason)",
            remedy: "Name another file with --cursor. Without a file, a new cursor begins.")
    }

    // MARK: Writing

    /// Adds records to the file. Those that are not `due` are on the disk when this returns.
    package func append(_ new: [Record]) throws(FileError) {
        guard !new.isEmpty else { return }
        let json = JSONLines()
        var bytes: [UInt8] = []
        for record in new { json.append(record, to: &bytes) }
        let isDurable = new.contains { $0.state != .due }
        let file = try folder.append(to: name)
        _ = try file.append(lines: bytes, path: path, torn: isDurable ? .notifyTorn : nil)
        if isDurable { try file.sync(path: path) }
        try file.close(path: path)
        for record in new { records[record.id] = record }
        lines += new.count
        (isDurable ? FaultPoint.notifyRecorded : .notifyFound).pass()
    }

    /// Makes the file with its first records. It appears with all of them or not at all: otherwise the next start would
    /// call for what was to be passed over.
    package func begin(with first: [Record]) throws(FileError) {
        for record in first { records[record.id] = record }
        try rewrite()
    }

    package func forget(_ ids: [ByteString]) {
        for id in ids { records[id] = nil }
    }

    /// Whether most lines of the file do not count any more.
    package var isLong: Bool { lines > 2 * records.count + 1000 }

    /// Writes the file anew, and waits until it is on the disk.
    package func rewrite() throws(FileError) {
        let json = JSONLines()
        var bytes: [UInt8] = []
        json.append(Head(cursor: 1, spool: spool), to: &bytes)
        for record in records.values.sorted(by: { $0.id < $1.id }) {
            json.append(record, to: &bytes)
        }
        let new = FileName(bytes: name.bytes + Array(".new".utf8))
        try folder.write(bytes, to: new, replacing: true, durably: true)
        FaultPoint.notifyCursorWritten.pass()
        try folder.rename(new, to: folder, as: name, replacing: true)
        FaultPoint.notifyCursorMoved.pass()
        try folder.sync()
        lines = records.count
    }
}
