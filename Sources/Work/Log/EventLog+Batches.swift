import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import FoundationEssentials

/// The records of a manifest, from its submission to its end.
extension EventLog {
    /// - Parameter dropped: when its file was last changed, for example by the rename into the inbox, in seconds since
    ///   1970; nil if this is not known.
    package func claimed(_ status: Status, dropped: Double? = nil) {
        metrics.accepted.add(1)
        let manifest = status.manifest
        var fields = fields(of: manifest, status)
        var words =
            "\(manifest.name) claimed as \(status.id): \(Words.count(status.counts.total, "image")), "
            + "\(manifest.bytes) bytes"
        if let uid = manifest.uid { words += ", submitted by user \(uid)" }
        if let dropped, let received = Clock.date(status.times.received)?.timeIntervalSince1970,
            received >= dropped
        {
            let microseconds = UInt64(clamping: ((received - dropped) * 1e6).rounded())
            fields[.microseconds] = "\(microseconds)"
            // A rename into the inbox changes the file, and so do later calls of chmod and chgrp.
            words += ", last changed \(Words.time(microseconds: microseconds)) before"
        }
        if status.priority != .normal { words += ", priority \(status.priority.rawValue)" }
        fields[.count] = "\(status.counts.total)"
        say(.batchClaimed, words, fields)
    }

    package func rejected(_ status: Status) {
        metrics.ended(status)
        let problems = status.errors ?? []
        let first = problems.first.map(\.summary) ?? ""
        let more =
            problems.count > 1 ? ", and \(problems.count - 1) more, all in its status.json" : ""
        var fields = fields(of: status.manifest, status)
        fields[.error] = problems.first?.code ?? ""
        say(
            .batchRejected, "\(status.manifest.name) rejected as \(status.id): \(first)\(more)",
            fields)
    }

    /// A file was too large for its entry in the outbox.
    ///
    /// - Parameter name: its name in `tmp`.
    package func givenBack(id: String, _ name: FileName) {
        say(
            .manifestGivenBack, "\(id): what was submitted was moved back to tmp/\(name.text)",
            [.batch: id, .file: name.text])
    }

    package func resumed(_ batch: PreparedBatch) {
        metrics.resumed.add(1)
        let status = batch.status
        let held = status.state == .held ? ", and held" : ""
        say(
            .batchResumed,
            "\(status.id) resumed: \(status.counts.finished) of "
                + "\(Words.count(status.counts.total, "image")) done\(held)",
            fields(of: status, [.count: "\(status.counts.total - status.counts.finished)"]))
    }

    /// Reports unfinished images of a resumed batch during whose work a process has died since the last start.
    package func suspected(_ batch: PreparedBatch) {
        for (index, crashes) in batch.crashes.sorted(by: { $0.key < $1.key })
        where batch.suspects.contains(index) && batch.status.images.indices.contains(index)
            && !batch.status.images[index].state.isFinal && !crashes.shouldQuarantine
        {
            let name = batch.status.images[index].name
            let causes = crashes.all.map(\.rawValue).joined(separator: ", ")
            let (program, countsKills) =
                crashes.victim == .daemon ? ("darkroomd", true) : ("darkroom run", false)
            say(
                .imageSuspected,
                "\(batch.status.id): \(name) was being filtered when \(program) ended (\(causes)); it is"
                    + " retried when the other running images have ended"
                    + (crashes.all.contains(where: \.isEvidence)
                        ? "" : "; a kill counts \(countsKills ? "only the fifth time" : "never")"),
                Self.fields(
                    batch.status.id, name, at: .filter,
                    [.error: crashes.all.last?.rawValue ?? ""]))
        }
    }

    /// The first image of the batch since this start of the daemon has been given a place.
    func begun(_ batch: BatchBeginning) {
        withProgress { $0.begun(batch.id, at: $1) }
        let waited =
            batch.waited.map { ", \(Words.time(microseconds: $0)) after it was claimed" } ?? ""
        say(
            .batchBegun,
            "\(batch.id) \(batch.isContinued ? "continues" : "begins"): "
                + "\(Words.count(batch.images, "image")) to process\(waited)",
            [
                .batch: batch.id, .state: BatchState.processing.rawValue,
                .count: "\(batch.images)",
            ])
    }

