import Logging

/// The kinds of records in the journal. Each has a fixed id, by which `journalctl MESSAGE_ID=…` finds it and
/// the message catalog explains it.
package enum Event: String, Sendable, CaseIterable {
    case started = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e001"
    case stopping = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e002"
    case stopped = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e003"
    case configured = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e004"
    case reloadRefused = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e005"
    case paused = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e006"
    case resumed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e007"
    case watching = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e008"
    case inboxLost = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e009"
    case eventsLost = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e00a"
    case notTaken = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e00b"
    case entryExpired = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e060"
    case entriesExpired = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e061"
    case entryKept = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e062"
    case orphanFound = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e063"
    case uploadsStale = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e064"
    case uploadsRemoved = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e065"
    case metricsFailed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e066"
    case reportFailed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e067"
    case headersExposed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e070"
    case cacheOpened = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e078"
    case cacheUnused = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e079"
    case cacheDiscarded = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e07a"
    case cacheTroubled = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e07b"
    case cacheEvicted = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e07c"
    case batchClaimed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e010"
    case batchRejected = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e011"
    case batchResumed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e012"
    case batchFinished = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e013"
    case batchCancelled = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e014"
    case batchHeld = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e040"
    case batchReleased = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e041"
    case batchReopened = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e042"
    case controlIdle = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e043"
    case controlRefused = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e044"
    case imageDownloaded = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e020"
    case imageFiltered = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e021"
    case imageFailed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e022"
    case storageFailed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e030"
    case storageWaits = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e031"
    case storageStillWaits = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e032"
    case storageWorksAgain = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e033"
    case storageLost = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e034"
    case batchRemoved = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e035"
    case imageSuspected = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e050"
    case workStuck = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e051"
    case downloadRetried = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e074"
    case hostPaused = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e075"
}

