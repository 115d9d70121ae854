import DarkroomCore
import DarkroomManifest
import DarkroomSpool

/// What became of a control.
package enum SteeringOutcome: Sendable, Equatable {
    /// It takes effect.
    case acts
    /// It is so already.
    case already
    /// This very control has acted before, and could not be removed.
    case hasActed
    /// Who asks is neither the manifest's owner nor the spool's.
    case refused(owner: UInt32?)
    /// The batch is being cancelled, which is for good.
    case isCancelled
    /// The batch has ended but for its last status.
    case isEnding
    /// Only a finished batch can be done again.
    case isInWork
    /// There is no such batch here.
    case unknown
}

/// Steering by control files.
///
/// | the batch                | cancel              | hold               | release            | retry    |
/// |--------------------------|---------------------|--------------------|--------------------|----------|
/// | waits                    | ends at once        | waits, held        | already            | isInWork |
/// | waits, held              | ends at once        | already            | waits for its turn | isInWork |
/// | is being prepared        | ends when prepared  | held when prepared | already            | isInWork |
/// | in work                  | images end          | no new image       | already            | isInWork |
/// | in work, held            | images end          | already            | goes on            | isInWork |
/// | in work, cancelled       | already             | isCancelled        | isCancelled        | isInWork |
/// | ended, status to come    | isEnding            | isEnding           | isEnding           | isEnding |
/// | not here                 | unknown             | unknown            | unknown            | unknown  |
///
/// A held batch without an image in work goes back to those that wait and is kept by its folder alone, so that
/// holding costs neither memory nor the others' room.
extension Board {
    /// - Parameter isPrivileged: whether who asks may steer every batch, not only their own.
    mutating func steer(
        _ id: String, _ steering: Steering, isPrivileged: Bool, _ effects: inout [Effect]
    ) -> SteeringOutcome {
        guard let key = keys[FileName(id)] else { return .unknown }
        if let batch = waitingBatches[key] {
            guard isPrivileged || steering.isOwners(of: batch.uid) else {
                return .refused(owner: batch.uid)
            }
            return steer(key, batch, steering, &effects)
        }
        guard let batch = batches[key] else { return .unknown }
        let owner = batch.status.manifest.uid
        guard isPrivileged || steering.isOwners(of: owner) else {
            return .refused(owner: owner)
        }
        return steer(batch, steering, &effects)
    }

    /// Why an action changes nothing, or nil.
    private static func objection(
        to action: Steering.Action, isCancelled: Bool, isHeld: Bool
    ) -> SteeringOutcome? {
        switch action {
        case .retry: .isInWork
        case .cancel: isCancelled ? .already : nil
        case .hold: isCancelled ? .isCancelled : isHeld ? .already : nil
        case .release: isCancelled ? .isCancelled : isHeld ? nil : .already
        }
    }

    // MARK: Batches that wait

    private mutating func steer(
        _ key: BatchKey, _ waiting: Waiting, _ steering: Steering, _ effects: inout [Effect]
    ) -> SteeringOutcome {
        if waiting.steering.has(fileOf: steering) { return .hasActed }
        var batch = waiting
        let action = steering.action
        // What is held is let go of, with all that its status is still to show.
        let continued = action == .hold ? waiting.continued?.status : nil
        if let objection = Self.objection(
            to: action, isCancelled: batch.isCancelled, isHeld: batch.isHeld)
        {
            return objection
        }
        batch.isCancelled = action == .cancel
        batch.isHeld = action == .hold
        batch.steering = Array((batch.steering + [steering]).suffix(Status.steeringLimit))
        effects.append(.recordSteering(batch.folders, steering))
        if !batch.isInPreparation {
            switch action {
            case .hold: dequeue(key, &batch)
            case .release: self.waiting[batch.level.index].insert(key, of: batch.uid)
            case .cancel, .retry: break
            }
        }
        waitingBatches[key] = batch
        guard !batch.isInPreparation else { return .acts }
        if batch.isCancelled {
            self.waiting[batch.level.index].remove(key, of: batch.uid)
            activate(key, batch, &effects)
        } else {
            effects.append(
                .amendStatus(
                    batch.folders, isHeld: batch.isHeld, steering: batch.steering,
                    continued: continued))
        }
        return .acts
    }

    /// Takes a batch out of the queue and out of memory.
    private mutating func dequeue(_ key: BatchKey, _ batch: inout Waiting) {
        waiting[batch.level.index].remove(key, of: batch.uid)
        if batch.prepared != nil { imagesPrepared -= batch.images }
        batch.prepared = nil
    }

    // MARK: Batches in work