    /// A status was written while its batch is in work. Only some of these writes are reported.
    func progressed(_ status: Status) {
        let counts = status.counts
        guard withProgress({ $0.progressed(status.id, ended: counts.finished, at: $1) }) else {
            return
        }
        let failed = counts.failed > 0 ? ", \(counts.failed) of them failed\(reasons(status))" : ""
        let waiting = status.waiting.map { "; waiting: \($0.message)" } ?? ""
        say(
            .batchProgressed,
            "\(status.id): \(counts.finished) of \(Words.count(counts.total, "image")) have ended"
                + "\(failed)\(waiting)",
            fields(of: status, [.count: "\(counts.finished)", .failed: "\(counts.failed)"]))
    }

    /// - Parameter microseconds: the time since it began, before a restart or after it.
    package func finished(_ status: Status, microseconds: UInt64) {
        metrics.ended(status)
        withProgress { progress, _ in progress.ended(status.id) }
        let counts = status.counts
        let warnings = counts.warningText.map { " (\($0))" } ?? ""
        var parts = ["\(counts.filtered) filtered\(warnings)"]
        if counts.failed > 0 { parts.append("\(counts.failed) failed\(reasons(status))") }
        if counts.cancelled > 0 { parts.append("\(counts.cancelled) cancelled") }
        say(
            .batchFinished, worse: counts.failed > 0,
            "\(status.id) \(status.state.words): \(Words.count(counts.total, "image")), "
                + "\(parts.joined(separator: ", ")), in \(Words.time(microseconds: microseconds))"
                + sinceItsClaim(status, microseconds),
            fields(
                of: status,
                [
                    .microseconds: "\(microseconds)", .count: "\(counts.total)",
                    .failed: "\(counts.failed)", .warnings: "\(counts.warned)",
                ]))
    }

    package func batchRemoved(_ status: Status) {
        say(
            .batchRemoved,
            "\(status.id): its folder in active/ was removed; its unfinished images have failed",
            fields(of: status, [.error: Failure.batchRemoved]))
    }

    package func pageFailed(_ failure: Failure, batch id: String) {
        say(
            .pageFailed, "\(id): its page cannot be made: \(failure.message)",
            [.batch: id, .error: failure.code])
    }

    // MARK: Commands

    package func obeyed(id: String, _ command: ControlRecord) {
        let form = command.command.form
        say(
            form.event, "\(id) \(form.words) (by user \(command.uid))",
            [.batch: id, .user: "\(command.uid)"])
    }

    package func reopened(_ status: Status, uid: UInt32) {
        let form = ControlCommand.retry.form
        say(
            form.event,
            "\(status.id) \(form.words): \(status.counts.new) of "
                + "\(Words.count(status.counts.total, "image")) to process (by user \(uid))",
            fields(of: status, [.user: "\(uid)", .count: "\(status.counts.new)"]))
    }

    // MARK: Internals

    func fields(of status: Status, _ others: Fields) -> Fields {
        ([.batch: status.id, .state: status.state.rawValue] as Fields).merging(others) { $1 }
    }

    private func fields(of manifest: Status.ManifestReference, _ status: Status) -> Fields {
        var fields = fields(of: status, [.file: manifest.name, .bytes: "\(manifest.bytes)"])
        if let uid = manifest.uid { fields[.user] = "\(uid)" }
        return fields
    }

    /// `retention.originals` is set, but the submitted folder is not in the answer.
    package func originalsRefused(_ error: FileError, batch: String) {
        say(
            .originalsRefused,
            "The pictures that came with batch \(batch) are not kept in its answer (retention.originals): \(error.message)",
            [.batch: batch, .error: error.code])
    }

    /// The codes of the failed images, with the number of each.
    private func reasons(_ status: Status) -> String {
        var counts: [String: Int] = [:]
        for image in status.images where image.state == .failed {
            if let code = image.error?.code { counts[code, default: 0] += 1 }
        }
        return counts.isEmpty ? "" : " (\(Words.reasons(counts)))"
    }

    /// Given if the batch only waited for much of the time.
    private func sinceItsClaim(_ status: Status, _ microseconds: UInt64) -> String {
        guard status.retries == nil,
            let all = Clock.microseconds(from: status.times.received, to: status.times.finished),
            all > microseconds + 1_000_000
        else { return "" }
        return ", \(Words.time(microseconds: all)) after it was claimed"
    }
}
