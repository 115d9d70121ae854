import CDarkroomShims
import DarkroomCore
import Glibc
import SystemPackage

/// `spool/inbox.json`, replaced whole.
///
/// Why nothing is taken is asked for most when the disk is full, and then no new file could be written. So the
/// next one is there already, with room of its own, enough for a report of a few files; and when it has taken
/// the place of the last one, the room of that becomes the next one's.
package struct ReportFile {
    static let name: FileName = "inbox.json"
    static let next: FileName = "inbox.json.new"
    /// Bytes kept for the next report.
    private static let reserve = 16 << 10
    /// Files that a report of that size can list, whatever they are called.
    private static let shortList = 8

    let root: Directory

    package init(root: Directory) {
        self.root = root
    }

    /// Writes the report; on a full disk a short one, which lists the first few files.
    package func write(_ report: InboxReport) throws(FileError) {
        do {
            try replace(with: report.encoded())
        } catch  where error.isTransient && report.files.count > Self.shortList {
            var short = report
            short.files = Array(report.files.prefix(Self.shortList))
            try replace(with: short.encoded())
        }
    }

    private func replace(with bytes: [UInt8]) throws(FileError) {
        if try !root.exists(Self.next) { try makeNext() }
        let file = try root.openScratch(Self.next)
        let path = root.path(of: Self.next)
        // Before the first byte, lest half a report take the room of a short one.
        if bytes.count > Self.reserve { try keepRoom(for: bytes.count, in: file) }
        try file.write(bytes, path: path)
        // Blocks behind the end go with a truncation, so there is none without need.
        if let former = try root.information(of: Self.next)?.length, former > bytes.count {
            try file.truncate(to: bytes.count, path: path)
        }
        // It says what can be seen in the folder too, so it is not waited for.
        try root.rename(Self.next, to: root, as: Self.name, replacing: true)
        // Should there be no room now, the next report fails, and that is told.
        try? makeNext()
    }

    private func makeNext() throws(FileError) {
        let file = try root.create(Self.next, replacing: true)
        try keepRoom(for: Self.reserve, in: file)
    }

    private func keepRoom(for bytes: Int, in file: borrowing Descriptor) throws(FileError) {
        do {
            let number = file.number
            _ = try retryingInterrupts { darkroom_keep_room(number, Int64(bytes)) }
        } catch  where error == .notSupported {
            // A file system on which no room can be kept.
        } catch {
            throw FileError("reserve space for it", root.path(of: Self.next), error)
        }
    }
}
