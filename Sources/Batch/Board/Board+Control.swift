import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool

/// The effect of a command on a batch that is not finished.
///
/// | the batch                   | `.sets(.cancelled)` | `.sets(.held)`     | `.sets(.free)`     | `.reopens`, `.removes` |
/// |-----------------------------|---------------------|--------------------|--------------------|------------------------|
/// | waits                       | ends at once        | waits, held        | already            | isInWork               |
/// | waits, held                 | ends at once        | already            | waits for its turn | isInWork               |
/// | is being prepared           | ends when prepared  | held when prepared | already            | isInWork               |
/// | in work                     | images end          | no new image       | already            | isInWork               |
/// | in work, held               | images end          | already            | continues          | isInWork               |
/// | in work, cancelled          | already             | isCancelled        | isCancelled        | isInWork               |
/// | ended, without final status | isEnding            | isEnding           | isEnding           | isEnding               |
/// | not here                    | unknown             | unknown            | unknown            | unknown                |
///
/// A held batch without an image in work returns to the waiting batches, and only its folder keeps its state. So a held
/// batch uses neither memory nor the room of others.
extension Board {
    /// - Parameter isPrivileged: whether the user may give commands to every batch, not only to their own.
    mutating func obey(
        _ id: String, _ record: ControlRecord, isPrivileged: Bool, _ effects: inout [Effect]
    ) -> ControlOutcome {
        guard let key = keys[FileName(id)], let subject = subject(key) else { return .unknown }
        guard record.isPermitted(forBatchOf: subject.owner, isPrivileged: isPrivileged) else {
            return .refused(owner: subject.owner)
        }
        if subject.commands.has(fileOf: record) { return .hasActed }
        guard !subject.isFinishing else { return .isEnding }
        switch record.command.form.effect {
        case .reopens, .removes: return .isInWork
        case .sets(subject.control): return .already(subject.control)
        case .sets where subject.control == .cancelled: return .isCancelled
        case .sets(let control):
            // This comes first, so that it is reported before its consequences.
            effects.append(.recordCommand(subject.folders, record))
            if let batch = waitingBatches[key] {
                set(control, key, batch, record, &effects)
            } else if let batch = batches[key] {
                set(control, batch, record, &effects)
            }
            return .acts
        }
    }

    /// The batch that a command is given to, in work or waiting.
    private func subject(_ key: BatchKey) -> Subject? {
        if let batch = waitingBatches[key] {
            return Subject(
                folders: batch.folders, owner: batch.uid, commands: batch.commands,
                control: batch.control)
        }
        return batches[key].map { batch in
            Subject(
                folders: batch.folders, owner: batch.owner, commands: batch.status.commands ?? [],
                control: batch.control, isFinishing: batch.isFinishing)
        }
    }

    private struct Subject {
        let folders: BatchFolders
        let owner: UInt32?
        let commands: [ControlRecord]
        let control: ControlState
        var isFinishing = false
    }

    // MARK: Waiting batches

    private mutating func set(
        _ control: ControlState, _ key: BatchKey, _ waiting: Waiting, _ record: ControlRecord,
        _ effects: inout [Effect]
    ) {
        var batch = waiting
        batch.control = control
        batch.commands.note(record)
        // A batch that is being prepared gets the command after that.
        guard !batch.isInPreparation else { return waitingBatches[key] = batch }
        switch control {
        case .free:
            self.waiting[batch.level.index].insert(key, of: batch.uid)
            waitingBatches[key] = batch
            effects.append(.amendStatus(batch.folders, control, batch.commands, continued: nil))
        case .held:
            // It is removed from memory. Its status may contain more than its file.
            let continued = waiting.continued?.status
            dequeue(key, &batch)
            waitingBatches[key] = batch
            effects.append(
                .amendStatus(batch.folders, control, batch.commands, continued: continued))
        case .cancelled:
            self.waiting[batch.level.index].remove(key, of: batch.uid)
            waitingBatches[key] = batch
            activate(key, batch, &effects)
        }
    }