/// What Darkroom has to say, one method a kind of event, so that the words and fields of an event are the
/// same wherever it comes from. What it says of manifests and images it also counts, so that the metrics and
/// the journal agree.
package struct EventLog: Sendable {
    private let logger: Logger
    let metrics = Metrics()

    package init(_ logger: Logger) {
        self.logger = logger
    }

    /// The fields of a record beside its message; the handler gives them their journal names.
    package enum Field {
        package static let event = "event"
        package static let batch = "batch"
        package static let image = "image"
        package static let state = "state"
        package static let step = "step"
        package static let error = "error"
        package static let microseconds = "usec"
        package static let bytes = "bytes"
    }

    func say(
        _ level: Logger.Level, _ event: Event, _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> Logger.Metadata = [:], file: String = #fileID,
        function: String = #function, line: UInt = #line
    ) {
        guard logger.logLevel <= level else { return }
        var metadata = fields()
        metadata[Field.event] = .string(event.rawValue)
        logger.log(
            level: level, .init(stringLiteral: message()), metadata: metadata, file: file,
            function: function, line: line)
    }

    // MARK: The daemon

    package func started(version: String, spool: String, paused: Bool) {
        say(
            .notice, .started,
            "Darkroom \(version) watches \(spool)\(paused ? ", paused as it was left" : "")")
    }

    package func configured(_ summary: String) { say(.info, .configured, summary) }

    package func rootMissing(_ root: String) {
        say(.warning, .configured, "The source root \(root) is not a folder that can be opened")
    }

    package func headersExposed(_ path: String) {
        say(
            .warning, .headersExposed,
            "\(path), which has the secrets of downloads.headers, can be read by every user of this machine"
        )
    }

    package func reloadRefused(_ reason: String) {
        say(.error, .reloadRefused, "The configuration stays as it was: \(reason)")
    }

    package func stopping(signal: String, running: Int) {
        say(
            .notice, .stopping,
            "Stopping (\(signal)): \(running) \(running == 1 ? "operation" : "operations") finishing"
        )
    }

    package func stopped(unfinished: Int) {
        say(
            .notice, .stopped,
            unfinished == 0
                ? "Stopped; nothing is left to do"
                : "Stopped; \(unfinished) unfinished \(unfinished == 1 ? "batch" : "batches") "
                    + "will be resumed at the next start")
    }

    package func paused() { say(.notice, .paused, "Paused: nothing new starts until SIGUSR2") }

    package func resumed() { say(.notice, .resumed, "Resumed") }

    // MARK: The inbox

    package func watching(_ path: String) { say(.info, .watching, "Watching \(path)") }

    package func polling(_ path: String, every seconds: Double, because error: FileError) {
        say(
            .warning, .watching,
            "Looking into \(path) every \(seconds) seconds, for inotify does not work: "
                + error.message, [Field.error: .string(error.code)])
    }

    package func inboxLost(_ path: String) {
        say(.warning, .inboxLost, "\(path) was removed, renamed or unmounted; putting it back")
    }

    package func eventsLost(_ path: String) {
        metrics.overflows.add(1)
        say(.warning, .eventsLost, "inotify lost events of \(path); scanning it")
    }

    package func notTaken(_ name: String, because reason: String) {
        say(.notice, .notTaken, "inbox/\(name) is not taken: \(reason)")
    }

    /// The sum of many of which not each was told.
    func notTaken(more count: Int) {
        let files = count == 1 ? "1 more file in inbox/ is" : "\(count) more files in inbox/ are"
        say(.notice, .notTaken, "\(files) not taken; inbox.json says why")
    }

    // MARK: Batches

    package func claimed(_ status: Status) {
        metrics.accepted.add(1)
        say(
            .info, .batchClaimed,
            "\(status.manifest.name) claimed as \(status.id): \(images(status.counts.total))",
            [Field.batch: .string(status.id), Field.state: .string(status.state.rawValue)])
    }

    package func rejected(_ status: Status) {
        metrics.ended(status)
        let problems = status.errors ?? []
        let first = problems.first.map(\.summary) ?? ""
        let more = problems.count > 1 ? ", and \(problems.count - 1) more" : ""
        say(
            .warning, .batchRejected, "\(status.manifest.name) rejected: \(first)\(more)",
            [
                Field.batch: .string(status.id), Field.state: .string(status.state.rawValue),
                Field.error: .string(problems.first?.code ?? ""),
            ])
    }

    package func resumed(_ batch: PreparedBatch) {
        metrics.resumed.add(1)
        let status = batch.status
        say(
            .info, .batchResumed,
            "\(status.id) resumed: \(status.counts.finished) of \(images(status.counts.total)) done",
            [Field.batch: .string(status.id), Field.state: .string(status.state.rawValue)])
    }

    /// Images of a resumed batch that a process died with, and that have not ended since.
    package func suspected(_ batch: PreparedBatch) {
        for (index, crashes) in batch.crashes.sorted(by: { $0.key < $1.key })
        where batch.status.images.indices.contains(index)
            && !batch.status.images[index].state.isFinal && !crashes.isConviction
        {
            let name = batch.status.images[index].name
            let causes = crashes.all.map(\.rawValue).joined(separator: ", ")
            say(
                .warning, .imageSuspected,
                "\(batch.status.id): \(name) was being filtered when darkroomd died (\(causes)), the last"
                    + " time or earlier; it is tried again, alone",
                [
                    Field.batch: .string(batch.status.id), Field.image: .string(name),
                    Field.error: .string(crashes.all.last?.rawValue ?? ""),
                ])
        }
    }

    package func finished(_ status: Status, microseconds: UInt64) {
        metrics.ended(status)
        let counts = status.counts
        var parts = ["\(counts.filtered) filtered"]
        if counts.failed > 0 { parts.append("\(counts.failed) failed") }
        if counts.cancelled > 0 { parts.append("\(counts.cancelled) cancelled") }
        say(
            counts.failed > 0 ? .warning : .notice, .batchFinished,
            "\(status.id) \(status.state.words): \(images(counts.total)), "
                + "\(parts.joined(separator: ", ")), in \(microseconds / 1000) ms",
            [
                Field.batch: .string(status.id), Field.state: .string(status.state.rawValue),
                Field.microseconds: .stringConvertible(microseconds),
            ])
    }

    // MARK: Control files

    package func steered(id: String, _ steering: Steering) {
        let event: Event
        let words: String
        switch steering.action {
        case .cancel: (event, words) = (.batchCancelled, "is being cancelled")
        case .hold: (event, words) = (.batchHeld, "is held: no further image begins")
        case .release: (event, words) = (.batchReleased, "is released")
        case .retry: (event, words) = (.batchReopened, "is taken up again")
        }
        say(
            .notice, event, "\(id) \(words) (by user \(steering.uid))",
            [Field.batch: .string(id)])
    }

    package func reopened(_ status: Status, uid: UInt32) {
        say(
            .notice, .batchReopened,
            "\(status.id) is taken up again: \(status.counts.new) of "
                + "\(images(status.counts.total)) to be done (by user \(uid))",
            [Field.batch: .string(status.id), Field.state: .string(status.state.rawValue)])
    }

    func controlIdle(_ request: ControlRequest, because reason: String) {
        say(
            .notice, .controlIdle, "\(request.file.name.text) does nothing: \(reason)",
            [Field.batch: .string(request.file.ids[0])])
    }

    func controlRefused(_ request: ControlRequest, owner: UInt32?) {
        say(
            .warning, .controlRefused,
            "\(request.file.name.text) is refused: it is user \(request.steering.uid)’s, and the "
                + "manifest \(owner.map { "user \($0)’s" } ?? "of an unknown owner")",
            [Field.batch: .string(request.file.ids[0])])
    }

    // MARK: Images

    func downloaded(
        _ job: DownloadJob, bytes: Int, microseconds: UInt64, words: String = "fetched"
    ) {
        metrics.stage(.downloading).add(nanoseconds: microseconds * 1000)
        let batch = job.folders.id
        say(
            .info, .imageDownloaded,
            "\(batch): \(RedactedURL.text(job.text)) \(words), \(bytes) bytes",
            [
                Field.batch: .string(batch), Field.image: .string(job.image),
                Field.step: .string(Step.download.rawValue),
                Field.bytes: .stringConvertible(bytes),
                Field.microseconds: .stringConvertible(microseconds),
            ])
    }

    /// A source was not fetched but copied from the cache.
    func copied(_ job: DownloadJob, bytes: Int, microseconds: UInt64) {
        downloaded(job, bytes: bytes, microseconds: microseconds, words: "taken from the cache")
    }

    package func ended(batch: String, _ image: ImageStatus, at step: Step) {
        metrics.ended(image)
        let milliseconds = image.milliseconds.downloading + image.milliseconds.filtering
        var fields: Logger.Metadata = [
            Field.batch: .string(batch), Field.image: .string(image.name),
            Field.state: .string(image.state.rawValue), Field.step: .string(step.rawValue),
            Field.microseconds: .stringConvertible(milliseconds * 1000),
        ]
        if let error = image.error {
            fields[Field.error] = .string(error.code)
            say(
                image.state == .cancelled ? .info : .warning, .imageFailed,
                "\(batch): \(image.name) \(image.state.rawValue): \(error)", fields)
        } else if let output = image.output {
            fields[Field.bytes] = .stringConvertible(output.bytes)
            say(
                .info, .imageFiltered,
                "\(batch): \(image.name) filtered, \(output.width) × \(output.height), "
                    + "\(output.bytes) bytes", fields)
        }
    }

    // MARK: Trouble

    package func storageFailed(_ error: some CodedError, batch: String? = nil) {
        metrics.storageFailures.add(1)
        var fields: Logger.Metadata = [Field.error: .string(error.code)]
        if let batch { fields[Field.batch] = .string(batch) }
        say(.critical, .storageFailed, "\(error.message)", fields)
    }

    /// The first word about trouble with the spool's disk; others follow while it lasts, but seldom.
    package func storageWaits(_ failure: Failure, batch: String?) {
        metrics.storageFailures.add(1)
        say(
            .critical, .storageWaits,
            "\(failure.message); nothing new begins until that has passed, which is tried again and "
                + "again, and nothing is lost", fields(failure, batch))
    }

    package func storageStillWaits(_ failure: Failure, since: String) {
        say(
            .warning, .storageStillWaits, "\(failure.message), as since \(since); still waiting",
            fields(failure, nil))
    }

    package func storageWorksAgain(_ failure: Failure, since: String) {
        say(
            .notice, .storageWorksAgain,
            "The spool takes writes again; it did not since \(since): \(failure.message)",
            fields(failure, nil))
    }

    package func storageLost(_ failure: Failure, batch: String?) {
        metrics.storageFailures.add(1)
        say(
            .critical, .storageLost,
            "\(failure.message); the disk may have lost data, so no manifest is taken and no image begun "
                + "until the disk is in order and darkroomd is restarted or gets SIGUSR2",
            fields(failure, batch))
    }

    package func batchRemoved(_ status: Status) {
        say(
            .warning, .batchRemoved,
            "\(status.id): its folder in active/ was removed; what was not done of it has failed",
            [
                Field.batch: .string(status.id), Field.state: .string(status.state.rawValue),
                Field.error: .string(Failure.batchRemoved),
            ])
    }

    private func fields(_ failure: Failure, _ batch: String?) -> Logger.Metadata {
        var fields: Logger.Metadata = [Field.error: .string(failure.code)]
        if let batch { fields[Field.batch] = .string(batch) }
        return fields
    }

    private func images(_ count: Int) -> String { count == 1 ? "1 image" : "\(count) images" }
}

extension BatchState {
    /// The state as part of a sentence.
    package var words: String {
        switch self {
        case .pending: "pending"
        case .processing: "processing"
        case .held: "held"
        case .completed: "completed"
        case .completedWithErrors: "completed with errors"
        case .cancelled: "cancelled"
        case .rejected: "rejected"
        }
    }
}

extension ManifestProblem {
    /// The problem in one line, its place first.
    package var summary: String {
        var parts: [String] = []
        if let line, let column { parts.append("line \(line), column \(column)") }
        if !path.isEmpty { parts.append(path) }
        let hint = suggestion.map { "; did you mean \($0)?" } ?? ""
        let place = parts.isEmpty ? "" : parts.joined(separator: ", ") + ": "
        return place + message + hint
    }
}
