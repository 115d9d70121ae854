import DarkroomAnswer
import DarkroomConfiguration
import DarkroomCore
import DarkroomSpool
import DarkroomWork
import Dispatch
import Synchronization

/// The hot folders of the configuration, and their report, `spool/folders.json`.
final class HotFolders: @unchecked Sendable {
    // @unchecked: the stored variables are used on the pacer's queue only, except those in a mutex.

    private let spool: Spool
    private let scheduler: Scheduler
    private let log: EventLog
    private let time: TimeSource
    private struct Stations {
        var present: [HotFolderStation] = []
        /// Those of folders that are not in the configuration any more. They may still finish a step.
        var former: [HotFolderStation] = []
    }

    private let stations = Mutex(Stations())
    private let pacer: Pacer<FileName>
    private var file: ReportWriter<FoldersReport>
    private var last: FoldersReport?
    /// Called after each change of the report.
    private let onProgress: @Sendable () -> Void

    init(
        spool: Spool, scheduler: Scheduler, log: EventLog, time: TimeSource = .system,
        onProgress: @escaping @Sendable () -> Void
    ) {
        self.spool = spool
        self.scheduler = scheduler
        self.log = log
        self.time = time
        self.onProgress = onProgress
        // Many changes come together, so each waits for others.
        pacer = Pacer(
            interval: 200_000_000, limits: .init(share: .each(20), delay: 200_000_000),
            queue: DispatchQueue(label: "darkroom.folders", qos: .utility), time: time)
        file = ReportWriter(root: spool.root, log: log)
    }

    /// Begins to watch the folders, after what a previous daemon has taken is in the inbox.
    func start(_ configuration: Configuration) {
        do {
            try HotStations(spool).submitLeft(durably: configuration.isDurable)
        } catch {
            // The station of each folder tries it again.
            log.storageFailed(error)
        }
        update(configuration)
    }

    /// Watches other folders from now on. A folder that is not in the configuration any more is left as it is. Its
    /// batches go on.
    func update(_ configuration: Configuration) {
        let new = stations.withLock { stations in
            let present = stations.present
            var new: [(station: HotFolderStation, before: HotFolderStation?)] = []
            stations.present = configuration.folders.map { folder in
                let settings = HotFolderSettings(configuration, folder)
                func isOne(_ station: HotFolderStation) -> Bool {
                    ByteString(station.path) == ByteString(folder.path)
                }
                if let station = present.first(where: isOne) {
                    station.update(folder, settings)
                    return station
                }
                let station = HotFolderStation(
                    folder, settings, spool: spool, scheduler: scheduler, log: log, time: time
                ) { [weak self] in self?.reportSoon() }
                new.append((station, stations.former.last(where: isOne)))
                return station
            }
            for station in present where !stations.present.contains(where: { $0 === station }) {
                station.stop()
                stations.former.append(station)
            }
            return new
        }
        for (station, before) in new {
            // Two stations must not use `hot/KEY` at once.
            if let before { before.queue.async { station.start() } } else { station.start() }
        }
        reportSoon()
    }

    /// Batches have made progress.
    func progressed() {
        for station in stations.withLock(\.present) { station.progressed() }
    }

    /// Takes no more pictures, and does not wait long for what is being done: a network file system may not answer, and
    /// every step survives a kill.
    func stop() {
        let stations = stations.withLock(\.present)
        for station in stations { station.stop() }
        let ended = DispatchGroup()
        for station in stations { station.queue.async(group: ended) {} }
        _ = ended.wait(timeout: .now() + .seconds(3))
        pacer.end(FoldersReport.fileName) { [self] _, _ in report() }
    }

    // MARK: The report

    /// What the status line says about folders on which somebody must act.
    var details: [String] {
        let folders = stations.withLock(\.present).compactMap(\.lastReport)
        var details: [String] = []
        for folder in folders where [.missing, .refused, .failed].contains(folder.state) {
            details.append("hot folder \(folder.path) is \(folder.state.rawValue)")
        }
        let count = folders.map(\.lasting).reduce(0, +)
        if count > 0 {
            details.append("\(Words.count(count, "file")) in hot folders cannot be taken")
        }
        return details
    }

    /// What the metrics say about each folder.
    var metrics: [HotFolderMetrics] {
        stations.withLock(\.present).map { station in
            let report = station.lastReport
            let lasting = report?.lasting ?? 0
            return HotFolderMetrics(
                path: station.path, isUp: station.isUp.load(ordering: .relaxed),
                taken: station.taken.value,
                waiting: (report?.counts.values.reduce(0, +) ?? 0) - lasting, refused: lasting)
        }
    }

    private func reportSoon() {
        pacer.changed(FoldersReport.fileName, now: time.now) { [weak self] _, _ in
            self?.report() ?? .over
        }
    }

    private func report() -> PacedWrite {
        let folders = stations.withLock(\.present).compactMap(\.lastReport)
        // A daemon without hot folders has no report, unless an earlier one had. If nobody can tell, it has one.
        if folders.isEmpty, last == nil, (try? spool.root.exists(FoldersReport.fileName)) == false {
            return .done
        }
        guard last?.folders != folders else { return .done }
        let report = FoldersReport(written: Clock.timestamp, folders: folders)
        let outcome = file.write(report)
        if outcome == .done { last = report }
        onProgress()
        return outcome
    }
}
