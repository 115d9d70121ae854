import DarkroomConfiguration
import DarkroomCore
import DarkroomWork
import Dispatch
import Glibc
import Synchronization
import SystemPackage

/// Writes the metrics to the file that node_exporter's textfile collector reads, at an interval and when the daemon
/// stops.
final class MetricsFile: Sendable {
    /// The file and the interval; nil for no metrics.
    struct Target: Sendable, Equatable {
        let path: String
        /// In seconds.
        let interval: Double
    }

    private struct State: Sendable {
        var target: Target?
        /// Whether the last attempt failed. A failure is reported once, until an attempt succeeds.
        var hasFailed = false
    }

    /// Its keys are paths. The one that is not the target's any more is not written again.
    let pacer: Pacer<String>
    private let state = Mutex(State())
    private let log: EventLog
    private let moment: @Sendable () -> MetricsMoment

    init(
        log: EventLog, time: TimeSource = .system, moment: @escaping @Sendable () -> MetricsMoment
    ) {
        self.log = log
        self.moment = moment
        pacer = Pacer(
            interval: 0, limits: .init(share: .each(20), heartbeat: 0),
            queue: DispatchQueue(label: "darkroom.metrics", qos: .utility), time: time)
    }

    /// Writes to `target` from now on.
    func update(_ target: Target?) {
        let isNew = state.withLock { state in
            guard state.target != target else { return false }
            state.target = target
            state.hasFailed = false
            return true
        }
        guard isNew, let target else { return }
        pacer.setInterval(UInt64(clamping: target.interval * 1e9))
        pacer.queue.async { [self] in
            pacer.write(target.path) { [weak self] path, _ in self?.write(to: path) ?? .over }
        }
    }

    /// Writes for the last time.
    func stop() {
        guard let target = state.withLock({ $0.target.take() }) else { return }
        pacer.end(target.path) { [self] path, _ in
            var moment = moment()
            moment.isRunning = false
            return write(moment, to: path)
        }
    }

    private func write(to path: String) -> PacedWrite {
        guard state.withLock({ $0.target?.path == path }) else { return .over }
        return write(moment(), to: path)
    }

    private func write(_ moment: MetricsMoment, to path: String) -> PacedWrite {
        let text = MetricsText.write(log.metrics, moment)
        do {
            try Self.replace(path, with: Array(text.utf8))
            state.withLock { $0.hasFailed = false }
            return .done
        } catch {
            let isNews = state.withLock { !exchange(&$0.hasFailed, with: true) }
            if isNews {
                log.metricsFailed(
                    error,
                    remedy: ServiceView.current?.remedy(forFile: path, wanting: .writing))
            }
            return .refused
        }
    }

    /// Replaces a file atomically. The collector reads files that end in `.prom`, and runs as another user.
    static func replace(_ path: String, with bytes: [UInt8]) throws(FileError) {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let folder = try Directory(path: slash == path.startIndex ? "/" : String(path[..<slash]))
        let name = String(path[path.index(after: slash)...])
        let new = FileName(".\(name).new")
        let file = try folder.create(new, replacing: true)
        do throws(FileError) {
            try file.write(bytes, path: folder.path(of: new))
            guard fchmod(file.number, 0o644) == 0 else {
                throw FileError(.makeReadable, folder.path(of: new), .init(rawValue: errno))
            }
            try folder.rename(new, to: folder, as: FileName(name), replacing: true)
        } catch {
            // For example if the path is a folder: otherwise the new file would stay forever.
            try? folder.remove(new)
            throw error
        }
    }
}

extension Configuration {
    /// nil if no metrics are written.
    var metricsTarget: MetricsFile.Target? {
        metricsFile.map { MetricsFile.Target(path: $0, interval: metricsInterval) }
    }
}
