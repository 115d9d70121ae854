import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomSpool
import Dispatch
import Synchronization

struct ProgressSnapshot: Sendable {
    let folders: BatchFolders
    let sums: BatchSums
    /// Whether work of the batch may begin.
    let mayWork: Bool
}

/// Writes the progress files of batches in work: about twice a second, if they have changed, and whenever the state
/// changes for long.
///
/// It has its own queue, because the status of a batch of 100,000 images takes a second to write. All files are written
/// on this queue, so an old progress never replaces a newer one. Many batches may be in work at once: then writing
/// takes at most a fiftieth of the time.
///
/// A refused write is not reported and not repeated. The next change is written again.
final class ProgressKeeper: Sendable {
    fileprivate struct Entry {
        var meter = ProgressMeter()
        /// What the file says; nil if this is not known.
        var last: BatchProgress?
        var outlook = Outlook()
    }

    /// What the list of batches shows of the progress.
    struct Outlook: Sendable {
        var secondsLeft: Double?
        /// The code of what it waits for.
        var waiting: String?
    }

    private let pacer: Pacer<BatchKey>
    private let entries = Mutex<[BatchKey: Entry]>([:])
    private let time: TimeSource

    init(time: TimeSource) {
        self.time = time
        // A batch that has ended does not wait long for the files of others.
        pacer = Pacer(
            interval: 450_000_000,
            limits: .init(
                share: .all(50), delay: 10_000_000, turn: 50_000_000, catchUp: 25_000_000),
            queue: DispatchQueue(label: "darkroom.progress", qos: .userInitiated), time: time)
    }

    var queue: DispatchQueue { pacer.queue }

    // MARK: In the middle of the work

    /// The batch's progress differs from its file.
    func changed(_ key: BatchKey, _ source: any StatusSource, now: UInt64) {
        pacer.changed(key, now: now, write: write(source))
    }

    private func write(_ source: any StatusSource) -> Pacer<BatchKey>.Write {
        { [self] key, now in write(key, source, now) }
    }

    /// Writes the file unless it says the same.
    private func write(_ key: BatchKey, _ source: any StatusSource, _ now: UInt64) -> PacedWrite {
        // It may have finished before this change was reported.
        guard let snapshot = source.progress(of: key) else {
            entries.withLock { $0[key] = nil }
            return .over
        }
        // The last progress is written with the last status.
        guard !snapshot.sums.status.state.isFinal else { return .done }
        let (progress, last) = entries.withLock { entries in
            let progress = entries[key, default: Entry()].measure(snapshot, now)
            return (progress, entries[key]?.last)
        }
        if let last, progress.saysTheSame(as: last) { return .done }
        let isWritten = snapshot.folders.writeProgress(progress)
        entries.withLock { $0[key]?.last = isWritten ? progress : nil }
        return .done
    }

    // MARK: Other moments

    /// Writes the files of these batches now, as far as the time permits.
    ///
    /// - Parameter end: in nanoseconds.
    func write(_ keys: [BatchKey], _ source: any StatusSource, before end: UInt64 = .max) {
        queue.sync {
            for key in keys where end == .max || time.now < end { pacer.write(key, write(source)) }
        }
    }

    /// The batch has ended, or is put away. Nothing of it is kept here.
    func forget(_ key: BatchKey) {
        pacer.forget(key)
        entries.withLock { $0[key] = nil }
    }

    /// The last status of the batch is in the outbox.
    func finish(_ key: BatchKey, _ folders: BatchFolders, _ status: Status) {
        queue.sync { _ = folders.writeProgress(BatchProgress(of: status)) }
        forget(key)
    }

    /// The status of a waiting batch has been changed apart from its images.
    func amended(_ folders: BatchFolders, _ status: Status) {
        queue.sync { folders.amendProgress(status) }
    }

    /// No file is written any more.
    func close() { pacer.close() }

    /// The last estimates for the batches in work, and what they wait for.
    var outlooks: [BatchKey: Outlook] { entries.withLock { $0.mapValues(\.outlook) } }
}

extension ProgressKeeper.Entry {
    /// Adds the present sums to the measurement, and describes the batch.
    fileprivate mutating func measure(_ snapshot: ProgressSnapshot, _ now: UInt64) -> BatchProgress
    {
        let (status, outputBytes) = (snapshot.sums.status, snapshot.sums.outputBytes)
        let counts = status.counts
        meter.add(
            time: now, images: counts.finished, bytes: outputBytes, sizes: snapshot.sums.sizes,
            mayWork: snapshot.mayWork)
        var progress = BatchProgress(of: status, outputBytes: outputBytes)
        progress.imagesPerSecond = meter.imagesPerSecond?.shortened
        progress.bytesPerSecond = meter.bytesPerSecond?.shortened
        progress.secondsLeft = meter.secondsLeft(images: counts.total - counts.finished)?.shortened
        outlook = ProgressKeeper.Outlook(
            secondsLeft: progress.secondsLeft, waiting: status.waiting?.code)
        return progress
    }
}
