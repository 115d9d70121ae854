import DarkroomCore

/// A command of a control file: the extension of the file's name, as in `ID.hold`.
///
/// This is the table of all commands. A test compares the manual pages, the schema and the journal's catalog with it. A new
/// command needs a row here, its records in `Event.swift` and `Event+Form.swift`, and for people a type in
/// `ControlCommands.swift` and a row in `CommandTable.swift`. A new `ControlState` also needs `Board+Control.swift`. A command
/// for finished batches has a file of its own, as `retry` has `Reopening.swift` and `remove` has `Removal.swift`.
///
/// The same users may give each command: see `ControlRecord.isPermitted`.
package enum ControlCommand: String, Codable, Sendable, CaseIterable {
    case cancel, hold, release, retry, remove

    package var form: Form {
        switch self {
        case .cancel:
            Form(
                effect: .sets(.cancelled), event: .batchCancelled, words: "is being cancelled",
                summary:
                    "Cancel a batch: waiting images end at once, running filters end after a few "
                    + "rows, transfers end within a second.",
                remark: "Finished images stay.")
        case .hold:
            Form(
                effect: .sets(.held), event: .batchHeld, words: "is held: no further image begins",
                mayMeanNext: true,
                summary: "Hold a batch: none of its downloads or filters begins.",
                remark: "Running ones finish.")
        case .release:
            Form(
                effect: .sets(.free), event: .batchReleased, words: "is released",
                summary: "End a hold.")
        case .retry:
            Form(
                effect: .reopens, event: .batchReopened, words: "is reopened",
                summary:
                    "Repeat the failed and the cancelled images of a finished batch, and those whose "
                    + "output was removed.",
                remark: "The others stay unchanged.")
        case .remove:
            Form(
                effect: .removes, event: .answerRemoved, words: "removed",
                summary: "Remove the answer of a finished batch from the outbox.",
                remark: "An unfinished one must be cancelled first.")
        }
    }

    package enum Effect: Sendable, Equatable {
        /// Sets the state of an unfinished batch, or of a manifest in the inbox.
        case sets(ControlState)
        /// Reopens a finished batch (`Reopening`).
        case reopens
        /// Removes the answer of a finished batch (`Removal`).
        case removes

        package var isForFinished: Bool {
            switch self {
            case .sets: false
            case .reopens, .removes: true
            }
        }

        /// Whether a manifest in the inbox, or a finished batch, would become another waiting batch. A cancelled one
        /// ends at once.
        package var needsRoom: Bool {
            switch self {
            case .sets(.cancelled), .removes: false
            case .sets(.free), .sets(.held), .reopens: true
            }
        }
    }

    package struct Form: Sendable {
        package let effect: Effect
        /// The kind of its journal record.
        package let event: Event
        /// The text of the record, after the ID of the batch.
        package let words: String
        /// Whether the command may apply to a manifest that is not in the inbox yet, although a batch with its name has
        /// ended: a hold comes before its manifest. A cancellation may be too late for the ended batch, and must not
        /// cancel the next one.
        package var mayMeanNext = false
        /// One sentence about the effect, as `darkroom --help` says it of each subcommand. It begins with its verb.
        package let summary: String
        /// The rest of the text in the manual.
        package var remark: String?
    }
}
