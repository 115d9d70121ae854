import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import DarkroomPicture
import DarkroomSpool
import DarkroomWork
import Synchronization

/// Writes the metrics in Prometheus' text format, version 0.0.4, for node_exporter's textfile collector.
///
/// Each series has the label `spool`: one node_exporter may read the files of several daemons, and refuses all of them
/// if two contain the same series. For the same reason the start time is not called `process_start_time_seconds`,
/// because node_exporter has its own series of that name.
struct MetricsText {
    private(set) var text = ""
    private let spool: String

    static func write(_ metrics: Metrics, _ moment: MetricsMoment) -> String {
        var text = MetricsText(spool: moment.spool)
        text.writeDaemon(metrics, moment)
        text.writeWork(metrics, moment)
        text.writeInbox(metrics)
        text.writeHotFolders(moment)
        text.writeStorage(metrics, moment)
        text.writeCache(metrics, moment)
        text.writeResults(metrics, moment)
        return text.text
    }

    private init(spool: String) { self.spool = spool }

    // MARK: The families

    private mutating func writeDaemon(_ metrics: Metrics, _ moment: MetricsMoment) {
        gauge("darkroom_up", "1 while darkroomd runs, 0 after it has stopped.", moment.isRunning)
        family(
            "darkroom_build_info", .gauge, "Always 1; the version is in the label.",
            by: "version", [(moment.version, 1)])
        gauge(
            "darkroom_start_time_seconds", "When darkroomd started, in seconds since 1970.",
            moment.startTime)
        gauge("darkroom_paused", "1 while darkroomd is paused (darkroom pause).", moment.isPaused)
        gauge(
            "darkroom_claiming", "1 while manifests are taken from the inbox.",
            metrics.inboxSummary.isClaiming && moment.isRunning)
    }

    private mutating func writeWork(_ metrics: Metrics, _ moment: MetricsMoment) {
        let summary = moment.summary
        counter(
            "darkroom_manifests_accepted_total", "Valid manifests that were taken from the inbox.",
            metrics.accepted)
        counter(
            "darkroom_manifests_resumed_total",
            "Unfinished manifests that darkroomd found at its start.", metrics.resumed)
        family(
            "darkroom_manifests_total", .counter, "Manifests that have ended, by state.",
            by: "state",
            BatchState.allCases.filter(\.isFinal).map {
                ($0.rawValue, metrics.manifests[$0.rawValue])
            })
        family(
            "darkroom_images_total", .counter,
            "Images that have ended, by state; cancelled ones are counted when their manifest has ended.",
            by: "state",
            ImageState.allCases.filter(\.isFinal).map { ($0.rawValue, metrics.images[$0.rawValue]) }
        )
        counter(
            "darkroom_images_with_warnings_total", "Filtered images with warnings.",
            metrics.imagesWithWarnings)
        family(
            "darkroom_image_failures_total", .counter, "Failed images, by error code.",
            by: "code", metrics.failures.all.sorted { $0.key < $1.key })
        counter(
            "darkroom_download_retries_total", "Downloads that failed and are retried.",
            metrics.retries)
        family(
            "darkroom_download_failures_total", .counter,
            "Failed download attempts, by error code.",
            by: "code", metrics.downloadFailures.all.sorted { $0.key < $1.key })
        family(
            "darkroom_batches", .gauge, "Unfinished manifests, by state.", by: "state",
            [
                ("waiting", summary.batchesWaiting), ("processing", summary.batchesInWork),
                ("held", summary.batchesHeld),
            ])
        gauge(
            "darkroom_memory_granted_bytes",
            "Memory that the pictures in work may use, estimated from their headers.",
            summary.memoryGranted)
        gauge(
            "darkroom_memory_limit_bytes",
            "The memory limit for all pictures together (limits.memory).", summary.memoryLimit)
        gauge(
            "darkroom_images_waiting_for_memory", "Images that wait for memory.",
            summary.imagesWaitingForMemory)
        family(
            "darkroom_images_in_work", .gauge, "Images of the batches in work, by state.",
            by: "state", ImageState.allCases.map { ($0.rawValue, summary.images[$0]) })
        family(
            "darkroom_queue_length", .gauge, "The length of a queue, including running operations.",
            by: "queue", moment.queues.map { ($0.name, $0.length) })
        family(
            "darkroom_downloads_waiting", .gauge,
            "Downloads that wait for a slot of their host, or for their next attempt.",
            by: "for", [("host", moment.waitingForHost), ("retry", summary.retrying)])
        gauge("darkroom_operations_running", "Running downloads and filters.", moment.running)
        writeStages(metrics)
    }

    private mutating func writeStages(_ metrics: Metrics) {
        let name = "darkroom_stage_seconds"
        head(name, .histogram, "The time that images spend in each stage.")
        for stage in Metrics.Stage.allCases {
            let histogram = metrics.stage(stage)
            let counts = histogram.cumulative
            let label = ("stage", stage.rawValue)
            for (bound, count) in zip(Histogram.bounds.map(\.text) + ["+Inf"], counts) {
                sample("\(name)_bucket", [label, ("le", bound)], count)
            }
            sample("\(name)_sum", [label], histogram.seconds)
            sample("\(name)_count", [label], counts.last ?? 0)
        }
    }

    private mutating func writeInbox(_ metrics: Metrics) {
        let counts = metrics.inboxSummary.counts
        family(
            "darkroom_inbox_files", .gauge, "Files in the inbox that are not taken, by reason.",
            by: "reason",
            InboxReason.allCases.map { ($0.rawValue, counts[$0.rawValue] ?? 0) })
        counter(
            "darkroom_inotify_overflows_total", "Overflows of the inotify queue.", metrics.overflows
        )
        counter(
            "darkroom_scan_found_total",
            "Manifests that a scan found although no event had announced them, except in the first scan.",
            metrics.scanFound)
    }

