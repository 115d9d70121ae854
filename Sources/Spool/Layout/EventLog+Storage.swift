import DarkroomAnswer
import DarkroomCore

extension EventLog {
    /// A file of the spool could not be read or written, without further consequences.
    package func storageFailed(_ error: some CodedError, batch: String? = nil) {
        metrics.storageFailures.add(1)
        say(.storageFailed, error.message, fields(Failure(error), batch))
    }

    /// The daemon cannot continue with this spool and ends.
    package func spoolLost(_ error: some CodedError) {
        metrics.storageFailures.add(1)
        say(
            .spoolLost, "\(error.message); darkroomd cannot continue and ends",
            [.error: error.code])
    }

    /// The first record about a problem of the spool's disk. While it lasts, there are few further ones.
    package func storageWaits(_ failure: Failure, batch: String?) {
        metrics.storageFailures.add(1)
        say(
            .storageWaits,
            "\(failure.message); no further work begins until this has passed; darkroomd tries again "
                + "regularly, and nothing is lost", fields(failure, batch))
    }

    package func storageStillWaits(_ failure: Failure, since: String) {
        say(
            .storageStillWaits, "\(failure.message), since \(since); still waiting",
            fields(failure, nil))
    }

    package func storageWorksAgain(_ failure: Failure, since: String) {
        say(
            .storageWorksAgain,
            "The spool can be written to again; it could not since \(since): \(failure.message)",
            fields(failure, nil))
    }

    package func storageLost(_ failure: Failure, batch: String?) {
        metrics.storageFailures.add(1)
        say(
            .storageLost,
            "\(failure.message); the disk may have lost data, so no manifest is taken and no image begins "
                + "until the disk is repaired and darkroomd is restarted or told to go on (darkroom resume)",
            fields(failure, batch))
    }

    private func fields(_ failure: Failure, _ batch: String?) -> Fields {
        var fields: Fields = [.error: failure.code]
        if let batch { fields[.batch] = batch }
        return fields
    }
}
