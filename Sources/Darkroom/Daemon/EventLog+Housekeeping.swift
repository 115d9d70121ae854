import Logging

/// What is said about keeping the spool tidy and visible.
extension EventLog {
    // MARK: Reports

    func metricsFailed(_ error: FileError) {
        say(
            .warning, .metricsFailed, "The metrics are not written: \(error.message)",
            [Field.error: .string(error.code)])
    }

    func reportFailed(_ error: FileError) {
        say(
            .warning, .reportFailed, "inbox.json is not up to date: \(error.message)",
            [Field.error: .string(error.code)])
    }

    // MARK: Retention

    func expired(id: String, finished: String, bytes: Int) {
        say(
            .info, .entryExpired, "outbox/\(id) removed: finished \(finished), \(bytes) bytes",
            [Field.batch: .string(id), Field.bytes: .stringConvertible(bytes)])
    }

    /// The sum of many of which not each was told.
    func expired(entries: Int, bytes: Int) {
        say(
            .notice, .entriesExpired,
            "\(entries) finished entries of the outbox removed, \(bytes) bytes",
            [Field.bytes: .stringConvertible(bytes)])
    }

    /// An entry that is old enough stays nevertheless.
    func kept(_ name: String, because reason: String) {
        say(.notice, .entryKept, "outbox/\(name) is not removed: \(reason)")
    }

    // MARK: Orphans

    func orphan(_ name: String, left reason: String) {
        say(.warning, .orphanFound, "active/\(name) is left alone: \(reason)")
    }

    func leftoversRemoved(_ count: Int) {
        let entries = count == 1 ? "1 expired entry" : "\(count) expired entries"
        say(
            .notice, .orphanFound,
            "\(entries) in active/ removed, which had been begun before the start")
    }

    func orphan(_ name: String, removed reason: String) {
        say(.notice, .orphanFound, "active/\(name) removed: \(reason)")
    }

    func staleUploads(_ stale: StaleUploads, hours: Int) {
        say(
            .notice, .uploadsStale,
            "\(files(stale.count)) in tmp/, \(stale.bytes) bytes, unchanged for \(hours) hours or longer; "
                + "the oldest is \(stale.oldest ?? "")",
            [Field.bytes: .stringConvertible(stale.bytes)])
    }

    func uploadsRemoved(_ count: Int, bytes: Int) {
        say(
            .notice, .uploadsRemoved,
            "\(files(count)) in tmp/ removed, \(bytes) bytes: unchanged for longer than retention.tmp",
            [Field.bytes: .stringConvertible(bytes)])
    }

    private func files(_ count: Int) -> String { count == 1 ? "1 file" : "\(count) files" }
}
