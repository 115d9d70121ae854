import DarkroomAnswer
import DarkroomConfiguration
import DarkroomCore
import DarkroomFetch
import DarkroomSpool
import DarkroomWork
import Dispatch
import Foundation
import Logging
import Synchronization

/// The daemon: opens the spool, connects the stations, and carries out signals.
///
/// Control has its own queue, so that signals and the watchdog are served even if all other queues are busy.
package final class Daemon: @unchecked Sendable {
    // @unchecked: the stored variables are used on `control` only, with two exceptions. `intake` is set before anything
    // can request a stop, which reads it on another queue. `exitCode` is read after `ended` has been signalled, which
    // follows its last change.

    private let loader: ConfigurationLoader
    /// The configuration at the start, and the present one.
    private let initial: ConfigurationLoader.Loaded
    private var loaded: ConfigurationLoader.Loaded
    /// The present configuration, for other queues.
    private let current: CurrentConfiguration
    private let spool: Spool
    private let log: EventLog
    private let engine: TransferEngine
    private let cache: CacheStore<CacheRecord>?
    private let results: ResultStore?
    private let scheduler: Scheduler
    private let notifier: ServiceManagerNotifier
    private let control = DispatchQueue(label: "darkroom.control", qos: .userInteractive)
    /// The queue that writes the effects of signals into the spool.
    private let files = DispatchQueue(label: "darkroom.files", qos: .userInitiated)
    private let ended = DispatchSemaphore(value: 0)
    private let statusIsDue = Atomic(false)
    private let housekeeper: Housekeeper
    private let metricsFile: MetricsFile
    private let queueReporter: QueueReporter
    private let hotFolders: HotFolders

    private var intake: Intake?
    private var signals: SignalSources?
    private var watchdog: (any DispatchSourceTimer)?
    /// How long the transfers' thread has not run, although it was asked to.
    private var engineTurns = EngineTurns()
    private var stuck: Set<WatchedWork> = []
    private var isStopping = false
    /// Whether the last reload refused a changed configuration.
    private let isReloadRefused = Atomic(false)
    private var exitCode = ExitCode.success

    /// Opens and locks the spool. Nothing is taken from it before `run()`.
    package init(
        loader: ConfigurationLoader, loaded: ConfigurationLoader.Loaded, log: EventLog
    ) throws {
        // This starts the steady clock: it ignores later jumps of the wall clock.
        _ = Clock.steady
        self.loader = loader
        self.loaded = loaded
        initial = loaded
        let configuration = loaded.configuration
        self.log = log
        let notifier = ServiceManagerNotifier()
        self.notifier = notifier
        notifier.starting("opening the spool")
        do {
            spool = try Spool(path: configuration.spool)
        } catch {
            throw error.explained(configuration.spool, by: .current)
        }
        spool.keepsOriginals.store(configuration.keepsOriginals, ordering: .relaxed)
        spool.crashRecords.watchCrashes()
        engine = try TransferEngine(settings: configuration.transferSettings)
        notifier.starting("opening the cache")
        cache = try CacheStore.open(configuration, log: log)
        results = try ResultStore.open(configuration, log: log)
        scheduler = Scheduler(
            spool: spool, settings: configuration.batchSettings, engine: engine, cache: cache,
            results: results, storage: StorageGuard(log: log), log: log)
        let current = CurrentConfiguration(loaded)
        self.current = current
        queueReporter = QueueReporter(spool: spool, scheduler: scheduler, log: log) { [current] in
            current.value.queueLimits
        }
        housekeeper = Housekeeper(spool: spool, log: log) { [current] in
            current.value.configuration
        }
        hotFolders = HotFolders(spool: spool, scheduler: scheduler, log: log) { [scheduler] in
            scheduler.progressed()
        }
        let startTime = Date.now.timeIntervalSince1970
        metricsFile = MetricsFile(log: log) { [spool, scheduler, hotFolders] in
            MetricsMoment(of: scheduler, hotFolders, spool: spool.root.path, startTime: startTime)
        }
    }

    /// Works until a signal ends it, and returns the exit code.
    package func run() -> ExitCode {
        control.async { [self] in start() }
        ended.wait()
        return exitCode
    }

    // MARK: Start

    private func start() {
        let isPaused: Bool
        do {
            isPaused = try spool.isPaused()
        } catch {
            return fail(error)
        }
        if isPaused { scheduler.suspend() }
        let isAfterCrash = QueueReport.tellsOfCrash(in: spool.root)
        queueReporter.start(isPaused: isPaused)
        signals = SignalSources(ControlSignal.all.map(\.number), queue: control) {
            [weak self] number in
            if let signal = ControlSignal.all.first(where: { $0.number == number }) {
                self?.handle(signal)
            }
        }
        scheduler.onProgress { [weak self] in self?.progressed() }
        let intake = Intake(
            spool: spool, scheduler: scheduler, settings: initial.configuration.intakeSettings,
            log: log
        ) { [weak self] error in
            guard let self else { return }
            control.async { self.fail(error) }
        } onRemoval: { [housekeeper] in
            housekeeper.clear($0)
        }
        self.intake = intake
        notifier.starting("looking for unfinished batches")
        let configuration = initial.configuration
        do {
            try intake.start {
                // The configuration comes before all messages about manifests.
                log.configured(configuration.summary)
                log.started(version: Release.version, spool: spool.root.path, paused: isPaused)
            }
        } catch {
            return fail(error)
        }
        warn(of: configuration)
        startWatchdog()
        hotFolders.start(configuration)
        metricsFile.update(configuration.metricsTarget)
        cache?.start()
        results?.start()
        housekeeper.start(after: 2, isAfterCrash: isAfterCrash)
        // The status comes first: whoever waits for the start can read it then.
        tellStatus()
        notifier.ready()
    }

    // MARK: Signals

    private func handle(_ signal: ControlSignal) {
        switch signal.command {
        case .pause: setPaused(true)
        case .resume: setPaused(false)
        case .reload: reload()
        case .stop: stop(signal.name)
        }
    }

    private func setPaused(_ paused: Bool) {
        guard !isStopping else { return }
        let isNews = paused != scheduler.gate.isSuspended
        if paused {
            scheduler.suspend()
            intake?.suspensionChanged()
        } else {
            // This message comes before the effects of the resumption.
            if isNews { log.resumed(batches: scheduler.batchesToBeDone) }
            scheduler.resume()
            if isNews { intake?.rescan() }
        }
        let batches = isNews && paused ? scheduler.batchesToBeDone : nil
        // On another queue: a disk that hangs must not block the watchdog.
        files.async { [self] in
            do throws(FileError) {
                try spool.markPaused(paused, durably: initial.configuration.isDurable)
            } catch {
                log.storageFailed(error)
            }
            queueReporter.marked(isPaused: paused)
            if let batches { log.paused(batches: batches) }
        }
        tellStatus()
    }

    /// Checks what the configuration names, on a thread that nothing waits for: a network file system may not answer.
    private func warn(of configuration: Configuration) {
        let log = log
        DispatchQueue.global(qos: .utility).async { configuration.warnings.forEach(log.warned) }
    }

    private func reload() {
        guard !isStopping else { return log.reloadRefused("darkroomd is stopping") }
        notifier.reloading()
        isReloadRefused.store(true, ordering: .relaxed)
        defer {
            notifier.ready()
            tellStatus()
        }
        do {
            let all = try loader.loadAll()
            if let refusal = ConfigurationChanges.refusal(from: initial, to: all) {
                return log.reloadRefused(refusal)
            }
            let new = all.configuration
            let changes = ConfigurationChanges(from: loaded, to: all)
            loaded = all
            // The engine comes first, so that every transfer with old headers also began while they were configured
            // (`CacheUse`).
            engine.update(new.transferSettings)
            current.value = all
            spool.keepsOriginals.store(new.keepsOriginals, ordering: .relaxed)
            scheduler.update(new.batchSettings)
            intake?.update(new.intakeSettings)
            metricsFile.update(new.metricsTarget)
            housekeeper.update()
            hotFolders.update(new)
            queueReporter.stateChanged()
            isReloadRefused.store(false, ordering: .relaxed)
            LogLevel.set(new.logLevel)
            log.configured("Configuration reloaded; \(changes.text). Now \(new.summary)")
            warn(of: new)
        } catch {
            log.reloadRefused(error.problems.joined(separator: "; "))
        }
    }

    /// Stops the daemon. A second call does not wait for running operations any more.
    private func stop(_ name: String) {
        if isStopping {
            if !scheduler.gate.isAborting {
                log.stopHurried(signal: name, running: scheduler.runningCount)
            }
            return scheduler.abort()
        }
        isStopping = true
        scheduler.close()
        queueReporter.stateChanged()
        notifier.stopping()
        log.stopping(
            signal: name, running: scheduler.runningCount, batches: scheduler.batchesToBeDone)
        askForTime()
        let timeout = loaded.configuration.stopTimeout
        // On another queue, so that a second signal is handled.
        DispatchQueue.global(qos: .userInteractive).async { [self] in
            housekeeper.stop()
            hotFolders.stop()
            intake?.stop()
            scheduler.stop(within: timeout) {
                notifier.extendTimeout(seconds: 10)
                tellStatus()
            } expired: {
                log.stopTimedOut(after: timeout, running: scheduler.runningCount)
            }
            intake?.end()
            metricsFile.stop()
            engine.stop()
            cache?.stop()
            results?.stop()
            spool.crashRecords.close()
            files.sync {}
            queueReporter.end()
            log.stopped(unfinished: scheduler.summary.unfinished)
            ended.signal()
        }
    }

    /// Asks the service manager for more time to stop, repeatedly while nothing is stuck: `stop.timeout` may be longer
    /// than the unit's TimeoutStopSec=, and after it the daemon may wait for the disk.
    private func askForTime() {
        let interval = ServiceManagerNotifier.watchdogInterval ?? Self.patience
        let isStuck = scheduler.still(now: Clock.nanoseconds).contains {
            $0.isStuck(interval: interval)
        }
        if !isStuck { notifier.extendTimeout(seconds: 30) }
        tellStatus()
        control.asyncAfter(deadline: .now() + 1) { [weak self] in self?.askForTime() }
    }

    /// Seconds without progress after which work counts as stuck, if no watchdog defines this time.
    private static let patience = 60.0

    /// Stops the daemon because it cannot continue. Running operations finish, and the service manager starts a new
    /// one.
    private func fail(_ error: some CodedError) {
        log.spoolLost(error)
        exitCode = .systemError
        stop(error.code)
    }

    // MARK: Status

    /// Called after any progress. Updates the status at most twice a second, and never without progress.
    private func progressed() {
        queueReporter.progressed()
        hotFolders.progressed()
        guard !statusIsDue.exchange(true, ordering: .acquiringAndReleasing) else { return }
        control.asyncAfter(deadline: .now() + 0.5) { [weak self] in
            self?.statusIsDue.store(false, ordering: .releasing)
            self?.tellStatus()
        }
    }

    private func tellStatus() {
        let still = scheduler.still(now: Clock.nanoseconds).max { $0.seconds < $1.seconds }
        let line = StatusLine(
            summary: scheduler.summary, isPaused: scheduler.gate.isSuspended,
            isStopping: scheduler.gate.isStopping, running: scheduler.runningCount,
            publishing: scheduler.publishingCount, storage: scheduler.storage.report,
            hostsPaused: scheduler.pausedHostCount, recovery: intake?.recovery,
            inbox: intake?.backlog ?? InboxBacklog(), folders: hotFolders.details, still: still,
            isReloadRefused: isReloadRefused.load(ordering: .relaxed))
        notifier.status(line.text)
    }

    // MARK: The watchdog

    private func startWatchdog() {
        guard let interval = ServiceManagerNotifier.watchdogInterval else { return }
        let timer = DispatchSource.makeTimerSource(queue: control)
        timer.schedule(deadline: .now(), repeating: interval / 3, leeway: .milliseconds(50))
        timer.setEventHandler { @Sendable [weak self] in self?.watch(interval) }
        timer.activate()
        watchdog = timer
    }

    /// Tells the service manager that the daemon is alive, as long as all its work makes progress. This timer alone
    /// shows only that `control` runs.
    private func watch(_ interval: Double) {
        let now = Clock.nanoseconds
        CrashRecords.daemonTurns(every: interval / 3)
        let still = scheduler.still(now: now) + [engineTurns.still(engine.turns, now: now)]
        let stuck = still.filter { $0.isStuck(interval: interval) }
        for still in stuck where self.stuck.insert(still.work).inserted { log.stuck(still) }
        if stuck.isEmpty {
            self.stuck = []
            notifier.watchdog()
        }
        scheduler.queueWatch.ask(now: now)
        engine.nudge()
        tellStatus()
    }
}

/// How long the transfers' thread has not run. It is woken each time this is asked, so that it also runs if it has
/// nothing to do.
struct EngineTurns {
    private var turns: UInt64?
    private var since: UInt64 = 0

    /// - Parameter turns: the number of the thread's rounds so far.
    mutating func still(_ turns: UInt64, now: UInt64) -> StillWork {
        if turns != self.turns {
            self.turns = turns
            since = now
        }
        return StillWork(
            work: WatchedWork("the thread of the transfers"), patience: .steps,
            seconds: Double(now - since) / 1e9)
    }
}
