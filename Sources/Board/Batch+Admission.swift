import DarkroomAnswer
import DarkroomCore
import DarkroomManifest

/// Which image of a batch gets the next place.
extension Batch {
    mutating func admitNext(_ pool: inout Pool) {
        isInRotation = false
        guard !isHeld, mayAdmit(pool), let index = takeNext() else { return }
        admit(index, &pool)
        rotate(&pool)
    }

    /// Images that only wait for the disk do not prevent other images from getting places. Otherwise the processors
    /// would wait for the disk too: the slower the disk is, the more images share a wait. The same holds for images
    /// that wait for their turn, their host or their next attempt, and for those that are being delivered, within limits:
    /// their sources and outputs take space.
    private func mayAdmit(_ pool: Pool) -> Bool {
        let window = pool.settings.window
        return live.workingCount < window
            && live.deliveringCount < window * Self.deliveringFactor
            && live.count - live.deliveringCount < (pool.isCrowded(level) ? window : window * 4)
    }

    private mutating func admit(_ index: Int, _ pool: inout Pool) {
        if let beginning = markStarted() { pool.request(.begun(beginning)) }
        if let crashes = crashes[index], crashes.shouldQuarantine {
            let failure = crashes.failure(of: status.images[index].name)
            return fail(index, failure, at: .filter, &pool)
        }
        let source = sourceOfImage[index]
        guard source >= 0 else { return enqueueFilter(index, &pool) }
        status.images[index].download = attempts[source]?.note
        switch sources[source].phase {
        case .ready: enqueueFilter(index, &pool)
        case .failed(let failure):
            guard !stand(index, failure) else { return enqueueFilter(index, &pool) }
            move(index, to: .waits(.queue), &pool)
            fail(index, failure, at: .download, &pool)
        case .running, .queued, .retrying, .idle: join(index, source, &pool)
        }
    }

    /// The images that may wait to be delivered, as a multiple of the window.
    private static let deliveringFactor = 16

    // MARK: The next image

    /// Takes the next image that may begin and is not admitted; nil if there is none. Images that waited for others
    /// come first, so that a chain continues as soon as possible. Images during whose work a process died come last, so
    /// that another crash does not prevent the others from ending.
    private mutating func takeNext() -> Int? {
        while let index = unblocked.popLast() {
            if stage(of: index) == .new, !isPutOff(index) { return index }
        }
        while cursor < manifest.images.count {
            let index = cursor
            cursor += 1
            if blockers[index] == 0, stage(of: index) == .new, !isPutOff(index) { return index }
        }
        return takeSuspect()
    }

    private mutating func isPutOff(_ index: Int) -> Bool {
        guard let crashes = crashes[index], !crashes.shouldQuarantine else { return false }
        suspects.append(index)
        return true
    }

    /// The suspect with the fewest crashes.
    private mutating func takeSuspect() -> Int? {
        suspects = suspects.filter { stage(of: $0) == .new }
        let least = suspects.indices.min { a, b in
            (crashes[suspects[a]]?.last ?? 0) < (crashes[suspects[b]]?.last ?? 0)
        }
        return least.map { suspects.remove(at: $0) }
    }

    /// Marks the batch as begun.
    ///
    /// - Returns: the beginning to report, at the first call.
    mutating func markStarted(now: UInt64 = Clock.nanoseconds) -> BatchBeginning? {
        guard startedAt == nil else { return nil }
        startedAt = now
        status.state = .processing
        if status.times.started == nil { status.times.started = Clock.timestamp }
        let counts = shownCounts
        return BatchBeginning(
            id: id, images: counts.total - counts.finished,
            isContinued: isContinued,
            waited: isContinued
                ? nil
                : Clock.microseconds(from: status.times.received, to: status.times.started))
    }
}
