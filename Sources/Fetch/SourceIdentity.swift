import DarkroomCore
import Glibc

/// Tells whether the file of a source is still the same and unchanged, without reading it.
///
/// Whoever changes the content of a file changes its ctime, which nobody can set. So an equal identity means equal bytes,
/// with two exceptions. The kernel's clock of files has ticks, and a file can be changed twice in one. So an identity that
/// was taken so soon after the last change counts for nothing (`isSettled`), as in Git's index. And who writes through a
/// mapping (mmap) changes the ctime only with the first write after the kernel has stored the page: half a minute later on
/// most file systems, and never on a tmpfs.
package struct SourceIdentity: Sendable, Equatable {
    /// The device, the inode, the size, mtime and ctime, in decimal: `2049-131-4096-1700000000.5-1700000000.5`.
    package let text: String
    /// When the file was last changed, in seconds since 1970.
    package let changed: Double

    package init(_ information: stat) {
        let (modified, changed) = (information.st_mtim, information.st_ctim)
        text =
            "\(information.st_dev)-\(information.st_ino)-\(information.length)"
            + "-\(modified.tv_sec).\(modified.tv_nsec)-\(changed.tv_sec).\(changed.tv_nsec)"
        self.changed = Double(changed.tv_sec) + Double(changed.tv_nsec) / 1e9
    }

    /// The device of an identity's text; nil if it is none of a local file.
    package static func device(of text: String) -> UInt64? {
        text.utf8.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } == true
            ? UInt64(text.prefix { $0 != "-" }) : nil
    }

    /// How long ago the last change must be, in seconds. Some file systems count in whole or even in two seconds.
    package static let settleTime = 2.0

    /// Whether a later change of the file shows itself for sure.
    ///
    /// - Parameter now: when the identity was taken, before the file was read; in seconds since 1970.
    package func isSettled(at now: Double) -> Bool { changed < now - Self.settleTime }
}

extension SourceIdentity {
    /// nil if a later change would not show itself.
    package init?(settled information: stat, at now: Double) {
        self.init(information)
        guard isSettled(at: now) else { return nil }
    }
}
