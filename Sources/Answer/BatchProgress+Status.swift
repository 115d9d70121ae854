import DarkroomCore

extension BatchProgress {
    /// A status of so few images is read as quickly as a progress.
    package static let fewImages = 16

    /// Whether a batch has the file from its receipt on. Otherwise it is first written when the batch is half a second in
    /// work, or when it is held or ends.
    package static func isNeeded(for status: Status) -> Bool {
        status.state != .pending || status.counts.total > fewImages
    }

    /// What a status tells of the progress, for an answer without this file: of a run, or by an older version. The sizes of
    /// the outputs are counted only if the status has its images.
    package init(toldBy status: Status) {
        self.init(
            of: status, outputBytes: status.images.map { $0.output?.bytes ?? 0 }.saturatingSum())
        commands = status.commands
        written = status.written ?? status.times.finished ?? status.times.received
    }
}
