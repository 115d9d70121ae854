import DarkroomCore

/// What a control file asks for: the ending of its name, as in `ID.hold`.
///
/// This is the one table of the commands; a test holds the manual pages, the schema and the catalog of the journal
/// against it. A command that sets a `ControlState` is complete with its row here, and a new state with
/// `Board+Control.swift`. One that acts on finished batches has a file of its own, as `retry` has `Reopening.swift`.
///
/// Who may give a command is the same for all of them: see `ControlRecord.isPermitted`.
package enum ControlCommand: String, Codable, Sendable, CaseIterable {
    case cancel, hold, release, retry

    /// The command's row of the table.
    package var form: Form {
        switch self {
        case .cancel:
            Form(
                .sets(.cancelled), .batchCancelled, "is being cancelled",
                summary:
                    "Cancels a manifest: waiting images end at once, running filters at their next "
                    + "rows, transfers within a second.",
                remark: "Finished images stay.")
        case .hold:
            Form(
                .sets(.held), .batchHeld, "is held: no further image begins", mayMeanNext: true,
                summary: "Holds a manifest: none of its downloads or filters begins.",
                remark: "Running ones finish.")
        case .release:
            Form(.sets(.free), .batchReleased, "is released", summary: "Ends a hold.")
        case .retry:
            Form(
                .reopens, .batchReopened, "is reopened",
                summary: "Reopens a finished manifest: repeats images that failed, were cancelled, "
                    + "or whose output was removed.",
                remark: "The others stay unchanged.")
        }
    }
}

extension ControlCommand {
    /// What a command does to the batch that it names.
    package enum Effect: Sendable, Equatable {
        /// An unfinished batch has this state from then on, or one that is still a manifest in the inbox.
        case sets(ControlState)
        /// A finished batch is taken up again (`Reopening`).
        case reopens

        /// Whether it concerns finished batches, and no others.
        package var isForFinished: Bool {
            switch self {
            case .sets: false
            case .reopens: true
            }
        }

        /// Whether a batch, so far a manifest in the inbox or finished, would be one more of those that wait. One that
        /// is cancelled ends at once.
        package var needsRoom: Bool {
            switch self {
            case .sets(.cancelled): false
            case .sets(.free), .sets(.held), .reopens: true
            }
        }
    }

    /// All that is particular to a command.
    package struct Form: Sendable {
        package let effect: Effect
        /// The kind of record in the journal that tells of it.
        package let event: Event
        /// What the record says of the batch.
        package let words: String
        /// Whether it may mean a manifest that is still to come although a batch of its name has ended: a hold is
        /// put there before its manifest, while a cancellation may come too late for the former one and is not to
        /// end the next.
        package let mayMeanNext: Bool
        /// One sentence on what it does. The manual begins with it.
        package let summary: String
        /// What the manual says after that.
        package let remark: String?

        fileprivate init(
            _ effect: Effect, _ event: Event, _ words: String, mayMeanNext: Bool = false,
            summary: String, remark: String? = nil
        ) {
            self.effect = effect
            self.event = event
            self.words = words
            self.mayMeanNext = mayMeanNext
            self.summary = summary
            self.remark = remark
        }
    }
}
