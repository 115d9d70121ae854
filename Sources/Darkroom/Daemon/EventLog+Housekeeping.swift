/// What is said about keeping the spool tidy and visible.
extension EventLog {
    // MARK: Reports

    func metricsFailed(_ error: FileError) {
        say(
            .metricsFailed, "The metrics are not written: \(error.message)", [.error: error.code])
    }

    func reportFailed(_ error: FileError) {
        say(.reportFailed, "inbox.json is not up to date: \(error.message)", [.error: error.code])
    }

    // MARK: Retention

    func expired(id: String, finished: String, bytes: Int) {
        say(
            .entryExpired, "outbox/\(id) removed: finished \(finished), \(Units.bytes(bytes))",
            [.batch: id, .bytes: "\(bytes)"])
    }

    /// The sum of many of which not each was told.
    func expired(entries: Int, bytes: Int) {
        say(
            .entriesExpired,
            "\(entries) finished entries of the outbox removed, \(Units.bytes(bytes))",
            [.bytes: "\(bytes)", .count: "\(entries)"])
    }

    /// An entry that is old enough stays nevertheless.
    func kept(_ name: String, because reason: String) {
        say(.entryKept, "outbox/\(name) is not removed: \(reason)", [.batch: name])
    }

    // MARK: Orphans

    func orphan(_ name: String, left reason: String) {
        say(.orphanFound, "active/\(name) is left alone: \(reason)", [.file: name])
    }

    func leftoversRemoved(_ count: Int) {
        say(
            .orphanRemoved,
            "\(Words.count(count, "expired entry", "expired entries")) in active/ removed, which had been begun "
                + "before the start", [.count: "\(count)"])
    }

    func orphan(_ name: String, removed reason: String) {
        say(.orphanRemoved, "active/\(name) removed: \(reason)", [.count: "1"])
    }

    func staleUploads(_ stale: StaleUploads, hours: Int) {
        say(
            .uploadsStale,
            "\(Words.count(stale.count, "file")) in tmp/, \(Units.bytes(stale.bytes)), unchanged for \(hours) hours or "
                + "longer; the oldest is \(stale.oldest ?? "")",
            [.bytes: "\(stale.bytes)", .count: "\(stale.count)"])
    }

    func uploadsRemoved(_ count: Int, bytes: Int) {
        say(
            .uploadsRemoved,
            "\(Words.count(count, "file")) in tmp/ removed, \(Units.bytes(bytes)): unchanged for longer than retention.tmp",
            [.bytes: "\(bytes)", .count: "\(count)"])
    }
}
