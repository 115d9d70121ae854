import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import DarkroomPicture
import DarkroomSpool
import DarkroomWork
import Synchronization

/// The values at one moment that `Metrics` does not count.
struct MetricsMoment: Sendable {
    var spool = ""
    var version = ""
    var isRunning = true
    /// Seconds since 1970.
    var startTime = 0.0
    var isPaused = false
    var summary = Board.Summary()
    var running = 0
    /// Why the spool does not accept writes; nil if it does.
    var storage: StorageGuard.Report?
    /// The content of the cache.
    var cache = (count: 0, bytes: 0)
    /// By the names of the queues.
    var queues: [(name: String, length: Int)] = []
    /// Downloads that wait for a free place of their host.
    var waitingForHost = 0
    var hotFolders: [HotFolderFigures] = []
}

extension MetricsMoment {
    /// - Parameter startTime: seconds since 1970.
    init(of scheduler: Scheduler, _ hotFolders: HotFolders, spool: String, startTime: Double) {
        self.init(
            spool: spool, version: Release.version, startTime: startTime,
            isPaused: scheduler.gate.isSuspended, summary: scheduler.summary,
            running: scheduler.runningCount, storage: scheduler.storage.report,
            cache: scheduler.cache?.summary ?? (0, 0), queues: scheduler.queueLengths,
            waitingForHost: scheduler.waitingForHostCount, hotFolders: hotFolders.figures)
    }
}

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
        return text.text
    }

    private init(spool: String) {
        self.spool = spool
    }

    // MARK: The families

    private mutating func writeDaemon(_ metrics: Metrics, _ moment: MetricsMoment) {
        family(
            "darkroom_up", .gauge,
            "1 while darkroomd runs, 0 after it has stopped.")
        sample("darkroom_up", moment.isRunning)
        family("darkroom_build_info", .gauge, "Always 1; the version is in the label.")
        sample("darkroom_build_info", [("version", moment.version)], 1)
        family(
            "darkroom_start_time_seconds", .gauge,
            "When darkroomd started, in seconds since 1970.")
        sample("darkroom_start_time_seconds", moment.startTime)
        family("darkroom_paused", .gauge, "1 while darkroomd is paused (darkroom pause).")
        sample("darkroom_paused", moment.isPaused)
        family("darkroom_claiming", .gauge, "1 while manifests are taken from the inbox.")
        sample("darkroom_claiming", metrics.inboxSummary.isClaiming && moment.isRunning)
    }

    private mutating func writeWork(_ metrics: Metrics, _ moment: MetricsMoment) {
        counter(
            "darkroom_manifests_accepted_total",
            "Valid manifests that were taken from the inbox.",
            metrics.accepted)
        counter(
            "darkroom_manifests_resumed_total",
            "Unfinished manifests that darkroomd found at its start.", metrics.resumed)
        family("darkroom_manifests_total", .counter, "Manifests that have ended, by state.")
        for state in BatchState.allCases where state.isFinal {
            sample(
                "darkroom_manifests_total", [("state", state.rawValue)],
                metrics.manifests[state.rawValue])
        }
        family(
            "darkroom_images_total", .counter,
            "Images that have ended, by state; cancelled ones are counted when their manifest has ended."
        )
        for state in ImageState.allCases where state.isFinal {
            sample(
                "darkroom_images_total", [("state", state.rawValue)], metrics.images[state.rawValue]
            )
        }
        counter(
            "darkroom_images_with_warnings_total", "Filtered images with warnings.",
            metrics.imagesWithWarnings)
        family("darkroom_image_failures_total", .counter, "Failed images, by error code.")
        for (code, count) in metrics.failures.all.sorted(by: { $0.key < $1.key }) {
            sample("darkroom_image_failures_total", [("code", code)], count)
        }
        counter(
            "darkroom_download_retries_total", "Downloads that failed and are retried.",
            metrics.retries)
        family(
            "darkroom_download_failures_total", .counter,
            "Failed download attempts, by error code.")
        for (code, count) in metrics.downloadFailures.all.sorted(by: { $0.key < $1.key }) {
            sample("darkroom_download_failures_total", [("code", code)], count)
        }
        family("darkroom_batches", .gauge, "Unfinished manifests, by state.")
        sample("darkroom_batches", [("state", "waiting")], moment.summary.batchesWaiting)
        sample("darkroom_batches", [("state", "processing")], moment.summary.batchesInWork)
        sample("darkroom_batches", [("state", "held")], moment.summary.batchesHeld)
        family(
            "darkroom_memory_granted_bytes", .gauge,
            "Memory that the pictures in work may use, estimated from their headers."
        )
        sample("darkroom_memory_granted_bytes", [], moment.summary.memoryGranted)
        family(
            "darkroom_memory_limit_bytes", .gauge,
            "The memory limit for all pictures together (limits.memory).")
        sample("darkroom_memory_limit_bytes", [], moment.summary.memoryLimit)
        family(
            "darkroom_images_waiting_for_memory", .gauge,
            "Images that wait for memory.")
        sample("darkroom_images_waiting_for_memory", [], moment.summary.imagesWaitingForMemory)
        family("darkroom_images_in_work", .gauge, "Images of the batches in work, by state.")
        for state in ImageState.allCases {
            sample(
                "darkroom_images_in_work", [("state", state.rawValue)],
                moment.summary.images[state])
        }
        family(
            "darkroom_queue_length", .gauge, "The length of a queue, including running operations.")
        for queue in moment.queues {
            sample("darkroom_queue_length", [("queue", queue.name)], queue.length)
        }
        family(
            "darkroom_downloads_waiting", .gauge,
            "Downloads that wait for a slot of their host, or for their next attempt.")
        sample("darkroom_downloads_waiting", [("for", "host")], moment.waitingForHost)
        sample("darkroom_downloads_waiting", [("for", "retry")], moment.summary.retrying)
        family("darkroom_operations_running", .gauge, "Running downloads and filters.")
        sample("darkroom_operations_running", [], moment.running)
        writeStages(metrics)
    }

    private mutating func writeStages(_ metrics: Metrics) {
        let name = "darkroom_stage_seconds"
        family(name, .histogram, "The time that images spend in each stage.")
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
        family(
            "darkroom_inbox_files", .gauge,
            "Files in the inbox that are not taken, by reason.")
        let counts = metrics.inboxSummary.counts
        for reason in InboxReason.allCases {
            sample(
                "darkroom_inbox_files", [("reason", reason.rawValue)],
                counts[reason.rawValue] ?? 0)
        }
        counter(
            "darkroom_inotify_overflows_total", "Overflows of the inotify queue.", metrics.overflows
        )
        counter(
            "darkroom_scan_found_total",
            "Manifests that a scan found although no event had announced them, except in the first scan.",
            metrics.scanFound)
    }

    private mutating func writeHotFolders(_ moment: MetricsMoment) {
        func label(_ folder: HotFolderFigures) -> [(name: String, value: String)] {
            [("folder", folder.path)]
        }
        family(
            "darkroom_hot_folder_up", .gauge,
            "1 while pictures are taken from the hot folder, 0 while it is missing, refused or another one."
        )
        for folder in moment.hotFolders {
            sample("darkroom_hot_folder_up", label(folder), folder.isUp && moment.isRunning ? 1 : 0)
        }
        family(
            "darkroom_hot_folder_taken_total", .counter,
            "Pictures that were taken from the hot folder.")
        for folder in moment.hotFolders {
            sample("darkroom_hot_folder_taken_total", label(folder), folder.taken)
        }
        family(
            "darkroom_hot_folder_waiting", .gauge,
            "Pictures in the hot folder that are not complete, or wait for their batch.")
        for folder in moment.hotFolders {
            sample("darkroom_hot_folder_waiting", label(folder), folder.waiting)
        }
        family(
            "darkroom_hot_folder_refused", .gauge,
            "Files in the hot folder that stay until somebody does something about them.")
        for folder in moment.hotFolders {
            sample("darkroom_hot_folder_refused", label(folder), folder.refused)
        }
    }

    private mutating func writeStorage(_ metrics: Metrics, _ moment: MetricsMoment) {
        family(
            "darkroom_storage_waiting", .gauge,
            "1 while the spool cannot be written to: a full disk or quota, too many open files, a failed sync."
        )
        sample("darkroom_storage_waiting", moment.storage != nil)
        counter(
            "darkroom_downloaded_bytes_total", "Bytes of completely downloaded sources.",
            metrics.downloadedBytes)
        counter(
            "darkroom_written_bytes_total", "Bytes of published outputs.", metrics.writtenBytes)
        counter(
            "darkroom_storage_failures_total", "Failures of the spool, as in the journal.",
            metrics.storageFailures)
        counter(
            "darkroom_expired_entries_total", "Finished batches that were removed from the outbox.",
            metrics.expiredEntries)
        counter(
            "darkroom_expired_bytes_total", "Bytes of these batches.", metrics.expiredBytes)
        family(
            "darkroom_stale_uploads", .gauge,
            "Files in tmp/ that are 36 hours old or older.")
        sample("darkroom_stale_uploads", [], metrics.staleUploads.count)
        family("darkroom_stale_upload_bytes", .gauge, "Bytes of these files.")
        sample("darkroom_stale_upload_bytes", [], metrics.staleUploads.bytes)
    }

    private mutating func writeCache(_ metrics: Metrics, _ moment: MetricsMoment) {
        family(
            "darkroom_cache_lookups_total", .counter,
            "Lookups of sources in the cache, by result: used, confirmed by the server, or downloaded."
        )
        let results = [
            ("hit", metrics.cacheHits), ("revalidated", metrics.cacheRevalidations),
            ("miss", metrics.cacheMisses),
        ]
        for (result, counter) in results {
            sample("darkroom_cache_lookups_total", [("result", result)], counter.value)
        }
        counter(
            "darkroom_cache_stored_total", "Sources that were added to the cache.",
            metrics.cacheStored)
        counter(
            "darkroom_cache_stored_bytes_total", "Bytes of these sources.",
            metrics.cacheStoredBytes)
        counter(
            "darkroom_cache_evictions_total",
            "Sources that were removed from the cache to make room.",
            metrics.cacheEvictions)
        family("darkroom_cache_entries", .gauge, "Sources in the cache; 0 without a cache.")
        sample("darkroom_cache_entries", [], moment.cache.count)
        family("darkroom_cache_bytes", .gauge, "Their size on the disk.")
        sample("darkroom_cache_bytes", [], moment.cache.bytes)
    }

    // MARK: The format

    private enum Kind: String { case counter, gauge, histogram }

    private mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n"
        text += "# TYPE \(name) \(kind.rawValue)\n"
    }

    private mutating func counter(_ name: String, _ help: String, _ counter: Counter) {
        family(name, .counter, help)
        sample(name, [], counter.value)
    }

    private mutating func sample(_ name: String, _ value: Bool) {
        sample(name, [], value ? 1 : 0)
    }

    private mutating func sample(_ name: String, _ value: Double) { sample(name, [], value) }

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
