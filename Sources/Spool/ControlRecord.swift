import DarkroomCore
import Glibc

/// A command that was given to a batch: when it took effect, and by whom.
package struct ControlRecord: Codable, Sendable, Equatable {
    package var command: ControlCommand
    /// In UTC, as RFC 3339 with milliseconds.
    package var time: String
    /// The owner of the control file.
    package var uid: UInt32
    /// Which file it was, its inode and time of change, so that one that could not be removed does not act again
    /// after a restart; absent where an older version took note.
    package var file: String?

    private enum CodingKeys: String, CodingKey {
        case command = "action"
        case time, uid, file
    }

    package init(
        _ command: ControlCommand, time: String = Clock.timestamp, uid: UInt32, file: String? = nil
    ) {
        self.command = command
        self.time = time
        self.uid = uid
        self.file = file
    }

    /// The user whom the kernel names where it cannot tell who it is: in a user namespace, or on a network file
    /// system. Nobody is the same as nobody else.
    package static let nobody: UInt32 = 65534

    /// Whether the user who gives the command may give it to a batch of this owner.
    ///
    /// - Parameter isPrivileged: whether the user may give any command to any batch, see `Spool.isPrivileged`.
    package func isPermitted(forBatchOf owner: UInt32?, isPrivileged: Bool) -> Bool {
        isPrivileged || uid == owner && uid != Self.nobody
    }
}

extension [ControlRecord] {
    /// Whether the very file has acted before.
    package func has(fileOf record: ControlRecord) -> Bool {
        record.file != nil && contains { $0.file == record.file }
    }

    /// How many a status shows.
    package static var limit: Int { 16 }

    /// Adds a command to those shown, of which the last are kept.
    package mutating func note(_ record: ControlRecord) {
        self = Array((self + [record]).suffix(Self.limit))
    }
}

extension Status {
    /// Adds a command to those shown.
    package mutating func note(_ record: ControlRecord) {
        commands = commands ?? []
        commands?.note(record)
    }
}

extension Spool {
    /// Whether a user may give commands to every batch: root, the spool's owner, or whoever runs the daemon.
    package func isPrivileged(_ uid: UInt32) -> Bool {
        uid == 0 || uid == owner || uid == geteuid()
    }
}
