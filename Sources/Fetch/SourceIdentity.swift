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
    private let device: UInt64
    private let inode: UInt64
    private let length: Int
    private let modified: Time
    private let lastChanged: Time

    /// A time of a file, to the nanosecond.
    private struct Time: Equatable {
        let seconds: Int
        let nanoseconds: Int

        init(_ time: timespec) {
            seconds = time.tv_sec
            nanoseconds = time.tv_nsec
        }

        init?(from text: inout Substring.UTF8View) {
            guard let seconds = text.number(as: Int.self), text.passes("."),
                let nanoseconds = text.number(as: Int.self)
            else { return nil }
            self.seconds = seconds
            self.nanoseconds = nanoseconds
        }

        var text: String { "\(seconds).\(nanoseconds)" }
    }

    package init(_ information: stat) {
        device = UInt64(information.st_dev)
        inode = UInt64(information.st_ino)
        length = information.length
        modified = Time(information.st_mtim)
        lastChanged = Time(information.st_ctim)
    }

    /// Reads a text in a status; nil if it is not one of a local file.
    package init?(_ text: String) {
        var rest = Substring(text).utf8
        guard let device = rest.number(as: UInt64.self), rest.passes("-"),
            let inode = rest.number(as: UInt64.self), rest.passes("-"),
            let length = rest.number(as: Int.self), rest.passes("-"),
            let modified = Time(from: &rest), rest.passes("-"),
            let changed = Time(from: &rest), rest.isEmpty
        else { return nil }
        self.device = device
        self.inode = inode
        self.length = length
        self.modified = modified
        lastChanged = changed
    }

    /// The device, the inode, the size, mtime and ctime, in decimal: `2049-131-4096-1700000000.5-1700000000.5`.
    package var text: String { "\(device)-\(inode)-\(length)-\(modified.text)-\(lastChanged.text)" }

    /// When the file was last changed, in seconds since 1970.
    package var changed: Double {
        Double(lastChanged.seconds) + Double(lastChanged.nanoseconds) / 1e9
    }

    /// The device of an identity's text; nil if it is none of a local file.
    package static func device(of text: String) -> UInt64? { SourceIdentity(text)?.device }

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

extension Substring.UTF8View {
    /// Takes a decimal number from the beginning; nil if there is none that fits.
    fileprivate mutating func number<Number: FixedWidthInteger>(as: Number.Type) -> Number? {
        let sign = Number.isSigned && first == UInt8(ascii: "-") ? 1 : 0
        let digits = dropFirst(sign).prefix(while: \.isDigit)
        let text = self[..<digits.endIndex]
        self = self[digits.endIndex...]
        return Number(Substring(text))
    }

    fileprivate mutating func passes(_ character: Unicode.Scalar) -> Bool {
        guard let first, first == UInt8(ascii: character) else { return false }
        removeFirst()
        return true
    }
}
