import CDarkroomShims
import DarkroomAnswer
import DarkroomCore
import Foundation
import Glibc
import SystemPackage

/// A report in the root folder of the spool, such as `spool/inbox.json`, replaced as a whole.
///
/// The reason why nothing goes on is most important when the disk is full, but then no new file can be written. So the
/// file of the next report exists already, with reserved space for a report with a short list. When it has replaced the
/// last report, the space of that one is used for the next.
package struct ReportFile<Content: Report> {
    static var name: FileName { Content.fileName }
    static var next: FileName { FileName("\(Content.fileName.text).new") }
    /// The number of bytes that are reserved for the next report.
    private static var reserve: Int { 16 << 10 }
    /// The number of entries for which this is enough, with any names.
    private static var shortList: Int { 8 }

    let root: Directory

    package init(root: Directory) { self.root = root }

    /// Writes the report; on a full disk a short one with the first few entries.
    package func write(_ report: Content) throws(FileError) {
        do {
            try replace(with: report.encoded())
        } catch  where error.isTransient && report.listCount > Self.shortList {
            try replace(with: report.shortened(to: Self.shortList).encoded())
        }
    }

    private func replace(with bytes: [UInt8]) throws(FileError) {
        if try !root.exists(Self.next) { try makeNext() }
        let file = try root.openScratch(Self.next)
        let path = root.path(of: Self.next)
        // Before the first byte, so that half of a long report does not use the space of a short one.
        if bytes.count > Self.reserve { try keepRoom(for: bytes.count, in: file) }
        try file.write(bytes, path: path)
        // Truncation releases reserved blocks after the end, so it is done only if necessary.
        if let former = try root.information(of: Self.next)?.length, former > bytes.count {
            try file.truncate(to: bytes.count, path: path)
        }
        // The same can be seen in the folder, so there is no sync.
        try root.rename(Self.next, to: root, as: Self.name, replacing: true)
        // If there is no space now, the next report fails, and that is logged.
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
            // The file system cannot reserve space.
        } catch {
            throw FileError(.reserve, root.path(of: Self.next), error, detail: "space for it")
        }
    }
}
