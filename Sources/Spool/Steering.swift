import DarkroomCore

/// One act of a control file: what was asked for, when it took effect, and by whom.
package struct Steering: Codable, Sendable, Equatable {
    package enum Action: String, Codable, Sendable, CaseIterable {
        /// Images that wait end at once, those in work at their next step.
        case cancel
        /// No further download or filter begins; those that run are finished.
        case hold
        /// Ends a hold.
        case release
        /// Does again what failed or was cancelled in a finished batch.
        case retry
    }

    package var action: Action
    /// In UTC, as RFC 3339 with milliseconds.
    package var time: String
    /// The owner of the control file.
    package var uid: UInt32
    /// Which file it was, its inode and time of change, so that one that could not be removed does not act again
    /// after a restart; absent where an older version took note.
    package var file: String?

    package init(
        _ action: Action, time: String = Clock.timestamp, uid: UInt32, file: String? = nil
    ) {
        self.action = action
        self.time = time
        self.uid = uid
        self.file = file
    }

    /// The user whom the kernel names where it cannot tell who it is: in a user namespace, or on a network file
    /// system. Nobody is the same as nobody else.
    package static let nobody: UInt32 = 65534

    /// Whether it comes from the owner of a manifest.
    package func isOwners(of manifest: UInt32?) -> Bool { uid == manifest && uid != Self.nobody }
}

extension [Steering] {
    /// Whether the very file has acted before.
    package func has(fileOf act: Steering) -> Bool {
        act.file != nil && contains { $0.file == act.file }
    }
}

/// The journal's word that a finished batch was taken up again.
package struct Reopened: Codable, Sendable, Equatable {
    /// When it had finished, as its last status says.
    package var of: String
    /// How often it has been taken up with this.
    package var retries: Int
    /// What has been done to it, this included.
    package var steering: [Steering]

    /// Whether this status is the one that was reopened, and the answer to what followed is still to come.
    /// Not by the time alone, for clocks are set back.
    package func isOf(_ status: Status) -> Bool {
        status.times.finished == of && (status.retries ?? 0) == retries &- 1
    }
}

extension Status {
    package static let steeringLimit = 16

    /// Adds an act to those shown, of which the last 16 are kept.
    package mutating func note(_ act: Steering) {
        steering = Array(((steering ?? []) + [act]).suffix(Self.steeringLimit))
    }
}
