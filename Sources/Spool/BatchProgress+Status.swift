import DarkroomCore

extension BatchProgress {
    /// The progress of a batch whose answer an older version wrote, without such a file. The sizes of the outputs are
    /// counted only if the status has its images.
    package init(olderAnswer status: Status) {
        self.init(
            id: status.id, identity: status.manifest.identity, uid: status.manifest.uid,
            state: status.state, priority: status.priority, counts: status.counts,
            times: status.times, retries: status.retries,
            outputBytes: status.images.map { $0.output?.bytes ?? 0 }.saturatingSum(),
            waiting: status.waiting, commands: status.commands,
            written: status.written ?? status.times.finished ?? status.times.received)
    }
}
