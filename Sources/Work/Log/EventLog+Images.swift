import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import DarkroomSpool
import Foundation

extension EventLog {
    func downloaded(_ job: DownloadJob, bytes: Int, microseconds: UInt64, words: String = "fetched")
    {
        metrics.stage(.downloading).add(nanoseconds: microseconds * 1000)
        say(
            .imageDownloaded,
            "\(job.id): \(job.image): \(job.source.shown) \(words), \(bytes) bytes, in "
                + Words.time(microseconds: microseconds),
            fields(of: job).merging([.bytes: "\(bytes)", .microseconds: "\(microseconds)"]) { $1 })
    }

    /// A source was fetched over the network.
    func fetched(_ job: DownloadJob, _ report: TransferReport, microseconds: UInt64) {
        var words = "fetched"
        if report.redirects > 0 {
            words +=
                " after \(Words.count(report.redirects, "redirect")) from \(report.effectiveURL)"
        }
        if report.resumedFrom > 0 { words += ", continued from byte \(report.resumedFrom)" }
        if report.reusedConnection { words += ", over an open connection" }
        downloaded(job, bytes: Int(report.bytes), microseconds: microseconds, words: words)
    }

    /// A source was not fetched, but copied from the cache.
    func copied(_ job: DownloadJob, bytes: Int, microseconds: UInt64) {
        downloaded(job, bytes: bytes, microseconds: microseconds, words: "taken from the cache")
    }

    func waitsForMemory(_ job: FilterJob, bytes: Int) {
        say(
            .imageWaits,
            "\(job.id): \(job.name) waits for \(Units.bytes(bytes)) of memory",
            Self.fields(job.id, job.name, at: .filter, [.bytes: "\(bytes)"]))
    }

    package func ended(batch: String, _ image: ImageStatus, at step: Step) {
        metrics.ended(image)
        let milliseconds = image.milliseconds.downloading + image.milliseconds.filtering
        var fields = Self.fields(
            batch, image.name, at: step,
            [.state: image.state.rawValue, .microseconds: "\(milliseconds * 1000)"])
        if let attempts = image.download?.attempts { fields[.attempt] = "\(attempts)" }
        if let error = image.error {
            if let host = image.source.flatMap({ Self.host(of: ByteString($0)) }) {
                fields[.host] = host
            }
            fields[.error] = error.code
            failed(batch, image, error, fields)
        } else if image.output != nil || image.state == .filtered {
            var result = " and not published"
            if let output = image.output {
                fields[.bytes] = "\(output.bytes)"
                result = ", \(output.width) × \(output.height), \(output.bytes) bytes"
            }
            let time = Words.time(microseconds: UInt64(milliseconds) * 1000)
            say(.imageFiltered, "\(batch): \(image.name) filtered\(result), in \(time)", fields)
        }
    }

    private func failed(_ batch: String, _ image: ImageStatus, _ error: Failure, _ fields: Fields) {
        guard image.state != .cancelled else {
            return say(.imageCancelled, "\(batch): \(image.name) cancelled", fields)
        }
        let telling = withProgress { $0.failed(batch, at: $1) }
        guard telling != .count else { return }
        let hint = error.isTransient ? "; \(batch).retry may help" : ""
        say(
            .imageFailed, "\(batch): \(image.name) \(image.state.rawValue): \(error)\(hint)", fields
        )
        guard telling == .tellLast else { return }
        say(
            .failuresCounted,
            "\(batch): \(ProgressThrottle.failures) images have failed so far; further failures are only counted here; "
                + "status.json lists each of them", [.batch: batch])
    }

    // MARK: Downloads

    func retried(_ retry: Retry) {
        metrics.retries.add(1)
        var fields = Self.fields(
            retry.batch, retry.image, at: .download,
            [.error: retry.failure.code, .attempt: "\(retry.attempts)"])
        if let host = Self.host(of: retry.source) { fields[.host] = host }
        say(
            .downloadRetried,
            "\(retry.batch): attempt \(retry.attempts) of \(retry.mostAttempts) failed: \(retry.failure); next attempt in "
                + DownloadRetryPolicy.text(retry.delay), fields)
    }

    /// A folder has refused outputs or originals.
    ///
    /// - Parameters:
    ///   - what: such as `outputs cannot be delivered`.
    ///   - waiting: who waits because of it.
    func folderWaits(_ folder: String, _ what: String, of waiting: String, _ failure: Failure) {
        say(
            .deliveryWaits,
            "\(folder): \(what) there: \(failure.message); their \(waiting) wait, and darkroomd "
                + "tries again regularly", [.error: failure.code, .file: folder])
    }

    /// - Parameter what: such as `outputs can be delivered`.
    func folderWorksAgain(_ folder: String, _ what: String, since: String, _ failure: Failure) {
        say(
            .deliveryWorksAgain,
            "\(folder): \(what) there again; they could not since \(since): \(failure.message)",
            [.error: failure.code, .file: folder])
    }

    /// - Parameters:
    ///   - source: the URL whose server requests it. No transfer from its host begins.
    ///   - batches: those that wait because of it; the one that received the answer is first.
    func hostPaused(
        _ source: ByteString, seconds: Double, because failure: Failure, batches: [String]
    ) {
        say(
            .hostPaused,
            "\(RedactedURL.text(source.string)): the server asks for a pause of \(DownloadRetryPolicy.text(seconds)); no download "
                + "from its host begins before \(Clock.timestamp(.now + seconds))",
            [
                .error: failure.code, .host: Self.host(of: source) ?? "",
                .microseconds: "\(UInt64(clamping: seconds * 1e6))",
            ], batches: batches)
    }

    /// Reports whether an answer that could be useful to others was kept in the cache.
    func cacheDecided(_ job: DownloadJob, kept: Bool) {
        say(
            .cacheDecided,
            "\(job.id): \(job.source.shown) is "
                + (kept
                    ? "kept in the cache"
                    : "not kept in the cache: the response does not allow it, or there is no room"),
            Self.fields(job.id, job.image, at: .download))
    }

    /// The server of a source, `name:port`; nil if it has none, or if that text may contain a secret.
    private static func host(of source: ByteString) -> String? {
        // The redacted text is used, because another reading of the source might take a password for the host.
        SourceReference.host(of: ByteString(RedactedURL.text(source.string))).flatMap {
            $0.contains("…") ? nil : $0.string
        }
    }

    static func fields(
        _ batch: String, _ image: String, at step: Step, _ others: Fields = [:]
    ) -> Fields {
        ([.batch: batch, .image: image, .step: step.rawValue] as Fields).merging(others) { $1 }
    }

    private func fields(of job: DownloadJob) -> Fields {
        var fields = Self.fields(job.id, job.image, at: .download)
        if let host = Self.host(of: job.source.text) { fields[.host] = host }
        if let attempt = job.attempt { fields[.attempt] = "\(attempt)" }
        return fields
    }
}
