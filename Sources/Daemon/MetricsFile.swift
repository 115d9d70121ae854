import DarkroomConfiguration
import DarkroomCore
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
        /// The number of the target. The timer of a previous target does nothing.
        var number = 0
    }

    private let queue = DispatchQueue(label: "darkroom.metrics", qos: .utility)
    private let state = Mutex(State())
    private let log: EventLog
    private let moment: @Sendable () -> MetricsMoment

    init(log: EventLog, moment: @escaping @Sendable () -> MetricsMoment) {
        self.log = log
        self.moment = moment
    }

    /// Writes to `target` from now on.
    func update(_ target: Target?) {
        let number = state.withLock { state -> Int? in
            guard state.target != target else { return nil }
            state.target = target
            state.hasFailed = false
            state.number += 1
            return state.number
        }
        if let number, target != nil { queue.async { [self] in tick(number) } }
    }

    /// Writes for the last time.
    func stop() {
        let target = state.withLock { state -> Target? in
            state.number += 1
            return state.target.take()
        }
        guard let target else { return }
        queue.sync {
            var moment = moment()
            moment.isRunning = false
            write(moment, to: target)
        }
    }

    private func tick(_ number: Int) {
        let target = state.withLock { $0.number == number ? $0.target : nil }
        guard let target else { return }
        write(moment(), to: target)
        queue.asyncAfter(deadline: .now() + target.interval) { [weak self] in self?.tick(number) }
    }

    private func write(_ moment: MetricsMoment, to target: Target) {
        let text = MetricsText.write(log.metrics, moment)
        do {
            try Self.replace(target.path, with: Array(text.utf8))
            state.withLock { $0.hasFailed = false }
        } catch {
            let isNews = state.withLock { state in
                defer { state.hasFailed = true }
                return !state.hasFailed
            }
            if isNews {
                log.metricsFailed(
                    error,
                    remedy: ServiceView.current?.remedy(forFile: target.path, wanting: .writing))
            }
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