    private mutating func steer(
        _ batch: Batch, _ steering: Steering, _ effects: inout [Effect]
    ) -> SteeringOutcome {
        if batch.status.steering?.has(fileOf: steering) == true { return .hasActed }
        guard !batch.isFinishing else { return .isEnding }
        if let objection = Self.objection(
            to: steering.action, isCancelled: batch.cancellation.isSet, isHeld: batch.isHeld)
        {
            return objection
        }
        batch.status.note(steering)
        effects.append(.recordSteering(batch.folders, steering))
        effects.append(.statusChanged(batch.key))
        switch steering.action {
        case .cancel:
            batch.setHeld(false)
            cancelImages(of: batch, &effects)
            finishIfEnded(batch, &effects)
        case .hold:
            batch.setHeld(true)
            takeBackQueued(batch, &effects)
            parkIfIdle(batch, &effects)
        case .release:
            batch.setHeld(false)
            rotate(batch)
        case .retry: break
        }
        return .acts
    }

    /// Takes back the places of images that no operation works on: a download or a filter of theirs has not begun.
    private mutating func takeBackQueued(_ batch: Batch, _ effects: inout [Effect]) {
        for source in batch.sources.indices where batch.sources[source].phase.isToBegin {
            effects.append(.cancel(.download(batch.key, source: source)))
            takeBack(source: source, of: batch)
        }
        for (index, live) in batch.live
        where live.phase == .queuedFilter {
            effects.append(.cancel(.filter(batch.key, image: index)))
            giveBackMemory(batch.key, index, &effects)
            takeBack(index, of: batch)
        }
    }

    /// Takes back the places of the images that wait for a source whose download has not begun, or has failed
    /// and is to be tried again: that begins anew then.
    mutating func takeBack(source: Int, of batch: Batch) {
        let hasBegun = (batch.sources[source].tries?.count ?? 0) > 0
        let waiters = batch.sources[source].waiters
        batch.forgetTries(of: source)
        for index in waiters.reversed() where batch.live[index] != nil {
            takeBack(index, of: batch, hasBegun: hasBegun)
        }
        countWaiting(batch)
    }

    private mutating func takeBack(_ index: Int, of batch: Batch, hasBegun: Bool = false) {
        batch.live[index] = nil
        countPlace(-1, of: batch)
        if !hasBegun { batch.status.images[index].attempts -= 1 }
        batch.status.images[index].download?.retryAt = nil
        batch.setState(.new, of: index)
        batch.unblocked.append(index)
    }

    // MARK: Parking

    /// Has a held batch that does nothing any more put away.
    mutating func parkIfIdle(_ batch: Batch, _ effects: inout [Effect]) {
        guard batch.isHeld, batch.live.isEmpty, !batch.isFinishing else { return }
        effects.append(.park(batch.key))
    }

    /// The status of a held batch is in its file: it goes back to those that wait, if it is held still.
    mutating func parked(_ key: BatchKey) -> [Effect] {
        guard let batch = batches[key], batch.isHeld, batch.live.isEmpty, !batch.isFinishing
        else { return [] }
        batches[key] = nil
        release(images: batch.manifest.images.count, batch.level, of: batch.owner)
        waitingBatches[key] = Waiting(
            folders: batch.folders, level: batch.level, images: batch.manifest.images.count,
            uid: batch.status.manifest.uid, isHeld: true, steering: batch.status.steering ?? [])
        return [.dropScratch(key, batch.folders)]
    }

    /// What was done to a batch that waits; nil where there is none of this ID.
    func steering(of id: String) -> [Steering]? {
        keys[FileName(id)].flatMap { waitingBatches[$0]?.steering }
    }

    /// Whether a batch is held and put away.
    func isParked(_ key: BatchKey) -> Bool { waitingBatches[key]?.isHeld == true }

    // MARK: Cancelling

    mutating func cancelImages(of batch: Batch, _ effects: inout [Effect]) {
        batch.cancellation.set()
        for index in batch.manifest.images.indices {
            guard !batch.status.images[index].state.isFinal else { continue }
            switch batch.live[index]?.phase {
            case nil, .queuedDownload, .waitingDownload:
                batch.setState(.cancelled, of: index)
                end(index, of: batch, &effects)
            case .queuedFilter:
                effects.append(.cancel(.filter(batch.key, image: index)))
                batch.setState(.cancelled, of: index)
                end(index, of: batch, &effects)
            case .filtering, .recording:
                // It asks the flag, or has its end before it.
                break
            case .downloading:
                effects.append(
                    .cancel(.download(batch.key, source: batch.sourceOfImage[index])))
            }
        }
        for source in batch.sources.indices where batch.sources[source].phase.isToBegin {
            batch.forgetTries(of: source)
            effects.append(.cancel(.download(batch.key, source: source)))
        }
    }
}

extension Board.Waiting {
    /// Hands on what has been done to the batch while it waited; the journal may lag behind.
    func steer(_ prepared: inout PreparedBatch) {
        if isCancelled { prepared.isCancelled = true }
        prepared.isHeld = isHeld
        if !steering.isEmpty { prepared.status.steering = steering }
    }
}
