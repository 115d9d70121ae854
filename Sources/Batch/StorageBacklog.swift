import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Synchronization

/// The work that the scheduler holds back while the spool accepts no writes.
struct StorageBacklog: Sendable {
    /// The piece of work for one attempt: an image on its way through all steps, identified by its source if it has
    /// one, because a source's download precedes its image's filters.
    enum Piece: Hashable, Sendable {
        case source(BatchKey, Int)
        case image(BatchKey, Int)
    }

    private(set) var items: [WorkRequest] = []
    private(set) var unprepared: [(BatchKey, BatchFolders)] = []
    /// The piece that tests whether writes are accepted again.
    var tried: Piece?

    var isEmpty: Bool { items.isEmpty && unprepared.isEmpty }

    mutating func add(_ item: WorkRequest) { items.append(item) }

    mutating func add(unprepared key: BatchKey, _ folders: BatchFolders) {
        unprepared.append((key, folders))
    }

    mutating func remove(_ work: Work) { items.removeAll { $0.work == work } }

    /// Takes one piece for an attempt: if possible an image whose source has been fetched, because it needs the least.
    mutating func takeOne() -> WorkRequest? {
        guard !items.isEmpty else { return nil }
        return items.remove(at: items.firstIndex { $0.work.isFilter } ?? 0)
    }

    mutating func takeUnprepared() -> (BatchKey, BatchFolders)? {
        unprepared.isEmpty ? nil : unprepared.removeFirst()
    }

    /// Takes everything, because the spool accepts writes again.
    mutating func takeAll() -> StorageBacklog {
        defer { self = StorageBacklog() }
        return self
    }
}

extension Work {
    fileprivate var isFilter: Bool {
        if case .filter = self { true } else { false }
    }
}

// MARK: Refused work

extension Scheduler {
    /// The spool has refused a write of this work, or there was no file descriptor for it. The work has not failed. It
    /// waits.
    func refused(_ work: Work, _ failure: Failure, batch: String) {
        // This comes first, so that the work does not count as the present attempt and begin again at once.
        forgetAttempt(work)
        var failure = failure
        // A picture's writer knows only the name of its file.
        if !failure.message.contains(spool.root.path) {
            let folder = spool.active.path(of: FileName(batch))
            failure.message = "\(folder): \(failure.message)"
        }
        if failure.fault == .full { failure.code = FileError.diskFull }
        storage.writeRefused(failure, batch: batch)
    }

    /// The attempt has met the same problem.
    func forgetAttempt(_ work: Work) {
        board.withLock { board in
            if let piece = board.piece(of: work) { _ = board.admission.endAttempt(of: piece) }
        }
    }

    /// Frees the space that an image has used before the disk was full: its output, which has been removed, and its
    /// fetched source if no other image uses it.
    func giveBackSource(of image: Int, _ key: BatchKey, _ folders: BatchFolders) {
        guard let slot = board.withLock({ $0.sourceGivenBack(key, image) }) else { return }
        removeScratch(slot, folders)
    }

    /// Removes a scratch file whose bytes are not needed any more.
    func removeScratch(_ slot: Int, _ folders: BatchFolders) {
        // If this fails, its bytes stay until the next download into it, or the batch's end.
        try? folders.active().remove(BatchFile.source(slot))
    }

    /// Removes the scratch files that are kept for the next downloads, because the space is needed now.
    private func removeFreeScratch() {
        for free in board.withLock({ $0.takeFreeSlots() }) {
            for slot in free.slots { removeScratch(slot, free.folders) }
            board.withLock { $0.batches[free.key]?.returnSlots(free.slots) }
        }
    }

    // MARK: Waiting

    /// Makes a batch whose folder must be read wait until the spool accepts writes again.
    func waitForStorage(_ key: BatchKey, _ folders: BatchFolders) {
        board.withLock { $0.admission.add(unprepared: key, folders) }
        // It may have changed since the check.
        if storage.mayWork { goOn() }
    }

    /// The image's result is in the journal: its attempt was successful.
    func endedWell(_ work: Work) {
        guard !storage.mayWork else { return }
        let wasTried = board.withLock { board in
            board.piece(of: work).map { board.admission.endAttempt(of: $0) } ?? false
        }
        if wasTried { storage.writeSucceeded() }
    }

    /// Nobody needed the work any more when its turn came. If its batch has ended, nothing is known about it.
    func endedUndecided(_ work: Work) {
        guard !storage.mayWork else { return }
        if board.withLock({ $0.admission.endAttempt(of: $0.piece(of: work)) }) {
            storage.probeInconclusive()
        }
    }

    /// Begins all work that waited.
    private func goOn() {
        var unprepared: [(BatchKey, BatchFolders)] = []
        advance { board in
            let outcome: Admission.Outcome
            (outcome, unprepared) = board.admission.storageWorks()
            return board.follow(outcome)
        }
        for (key, folders) in unprepared { prepareLater(key, folders) }
    }
}

extension Scheduler: StorageClient {
    package func tryStorage() -> Bool {
        guard gate.mayStart else { return false }
        if let (key, folders) = board.withLock({ $0.admission.takeUnprepared() }) {
            prepareLater(key, folders)
            return true
        }
        var isTried = false
        settle { board in
            guard let outcome = board.admission.tryStorage() else { return [] }
            isTried = true
            return board.follow(outcome)
        }
        return isTried
    }

    package func storageChanged() {
        if storage.mayWork {
            goOn()
        } else if storage.report?.code == FileError.diskFull {
            removeFreeScratch()
        }
        for key in board.withLock({ Array($0.batches.keys) }) { statusChanged(key) }
        progressed()
    }
}

extension Board {
    /// The free scratch files of all batches, reserved so that no source gets one; first those of downloads that would
    /// have been resumed, which begin anew.
    func takeFreeSlots() -> [(key: BatchKey, folders: BatchFolders, slots: [Int])] {
        batches.values.compactMap { batch in
            batch.forgetPartials()
            let slots = batch.takeFreeSlots()
            return slots.isEmpty ? nil : (batch.key, batch.folders, slots)
        }
    }

    /// The piece of this work for an attempt; nil if its batch has ended.
    func piece(of work: Work) -> StorageBacklog.Piece? {
        switch work {
        case .download(let key, let source):
            return batches[key] == nil ? nil : .source(key, source)
        case .filter(let key, let image):
            guard let batch = batches[key] else { return nil }
            let source = batch.sourceOfImage[image]
            return source >= 0 ? .source(key, source) : .image(key, image)
        }
    }

    /// Makes an image that is being filtered wait for its source's download again, if no other image in work uses the
    /// source.
    ///
    /// - Returns: the number of the scratch file, which still belongs to the source; nil if the file is kept.
    func sourceGivenBack(_ key: BatchKey, _ image: Int) -> Int? {
        guard let batch = batches[key], batch.live[image]?.phase == .filtering,
            !batch.cancellation.isSet
        else { return nil }
        let source = batch.sourceOfImage[image]
        guard source >= 0, batch.sources[source].phase == .ready,
            let slot = batch.sources[source].slot,
            !batch.live.indices.contains(where: { $0 != image && batch.sourceOfImage[$0] == source }
            )
        else { return nil }
        batch.sources[source].phase = .queued
        batch.sources[source].attempts = nil
        batch.sources[source].waiters = [image]
        batch.live[image]?.phase = .queuedDownload
        batch.setState(.new, of: image)
        return slot
    }
}
