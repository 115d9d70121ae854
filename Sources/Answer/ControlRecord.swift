import DarkroomCore
import Glibc

/// A command that was given to a batch, with its time and its user.
package struct ControlRecord: Codable, Sendable, Equatable {
    package var command: ControlCommand
    /// When it took effect, in UTC, in the format of RFC 3339 with milliseconds.
    package var time: String
    /// The owner of the control file.
    package var uid: UInt32
    /// Identifies the control file by its inode and its time of change, so that a file that could not be removed has no
    /// effect after a restart. Absent if an older version wrote the record.
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

    /// The user that the kernel shows if it does not know the user: in a user namespace, or on a network file system.
    /// It is never treated as equal to itself.
    package static let nobody: UInt32 = 65534

    /// Whether this user may give a command to a batch of this owner.
    ///
    /// - Parameter isPrivileged: whether the user may give commands to any batch, see `Spool.isPrivileged`.
    package func isPermitted(forBatchOf owner: UInt32?, isPrivileged: Bool) -> Bool {
        isPrivileged || uid == owner && uid != Self.nobody
    }
}

extension [ControlRecord] {
    /// Whether this control file has had an effect before.
    package func has(fileOf record: ControlRecord) -> Bool {
        record.file != nil && contains { $0.file == record.file }
    }

    /// The number of commands that a status shows.
    package static var limit: Int { 16 }

    /// Adds a command; only the last ones are kept.
    package mutating func note(_ record: ControlRecord) {
        self = Array((self + [record]).suffix(Self.limit))
    }
}

extension Status {
    package mutating func note(_ record: ControlRecord) {
        commands = commands ?? []
        commands?.note(record)
    }
}
