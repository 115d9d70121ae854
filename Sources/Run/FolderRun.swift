import DarkroomAnswer
import DarkroomBoard
import DarkroomConfiguration
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import DarkroomWork
import Dispatch
import Glibc
import Synchronization

/// `darkroom run`: one batch, by the daemon's engine, in a folder of its own, in a process that ends with it.
///
/// A disk that refuses writes ends the run after the running work, because somebody waits for its exit code; the next
/// run continues. (A daemon waits for space.) A lack of descriptors or memory passes when running work ends, so the run
/// waits as the daemon does.
package final class FolderRun: Sendable {
    /// How a run has ended.
    package enum Ending: Sendable {
        /// All images have ended.
        case finished(Status)
        /// All images had ended before, and there was nothing to do.
        case unchanged(Status)
        /// A signal has stopped it. The next run continues.
        case stopped(signal: CInt)
        /// It cannot continue. The next run continues, when the cause is gone.
        case failed(RunError)
    }

    /// The signals that stop a run. Clusters send USR1 when the time of a job is nearly over.
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGUSR1]

    private struct State: Sendable {
        var ending: Ending?
        var isStopping = false
        /// The first signal that has arrived.
        var signal: CInt?
        /// What was done when this run began.
        var before = Status.Counts()
        var stateBefore = BatchState.pending
        /// How far the images were when the work ended.
        var after: Status.Counts?
        /// Whether what was made before has been looked at, after the rest was made.
        var hasLookedBack = false
    }

    private let folder: RunFolder
    private let signals = SignalSources.heeded(among: FolderRun.signals)
    private let loaded: ConfigurationLoader.Loaded
    private let log: EventLog
    private let control = DispatchQueue(label: "darkroom.control", qos: .userInteractive)
    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)
    /// nil until the work begins. Set on `control`, so that a stop comes either before it or after it.
    let scheduler = Mutex<Scheduler?>(nil)

    /// Creates the folder of the results, and locks it. No other thread may exist yet, unless `blockSignals` was called
    /// before.
    package init(
        _ job: RunJob, _ loaded: ConfigurationLoader.Loaded, log: EventLog
    ) throws(RunError) {
        _ = Clock.steady
        SignalSources.block(signals)
        self.loaded = loaded
        self.log = log
        let settings = loaded.runSettings(base: job.base)
        folder = try RunFolder(
            loaded.noted(in: job), examination: settings.examination, durably: settings.isDurable)
    }

    /// Blocks the signals that stop a run, as `init` does. A program that does something else before calls this before
    /// it has a second thread.
    package static func blockSignals() { SignalSources.block(signalsToBlock) }

    /// The signals that stop a run, without those that this process ignores.
    package static var signalsToBlock: [CInt] { SignalSources.heeded(among: signals) }

    /// One of the signals that has arrived and is blocked; nil if there is none.
    package static var pendingSignal: CInt? {
        var pending = sigset_t()
        guard sigpending(&pending) == 0 else { return nil }
        return SignalSources.heeded(among: signals).first { sigismember(&pending, $0) == 1 }
    }

    package var path: String { folder.outputs.path }

    /// The folder of the status: the same, or that of the shard.
    package var answerPath: String { folder.answer.path }

    /// The part of the manifest that this is about; nil for the whole.
    package var shard: Shard? { folder.shard }

    /// The ID of the batch.
    package var id: String { folder.job.id }

    /// The progress, as others can read it too; nil before the run has begun.
    package var progress: BatchProgress? { folder.folders.progress() }

    /// What has changed since the former run in the folder; nil if there is none.
    package var changes: RunChanges? { folder.changes.withLock(\.self) }

    /// Whether this run has continued one that had not ended, and has then looked at what that had made.
    package var hasLookedBack: Bool { state.withLock(\.hasLookedBack) }

    /// The signal that stops the run; nil if none has arrived.
    package var stoppingSignal: CInt? { state.withLock(\.signal) }

    /// What earlier runs have done.
    package var before: Status.Counts { state.withLock(\.before) }

    /// How far the images are. A full disk may have refused the files that say it.
    package var counts: Status.Counts { summaryOfWork?.images ?? state.withLock(\.after) ?? before }

    /// The state of the batch, even if a full disk has refused the file that says it.
    package var batchState: BatchState {
        summaryOfWork == nil && state.withLock({ $0.after == nil })
            ? state.withLock(\.stateBefore) : .processing
    }

    /// nil if the batch is not in work.
    private var summaryOfWork: Board.Summary? {
        let summary = scheduler.withLock { $0?.summary }
        return summary?.batchesInWork == 1 ? summary : nil
    }

    /// Works until all images have ended, or a signal or the disk ends it. What an earlier run had made is looked at: before
    /// the work if that run had ended, and otherwise after the rest of it is made.
    ///
    /// - Parameter watch: called again and again until the end. It waits with the function that it receives, which takes
    ///   seconds and returns true when the run has ended.
    package func run(watch: (_ wait: (Double) -> Bool) -> Void) throws(RunError) -> Ending {
        let sources = SignalSources(signals, queue: control) { [self] in stop(by: $0) }
        defer { withExtendedLifetime(sources) {} }
        var finding = try folder.prepare()
        var hasWorked = false
        defer { if hasWorked { folder.spool.crashRecords.close() } }
        while true {
            switch finding {
            case .stopped:
                // It had no work yet. What is told is how far the former run was.
                if let status = try? Status(frameIn: folder.answer) { note(before: status) }
                return control.sync {
                    state.withLock { $0.ending ?? .stopped(signal: $0.signal ?? SIGTERM) }
                }
            case .finished(let status):
                try folder.settleFormer(of: status.images)
                return hasWorked ? .finished(status) : .unchanged(status)
            case .unfinished(let prepared):
                let isFirst = !hasWorked
                hasWorked = true
                let ending = try work(on: prepared, isFirst: isFirst, watch: watch)
                guard case .finished(let status) = ending else { return ending }
                guard let next = try folder.renewContinued() else {
                    finding = .finished(status)
                    continue
                }
                state.withLock { $0.hasLookedBack = true }
                finding = next
            }
        }
    }

    private func note(before status: Status) {
        state.withLock {
            $0.before = status.counts
            $0.stateBefore = status.state
        }
    }

    /// Works until all images have ended, or something else ends it.
    private func work(
        on prepared: PreparedBatch, isFirst: Bool, watch: (_ wait: (Double) -> Bool) -> Void
    ) throws(RunError) -> Ending {
        if isFirst { note(before: prepared.status) }
        let engine: TransferEngine
        let cache: CacheStore<CacheRecord>?
        do {
            engine = try TransferEngine(settings: loaded.configuration.transferSettings)
            cache =
                loaded.configuration.cacheFolder == nil
                ? nil : try CacheStore.open(loaded.configuration, log: log)
        } catch {
            throw .failure(Failure(erasing: error))
        }
        folder.spool.crashRecords.clearCrashes(exceptOf: [id])
        if isFirst { folder.spool.crashRecords.watchCrashes() }
        let storage = StorageGuard(log: log) { [weak self] failure in
            self?.stop(.failed(.failure(failure)))
        }
        var settings = loaded.runSettings(base: folder.job.base)
        settings.localSources.kept = folder.job.kept
        let scheduler = Scheduler(
            spool: folder.spool, settings: settings,
            engine: engine, cache: cache, storage: storage, log: log)
        let early = control.sync {
            let ending = state.withLock(\.ending)
            if ending == nil { self.scheduler.withLock { $0 = scheduler } }
            return ending
        }
        if let early {
            // Nobody waits for work that begins after the end.
            engine.stop()
            return early
        }
        scheduler.onProgress { [weak self] in self?.progressed() }
        cache?.start()
        scheduler.accept(prepared)
        watch { seconds in
            let isOver = ended.wait(timeout: .now() + seconds) == .success
            if isOver { ended.signal() }
            return isOver
        }
        ended.wait()
        engine.stop()
        cache?.stop()
        return control.sync {
            let counts = summaryOfWork?.images
            state.withLock { $0.after = counts ?? $0.after }
            self.scheduler.withLock { $0 = nil }
            // There may be more work.
            return state.withLock { $0.ending.take() }
                ?? .failed(.failure(.unexpected("the run has ended and does not know how")))
        }
    }

    /// Called after any progress, by any thread.
    private func progressed() {
        guard scheduler.withLock({ $0?.summary.batchesEnded == 1 }) else { return }
        control.async { [self] in
            guard scheduler.withLock({ $0?.summary.batchesEnded == 1 }),
                state.withLock({ !$0.isStopping && $0.ending == nil })
            else { return }
            finish(readEnd())
        }
    }

    private func readEnd() -> Ending {
        do throws(FileError) {
            if let status = try Status(in: folder.answer) { return .finished(status) }
            return .failed(RunError(unreadableStatusIn: folder.answer))
        } catch {
            return .failed(RunError(error))
        }
    }

    private func finish(_ ending: Ending) {
        let isFirst = state.withLock { state in
            defer { state.ending = state.ending ?? ending }
            return state.ending == nil
        }
        if isFirst { ended.signal() }
    }

    // MARK: The stop

    private func stop(by signal: CInt) {
        folder.isStopping.store(true, ordering: .relaxed)
        state.withLock { $0.signal = $0.signal ?? signal }
        stop(.stopped(signal: signal))
    }

    /// Finishes what runs, and then ends. A second signal does not wait for running work. Before the work has begun, `run`
    /// ends without it.
    func stop(_ ending: Ending) {
        control.async { [self] in
            guard let scheduler = scheduler.withLock({ $0 }) else { return finish(ending) }
            let isFirst = state.withLock { !exchange(&$0.isStopping, with: true) }
            guard isFirst else {
                if case .stopped = ending { scheduler.abort() }
                return
            }
            scheduler.close()
            let timeout = loaded.configuration.stopTimeout
            // On another queue, so that a second signal is handled.
            DispatchQueue.global(qos: .userInteractive).async { [self] in
                scheduler.stop(within: timeout) {}
                // The last image may have ended meanwhile.
                finish(scheduler.summary.batchesEnded == 1 ? readEnd() : ending)
            }
        }
    }
}
