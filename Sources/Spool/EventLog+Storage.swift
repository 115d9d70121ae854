import DarkroomCore

/// What is said about trouble with the spool's disk.
extension EventLog {
    /// Something of the spool could not be read or written, and nothing else suffers from it.
    package func storageFailed(_ error: some CodedError, batch: String? = nil) {
        metrics.storageFailures.add(1)
        say(.storageFailed, error.message, fields(Failure(error), batch))
    }

    /// The daemon cannot go on with this spool, and ends.
    package func spoolLost(_ error: some CodedError) {
        metrics.storageFailures.add(1)
        say(
            .spoolLost, "\(error.message); darkroomd ends, for it cannot go on without it",
            [.error: error.code])
    }

    /// The first word about trouble with the spool's disk; others follow while it lasts, but seldom.
    package func storageWaits(_ failure: Failure, batch: String?) {
        metrics.storageFailures.add(1)
        say(
            .storageWaits,
            "\(failure.message); nothing new begins until that has passed, which is tried again and "
                + "again, and nothing is lost", fields(failure, batch))
    }

    package func storageStillWaits(_ failure: Failure, since: String) {
        say(
            .storageStillWaits, "\(failure.message), as since \(since); still waiting",
            fields(failure, nil))
    }

    package func storageWorksAgain(_ failure: Failure, since: String) {
        say(
            .storageWorksAgain,
            "The spool takes writes again; it did not since \(since): \(failure.message)",
            fields(failure, nil))
    }

    package func storageLost(_ failure: Failure, batch: String?) {
        metrics.storageFailures.add(1)
        say(
            .storageLost,
            "\(failure.message); the disk may have lost data, so no manifest is taken and no image begun "
                + "until the disk is in order and darkroomd is restarted or gets SIGUSR2",
            fields(failure, batch))
    }

    private func fields(_ failure: Failure, _ batch: String?) -> Fields {
        var fields: Fields = [.error: failure.code]
        if let batch { fields[.batch] = batch }
        return fields
    }
}
