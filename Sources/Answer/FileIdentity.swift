import DarkroomCore
import Glibc

/// Shows whether a file is still the same and unchanged.
package struct FileIdentity: Sendable, Equatable {
    package let device: UInt64
    package let inode: UInt64
    package let size: Int
    package let modifiedSeconds: Int
    package let modifiedNanoseconds: Int

    package init(_ information: stat) {
        device = UInt64(information.st_dev)
        inode = UInt64(information.st_ino)
        size = information.length
        modifiedSeconds = information.st_mtim.tv_sec
        modifiedNanoseconds = information.st_mtim.tv_nsec
    }

    /// For storage and comparison.
    package var text: String { "\(inode)-\(modifiedSeconds).\(modifiedNanoseconds)" }

    /// The seconds since the last change, according to the wall clock; negative if the change is in the future.
    package var age: Double { age(at: Clock.wall) }

    /// The seconds from the last change to a time, which is in seconds since 1970.
    package func age(at time: Double) -> Double {
        time - Double(modifiedSeconds) - Double(modifiedNanoseconds) / 1e9
    }

    /// Whether this file was changed before the other one, or at the same time and has the smaller name.
    package func isOlder(than other: FileIdentity, _ name: [UInt8], _ otherName: [UInt8]) -> Bool {
        let own = (modifiedSeconds, modifiedNanoseconds)
        let others = (other.modifiedSeconds, other.modifiedNanoseconds)
        return own == others ? name.lexicographicallyPrecedes(otherName) : own < others
    }
}

extension stat {
    /// When the file was renamed, linked or written to, in seconds since 1970.
    package var statusChanged: Double { st_ctim.seconds }
}

extension timespec {
    package var seconds: Double { Double(tv_sec) + Double(tv_nsec) / 1e9 }
}