    /// Removes a batch from the queue and from memory.
    private mutating func dequeue(_ key: BatchKey, _ batch: inout Waiting) {
        waiting[batch.level.index].remove(key, of: batch.uid)
        if batch.prepared != nil { imagesPrepared -= batch.images }
        batch.prepared = nil
    }

    // MARK: Batches in work

    private mutating func set(
        _ control: ControlState, _ batch: Batch, _ record: ControlRecord,
        _ effects: inout [Effect]
    ) {
        batch.status.note(record)
        effects.append(.statusChanged(batch.key))
        batch.setHeld(control == .held)
        switch control {
        case .cancelled:
            cancelImages(of: batch, &effects)
            finishIfEnded(batch, &effects)
        case .held:
            takeBackQueued(batch, &effects)
            parkIfIdle(batch, &effects)
        case .free: rotate(batch)
        }
    }

    /// Takes back the places of images whose download or filter has not begun.
    private mutating func takeBackQueued(_ batch: Batch, _ effects: inout [Effect]) {
        for source in batch.sources.indices where batch.sources[source].phase.isToBegin {
            effects.append(.cancel(.download(batch.key, source: source)))
            takeBack(source: source, of: batch)
        }
        // From the last to the first, so that they continue in the manifest's order.
        for (index, live) in batch.live.sorted(by: { $0.key > $1.key })
        where live.phase == .queuedFilter {
            effects.append(.cancel(.filter(batch.key, image: index)))
            giveBackMemory(batch.key, index, &effects)
            takeBack(index, of: batch)
        }
    }

    /// Takes back the places of images that wait for a source whose download has not begun, or is to be retried. The
    /// download begins anew later.
    mutating func takeBack(source: Int, of batch: Batch) {
        let hasBegun = (batch.sources[source].attempts?.count ?? 0) > 0
        let waiters = batch.sources[source].waiters
        batch.forgetAttempts(of: source)
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

    /// Parks a held batch if none of its images is in work.
    mutating func parkIfIdle(_ batch: Batch, _ effects: inout [Effect]) {
        guard batch.isHeld, batch.live.isEmpty, !batch.isFinishing else { return }
        effects.append(.park(batch.key))
    }

    /// The status of a held batch has been written. If it is still held, it returns to the waiting batches.
    mutating func parked(_ key: BatchKey) -> [Effect] {
        guard let batch = batches[key], batch.isHeld, batch.live.isEmpty, !batch.isFinishing
        else { return [] }
        batches[key] = nil
        leaveRotation(batch)
        release(images: batch.manifest.images.count, batch.level, of: batch.owner)
        waitingBatches[key] = Waiting(
            folders: batch.folders, level: batch.level, images: batch.manifest.images.count,
            uid: batch.status.manifest.uid, priority: batch.manifest.priority,
            received: batch.status.times.received, counts: batch.shownCounts,
            outputBytes: batch.outputBytes, control: .held, commands: batch.status.commands ?? [])
        return [.dropScratch(key, batch.folders)]
    }

    /// The commands that a waiting batch was given; nil if no waiting batch has this ID.
    func commands(of id: String) -> [ControlRecord]? {
        keys[FileName(id)].flatMap { waitingBatches[$0]?.commands }
    }

    /// Whether a batch is held and parked.
    func isParked(_ key: BatchKey) -> Bool { waitingBatches[key]?.control == .held }

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
                // Its operation checks the flag, or its end is being recorded.
                break
            case .downloading:
                effects.append(
                    .cancel(.download(batch.key, source: batch.sourceOfImage[index])))
            }
        }
        for source in batch.sources.indices where batch.sources[source].phase.isToBegin {
            batch.forgetAttempts(of: source)
            effects.append(.cancel(.download(batch.key, source: source)))
        }
    }
}

extension Board.Waiting {
    /// Adds the commands that the batch was given while it waited. The journal may not have them yet.
    func hand(to prepared: inout PreparedBatch) {
        prepared.control = control
        if !commands.isEmpty { prepared.status.commands = commands }
    }
}
