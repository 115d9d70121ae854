import DarkroomAnswer
import DarkroomManifest

/// The effect of commands on a batch in work, see `Board.obey`.
extension Batch {
    mutating func set(_ control: ControlState, _ record: ControlRecord, _ pool: inout Pool) {
        status.note(record)
        pool.mark(key)
        setHeld(control == .held)
        switch control {
        case .cancelled:
            cancelImages(&pool)
            finishIfEnded(&pool)
        case .held:
            takeBackQueued(&pool)
            parkIfIdle(&pool)
        case .free: rotate(&pool)
        }
    }

    /// Takes back the places of images whose download or filter has not begun.
    private mutating func takeBackQueued(_ pool: inout Pool) {
        for source in sources.indices where sources[source].phase.isToBegin {
            pool.leave(.download(key, source: source))
            takeBack(source: source, &pool)
        }
        // From the last to the first, so that they continue in the manifest's order.
        for index in live.indices.sorted(by: >) where stage(of: index) == .waits(.filter) {
            pool.leave(.filter(key, image: index))
            pool.giveBackMemory(.filter(key, image: index))
            move(index, to: .new, &pool)
        }
    }

    /// Takes back the places of images that wait for a source whose download has not begun, or is to be retried. The
    /// download begins anew later.
    mutating func takeBack(source: Int, _ pool: inout Pool) {
        for index in sources[source].waiters.reversed() where live[index] != nil {
            move(index, to: .new, &pool)
        }
        forgetAttempts(of: source)
    }

    mutating func parkIfIdle(_ pool: inout Pool) {
        guard isIdle else { return }
        pool.request(.park(key, id: id))
    }

    var isIdle: Bool { isHeld && live.isEmpty && !isFinishing && originals != .moving }

    mutating func cancelImages(_ pool: inout Pool) {
        isCancelled = true
        pool.request(.setCancelled(key))
        for index in manifest.images.indices {
            switch stage(of: index) {
            case .new, .waits(.queue), .waits(.turn): cancel(index, &pool)
            case .waits(.filter):
                pool.leave(.filter(key, image: index))
                cancel(index, &pool)
            case .downloading:
                pool.leave(.download(key, source: sourceOfImage[index]))
            // Its operation or its delivery learns of it, or its end is being recorded.
            case .filtering, .delivering, .recording, .ended: break
            }
        }
        for source in sources.indices where sources[source].phase.isToBegin {
            forgetAttempts(of: source)
            pool.leave(.download(key, source: source))
        }
    }
}