    private mutating func writeHotFolders(_ moment: MetricsMoment) {
        let folders = moment.hotFolders
        family(
            "darkroom_hot_folder_up", .gauge,
            "1 while pictures are taken from the hot folder, 0 while it is missing, refused or another one.",
            by: "folder", folders.map { ($0.path, $0.isUp && moment.isRunning ? 1 : 0) })
        family(
            "darkroom_hot_folder_taken_total", .counter,
            "Pictures that were taken from the hot folder.",
            by: "folder", folders.map { ($0.path, $0.taken) })
        family(
            "darkroom_hot_folder_waiting", .gauge,
            "Pictures in the hot folder that are not complete, or wait for their batch.",
            by: "folder", folders.map { ($0.path, $0.waiting) })
        family(
            "darkroom_hot_folder_refused", .gauge,
            "Files in the hot folder that stay until somebody does something about them.",
            by: "folder", folders.map { ($0.path, $0.refused) })
    }

    private mutating func writeStorage(_ metrics: Metrics, _ moment: MetricsMoment) {
        gauge(
            "darkroom_storage_waiting",
            "1 while the spool cannot be written to: a full disk or quota, too many open files, a failed sync.",
            moment.storage != nil)
        counter(
            "darkroom_downloaded_bytes_total", "Bytes of completely downloaded sources.",
            metrics.downloadedBytes)
        counter("darkroom_written_bytes_total", "Bytes of published outputs.", metrics.writtenBytes)
        counter(
            "darkroom_storage_failures_total", "Failures of the spool, as in the journal.",
            metrics.storageFailures)
        counter(
            "darkroom_expired_entries_total", "Finished batches that were removed from the outbox.",
            metrics.expiredEntries)
        counter("darkroom_expired_bytes_total", "Bytes of these batches.", metrics.expiredBytes)
        gauge(
            "darkroom_stale_uploads", "Files in tmp/ that are 36 hours old or older.",
            metrics.staleUploads.count)
        gauge("darkroom_stale_upload_bytes", "Bytes of these files.", metrics.staleUploads.bytes)
    }

    private mutating func writeCache(_ metrics: Metrics, _ moment: MetricsMoment) {
        family(
            "darkroom_cache_lookups_total", .counter,
            "Lookups of sources in the cache, by result: used, confirmed by the server, or downloaded.",
            by: "result",
            [
                ("hit", metrics.cacheHits.value), ("revalidated", metrics.cacheRevalidations.value),
                ("miss", metrics.cacheMisses.value),
            ])
        counter(
            "darkroom_cache_stored_total", "Sources that were added to the cache.",
            metrics.cacheStored)
        counter(
            "darkroom_cache_stored_bytes_total", "Bytes of these sources.",
            metrics.cacheStoredBytes)
        counter(
            "darkroom_cache_evictions_total",
            "Sources that were removed from the cache to make room.", metrics.cacheEvictions)
        gauge(
            "darkroom_cache_entries", "Sources in the cache; 0 without a cache.", moment.cache.count
        )
        gauge("darkroom_cache_bytes", "Their size on the disk.", moment.cache.bytes)
    }

    private mutating func writeResults(_ metrics: Metrics, _ moment: MetricsMoment) {
        family(
            "darkroom_results_lookups_total", .counter,
            "Lookups of images in the store of results, by result: copied, or made.",
            by: "result",
            [("hit", metrics.resultHits.value), ("miss", metrics.resultMisses.value)])
        counter(
            "darkroom_results_saved_bytes_total",
            "Bytes of outputs that were copied from the store of results.",
            metrics.resultsSavedBytes)
        counter(
            "darkroom_results_stored_total", "Outputs that were added to the store of results.",
            metrics.resultsStored)
        counter(
            "darkroom_results_stored_bytes_total", "Bytes of these outputs.",
            metrics.resultsStoredBytes)
        counter(
            "darkroom_results_evictions_total",
            "Outputs that were removed from the store of results to make room.",
            metrics.resultEvictions)
        gauge(
            "darkroom_results_entries", "Outputs in the store of results; 0 without a store.",
            moment.results.count)
        gauge("darkroom_results_bytes", "Their size on the disk.", moment.results.bytes)
    }

    // MARK: The format

    private enum Kind: String { case counter, gauge, histogram }

    private mutating func head(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n"
        text += "# TYPE \(name) \(kind.rawValue)\n"
    }

    private mutating func family(
        _ name: String, _ kind: Kind, _ help: String, by label: String,
        _ values: [(String, Int)]
    ) {
        head(name, kind, help)
        for (value, count) in values { sample(name, [(label, value)], count) }
    }

    private mutating func counter(_ name: String, _ help: String, _ counter: Counter) {
        head(name, .counter, help)
        sample(name, [], counter.value)
    }

    private mutating func gauge(_ name: String, _ help: String, _ value: some Numeric) {
        head(name, .gauge, help)
        sample(name, [], value)
    }

    private mutating func gauge(_ name: String, _ help: String, _ flag: Bool) {
        gauge(name, help, flag ? 1 : 0)
    }

    private mutating func sample(
        _ name: String, _ labels: [(name: String, value: String)], _ value: some Numeric
    ) {
        let all = [(name: "spool", value: spool)] + labels
        let written = all.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
        text += "\(name){\(written.joined(separator: ","))} \(value)\n"
    }

    /// Escapes backslashes, newlines and, in the values of labels, quotes.
    static func escaped(_ text: String, quotes: Bool) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result.append(contentsOf: "\\\\".unicodeScalars)
            case "\n": result.append(contentsOf: "\\n".unicodeScalars)
            case "\"" where quotes: result.append(contentsOf: "\\\"".unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
