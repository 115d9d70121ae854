import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool

/// Selects who gets the next free place.
extension Board {
    /// The images of a level that may wait for their turns, their hosts or their next attempts, as a multiple of the
    /// places. They use no places, so that slow hosts, even of a hundred batches, do not delay others. This factor
    /// limits how many images may return at once.
    private static let waitingFactor = 64

    /// Fills the free places.
    mutating func admit() -> [Effect] {
        var effects: [Effect] = []
        activate(&effects)
        for level in rotation.indices.reversed() {
            while let key = nextInRotation(Level(index: level)) {
                guard let batch = batches[key] else { continue }
                batch.isInRotation = false
                guard !batch.isHeld, mayAdmit(batch), let index = batch.takeNext() else { continue }
                admit(index, of: batch, &effects)
                rotate(batch)
            }
        }
        return effects
    }

    /// The owner with the fewest images in work comes first. With n free places, an owner with 3·n of them gets no
    /// further one, so that some are left however long one owner's images take. If no place is free, or if levels with
    /// a higher quality of service keep both queues busy, owners with nothing in work at this or those levels get one
    /// of a quarter more: the others' images have no time limit.
    private mutating func nextInRotation(_ level: Level) -> BatchKey? {
        let free = bounds.placesPerLevel - workingPlaces(level.index)
        let isOpen = free > 0 && level.above.reduce(0) { $0 + workingPlaces($1) } < saturation
        guard isOpen || free > -(bounds.placesPerLevel / 4) else { return nil }
        let placesOfOwner = placesOfOwner
        return rotation[level.index].next(below: isOpen ? 3 * free : 1) { owner in
            let above = isOpen ? 0 : level.above.reduce(0) { $0 + (placesOfOwner[$1][owner] ?? 0) }
            return above + (placesOfOwner[level.index][owner] ?? 0)
        }
    }

    /// Images that only wait for the disk do not prevent other images from getting places. Otherwise the processors
    /// would wait for the disk too: the slower the disk is, the more images share a wait. The same holds for images
    /// that wait for their turn, their host or their next attempt.
    private func mayAdmit(_ batch: Batch) -> Bool {
        // If very many images already wait, each batch may still have `window` images, so that the images of other
        // batches do not keep it out.
        let isCrowded =
            waitingPlaces[batch.level.index] >= bounds.placesPerLevel * Self.waitingFactor
        return batch.live.workingCount < window
            && batch.live.count < (isCrowded ? window : window * 4)
    }

    private func workingPlaces(_ level: Int) -> Int { places[level] - waitingPlaces[level] }

    /// Updates the number of images that wait for their turn, their host or their next attempt. Call this when any of
    /// them may have begun or stopped to wait.
    mutating func countWaiting(_ batch: Batch) {
        let change = batch.live.waitingCount - batch.countedWaiting
        waitingPlaces[batch.level.index] += change
        placesOfOwner[batch.level.index][batch.owner, default: 0] -= change
        batch.countedWaiting += change
    }

    /// An image of a batch has been given a place, or has left it.
    mutating func countPlace(_ change: Int, of batch: Batch) {
        places[batch.level.index] += change
        placesOfOwner[batch.level.index][batch.owner, default: 0] += change
    }

    /// The user who submitted a batch in work.
    func owner(of key: BatchKey) -> FairShare.Owner { batches[key]?.owner }

    mutating func rotate(_ batch: Batch) {
        guard !batch.isInRotation, !batch.isFinishing, !batch.isHeld, !batch.cancellation.isSet
        else { return }
        batch.isInRotation = true
        rotation[batch.level.index].append(batch.key, of: batch.owner)
    }

    /// A batch leaves the board. Its key may come back, with another turn.
    mutating func leaveRotation(_ batch: Batch) {
        guard batch.isInRotation else { return }
        batch.isInRotation = false
        rotation[batch.level.index].remove(batch.key, of: batch.owner)
    }

    private mutating func admit(_ index: Int, of batch: Batch, _ effects: inout [Effect]) {
        let now = Clock.nanoseconds
        countPlace(1, of: batch)
        if let beginning = batch.markStarted(now: now) { effects.append(.begun(beginning)) }
        if quarantine(index, of: batch, &effects) { return }
        batch.status.images[index].countAttempt()
        let source = batch.sourceOfImage[index]
        guard source >= 0 else {
            batch.live[index] = Batch.Live(phase: .queuedFilter, since: now)
            batch.status.images[index].milliseconds.waited = batch.millisecondsSinceStart(now)
            enqueueFilter(index, of: batch, &effects)
            return
        }
        batch.status.images[index].download = batch.sources[source].attempts?.note
        switch batch.sources[source].phase {
        case .ready:
            batch.live[index] = Batch.Live(phase: .queuedFilter, since: now)
            batch.status.images[index].milliseconds.waited = batch.millisecondsSinceStart(now)
            batch.setState(.downloaded, of: index)
            enqueueFilter(index, of: batch, &effects)
        case .failed(let failure):
            batch.live[index] = Batch.Live(phase: .recording, since: now)
            fail(index, of: batch, failure, at: .download, &effects)
        case .running, .queued, .retrying:
            join(index, source, of: batch, now: now)
        case .idle:
            batch.live[index] = Batch.Live(phase: .queuedDownload, since: now)
            batch.sources[source].waiters.append(index)
            batch.sources[source].phase = .queued
            effects.append(
                .enqueue(
                    .download(batch.key, source: source), batch.manifest.priority,
                    batch.manifest.qualityOfService))
        }
        effects.append(.statusChanged(batch.key))
    }

    func enqueueFilter(_ index: Int, of batch: Batch, _ effects: inout [Effect]) {
        effects.append(
            .enqueue(
                .filter(batch.key, image: index), batch.manifest.priority,
                batch.manifest.qualityOfService))
    }
}
