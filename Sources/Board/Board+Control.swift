import DarkroomAnswer
import DarkroomCore
import DarkroomManifest

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
    package mutating func obey(
        _ id: String, _ record: ControlRecord, isPrivileged: Bool
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
            pool.request(.recordCommand(id: subject.id, record))
            if let batch = waitingBatches[key] {
                set(control, key, batch, record)
            } else {
                change(key) { $0.set(control, record, &$1) }
            }
            return .acts
        }
    }

    /// The batch that a command is given to, in work or waiting.
    private func subject(_ key: BatchKey) -> Subject? {
        if let batch = waitingBatches[key] {
            return Subject(
                id: batch.id, owner: batch.owner, commands: batch.commands,
                control: batch.control)
        }
        return batches[key].map { batch in
            Subject(
                id: batch.id, owner: batch.owner, commands: batch.status.commands ?? [],
                control: batch.control, isFinishing: batch.isFinishing)
        }
    }

    private struct Subject {
        let id: String
        let owner: UInt32?
        let commands: [ControlRecord]
        let control: ControlState
        var isFinishing = false
    }

    // MARK: Waiting batches

    private mutating func set(
        _ control: ControlState, _ key: BatchKey, _ waiting: Waiting, _ record: ControlRecord
    ) {
        var batch = waiting
        batch.control = control
        batch.commands.note(record)
        // A batch that is being prepared gets the command after that.
        guard !batch.isInPreparation else {
            waitingBatches[key] = batch
            return
        }
        switch control {
        case .free:
            self.waiting[batch.level.index].insert(key, of: batch.owner)
            waitingBatches[key] = batch
            pool.request(.amendStatus(id: batch.id, control, batch.commands, continued: nil))
        case .held:
            // It is removed from memory. Its status may contain more than its file.
            let continued = waiting.continued?.status
            dequeue(key, &batch)
            waitingBatches[key] = batch
            pool.request(.amendStatus(id: batch.id, control, batch.commands, continued: continued))
        case .cancelled:
            self.waiting[batch.level.index].remove(key, of: batch.owner)
            waitingBatches[key] = batch
            activate(key, batch)
        }
    }

    private mutating func dequeue(_ key: BatchKey, _ batch: inout Waiting) {
        waiting[batch.level.index].remove(key, of: batch.owner)
        if batch.prepared != nil { imagesPrepared -= batch.images }
        batch.prepared = nil
    }

    // MARK: Parking

    /// The status of a held batch has been written. If it is still held, it returns to the waiting batches.
    package mutating func parked(_ key: BatchKey) {
        guard batches[key]?.isIdle == true, var batch = batches.removeValue(forKey: key)
        else { return }
        batch.leaveRotation(&pool)
        release(images: batch.manifest.images.count, batch.level, of: batch.owner)
        waitingBatches[key] = Waiting(
            id: batch.id, level: batch.level, images: batch.manifest.images.count,
            owner: batch.owner, priority: batch.manifest.priority,
            received: batch.status.times.received, counts: batch.shownCounts,
            outputBytes: batch.outputBytes, control: .held, commands: batch.status.commands ?? [])
        pool.request(.dropDownloads(key, id: batch.id))
    }

    /// The commands that a waiting batch was given; nil if no waiting batch has this ID.
    package func commands(of id: String) -> [ControlRecord]? {
        keys[FileName(id)].flatMap { waitingBatches[$0]?.commands }
    }

    package func isParked(_ key: BatchKey) -> Bool { waitingBatches[key]?.control == .held }
}

extension Board.Waiting {
    /// Adds the commands that the batch was given while it waited. The journal may not have them yet.
    func hand(to prepared: inout PreparedBatch) {
        prepared.control = control
        if !commands.isEmpty { prepared.status.commands = commands }
    }
}
