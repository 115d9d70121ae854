import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomSpool

/// What the scheduler does while the spool accepts no writes.
extension Scheduler {
    // MARK: Refused work

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
        if failure.storageFailure == .full { failure.code = FileError.diskFull }
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
            for slot in free.slots { removeScratch(slot, folders(of: free.id)) }
            board.withLock { _ = $0.change(free.key) { batch, _ in batch.returnSlots(free.slots) } }
        }
    }

    // MARK: Waiting

    /// Makes a batch whose folder must be read wait until the spool accepts writes again.
    func waitForStorage(_ key: BatchKey, _ folders: BatchFolders) {
        board.withLock { $0.admission.add(unprepared: key, id: folders.id) }
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

    private func goOn() {
        var unprepared: [(key: BatchKey, id: String)] = []
        advance { board in
            let outcome: Admission.Outcome
            (outcome, unprepared) = board.admission.storageWorks()
            board.follow(outcome)
        }
        for (key, id) in unprepared { prepareLater(key, folders(of: id)) }
    }
}

extension Scheduler: StorageClient {
    package func tryStorage() -> Bool {
        if refusedWrites.tryStorage() { return true }
        guard gate.mayStart else { return false }
        if let (key, id) = board.withLock({ $0.admission.takeUnprepared() }) {
            prepareLater(key, folders(of: id))
            return true
        }
        var isTried = false
        settle { board in
            guard let outcome = board.admission.tryStorage() else { return }
            isTried = true
            board.follow(outcome)
        }
        return isTried
    }

    package func storageChanged() {
        refusedWrites.storageChanged()
        if storage.mayWork {
            goOn()
        } else if storage.report?.code == FileError.diskFull {
            removeFreeScratch()
        }
        waitingChanged()
        progressed()
    }
}
