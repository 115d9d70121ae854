import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomSpool
import Dispatch
import Synchronization

/// Changes of the board. The board's requests are carried out after its lock is free.
extension Scheduler {
    /// Changes the board, gives out the free places, and carries out the board's requests.
    func advance(
        recorded: @escaping @Sendable (ControlRecord) -> Void = { _ in },
        _ change: (inout Board) -> Void
    ) {
        settle(admits: true, recorded: recorded, change)
        progressed()
        listeners.withLock { $0 }.room()
    }

    /// Changes the board, and carries out its requests.
    ///
    /// - Parameter admits: whether free places are given out. Ends and arrivals give them out, beginnings do not.
    func settle(
        admits: Bool = false, recorded: @escaping @Sendable (ControlRecord) -> Void = { _ in },
        _ change: (inout Board) -> Void
    ) {
        let effects = board.withLock { board in
            board.admission.isStorageWorking = storage.mayWork
            change(&board)
            return board.settle(admits: admits && gate.mayStart && storage.mayWork)
        }
        for effect in effects { perform(effect, recorded) }
    }

    package func progressed() { listeners.withLock { $0 }.progress() }

    func statusChanged(_ key: BatchKey) { statusKeeper.changed(key, self) }

    private func perform(
        _ effect: Effect, _ recorded: @escaping @Sendable (ControlRecord) -> Void
    ) {
        switch effect {
        case .begun(let beginning):
            log.begun(beginning)
        case .enterLater(let work, let retry):
            enterLater(work, retry)
        case .start(let start):
            self.start(start)
        case .stop(let ticket):
            queues.cancel(ticket)
        case .storageUndecided:
            storage.probeInconclusive()
        case .record(let key, let id, let index, let status, let step):
            record(key, folders(of: id), index, status, step)
        case .deliver(let job):
            deliver(job)
        case .moveOriginals(let key, let id):
            moveOriginals(key, folders(of: id))
        case .endAgain(let key, let index, let image):
            endAgain(key, index, image)
        case .dropHandOver(let id, let image):
            // If this fails, the file stays until the batch's end.
            try? folders(of: id).active().remove(BatchFile.pixels(image))
            FaultPoint.handOverRemoved.pass()
        case .recordCommand(let id, let command):
            log.obeyed(id: id, command)
            record(command, of: folders(of: id), recorded)
        case .amendStatus(let id, let control, let commands, let continued):
            preparation.async { [self] in amendStatus(folders(of: id), control, commands, continued)
            }
        case .setCancelled(let key):
            cancellations.flag(of: key).set()
            deliveries.tryAgain()
            originals.tryAgain()
        case .park(let key, let id):
            foundContents.drop(key)
            // After its pending entries in the journal, because it will be read from there.
            committer.afterwards(of: FileName(id)) { [self] in
                statusKeeper.park(key, self)
            }
        case .dropDownloads(let key, let id):
            // If it has been released since, its preparation follows this or has finished, and it is in work.
            preparation.async { [self] in
                guard board.withLock({ $0.isParked(key) }) else { return }
                folders(of: id).dropDownloads()
            }
        case .prepare(let key, let id):
            prepareLater(key, folders(of: id))
        case .statusChanged(let key):
            statusChanged(key)
        case .finish(let key, let id):
            foundContents.drop(key)
            finish(key, folders(of: id))
        }
    }

    private func deliver(_ job: DeliveryJob) {
        let promise = job.image.promise
        deliveries.add(
            Deliveries.Job(
                job: job, folders: folders(of: job.id),
                cancellation: cancellations.flag(of: job.key),
                rules: { [self] in settings.delivery },
                ended: { [self] result in
                    advance { $0.change(job.key) { $0.deliveryEnded(job.index, result, &$1) } }
                }, changed: { [self] in statusChanged(job.key) },
                isKept: promise != nil, isPromised: promise != nil, mayBePlaced: promise != nil,
                copy: promise.map { FileName($0.copy) }))
    }

    private func moveOriginals(_ key: BatchKey, _ folders: BatchFolders) {
        originals.add(
            OriginalMoves.Job(
                key: key, folders: folders, cancellation: cancellations.flag(of: key),
                status: { [self] in board.withLock { $0.batches[key]?.shownStatus } },
                settings: { [self] in settings },
                ended: { [self] outcomes in
                    advance { $0.change(key) { $0.originalsMoved(outcomes, &$1) } }
                },
                changed: { [self] in statusChanged(key) }))
    }

    private func record(
        _ key: BatchKey, _ folders: BatchFolders, _ index: Int, _ status: ImageStatus,
        _ step: Step
    ) {
        running.enter()
        let begin = Clock.nanoseconds
        var status = status
        if folders.notesIdentities { status.limitsSHA256 = settings.limitsSHA256(of: status.error) }
        let handsOver = status.state == .filtered && board.withLock { $0.isHandedOver(key, index) }
        let item = Committer.Item(
            folders: folders, index: index, status: status, handsOver: handsOver
        ) { [self] recorded in
            log.metrics.ended(.publishing, since: begin)
            log.ended(batch: folders.id, recorded, at: step)
            endedWell(.filter(key, image: index))
            advance { $0.imageEnded(key, index, recorded) }
            running.leave()
        } unrecorded: { [self] reason in
            if case .again = reason {
                forgetAttempt(.filter(key, image: index))
                advance { $0.filterDeferred(key, index) }
            }
            running.leave()
        }
        committer.commit(item)
    }

    /// Ends an image that was filtered again, in its turn among those that are recorded. It does not end within the
    /// call that requests it, because a chain of images may end with it.
    private func endAgain(_ key: BatchKey, _ index: Int, _ image: ImageStatus) {
        running.enter()
        committer.queue.async { [self] in
            endedWell(.filter(key, image: index))
            advance { $0.imageEnded(key, index, image) }
            running.leave()
        }
    }
}
