import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import DarkroomSpool
import DarkroomWork

/// What the metrics say besides the counters (`Metrics`): the state of the daemon at one moment. `MetricsText` writes both.
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
    var cache = (count: 0, bytes: 0)
    /// The content of the store of results.
    var results = (count: 0, bytes: 0)
    var queues: [(name: String, length: Int)] = []
    /// Downloads that wait for a free place of their host.
    var waitingForHost = 0
    var hotFolders: [HotFolderMetrics] = []
}

extension MetricsMoment {
    /// - Parameter startTime: seconds since 1970.
    init(of scheduler: Scheduler, _ hotFolders: HotFolders, spool: String, startTime: Double) {
        self.init(
            spool: spool, version: Release.version, startTime: startTime,
            isPaused: scheduler.gate.isSuspended, summary: scheduler.summary,
            running: scheduler.runningCount, storage: scheduler.storage.report,
            cache: scheduler.cache?.summary ?? (0, 0),
            results: scheduler.results?.summary ?? (0, 0), queues: scheduler.queueLengths,
            waitingForHost: scheduler.waitingForHostCount, hotFolders: hotFolders.metrics)
    }
}
