import DarkroomCore
import DarkroomManifest
import DarkroomSpool

/// Who is given the next free place.
extension Board {
    /// How many times as many images of a level as there are places may wait for their turns, their hosts or their next
    /// attempts. They take none of the places, so that slow hosts, be they those of a hundred batches, do not hold up others;
    /// this bounds what may come back at once.
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

    /// The owner with the fewest images at work goes first. With n places free, one that has 3·n of them gets no
    /// further one, so that some are left whatever one owner's images take their time for. Where none is left, or a higher
    /// quality of service has enough for both queues, owners who have nothing at work there nor here get one of a quarter
    /// more: nothing bounds the time for which the others have theirs.
    private mutating func nextInRotation(_ level: Level) -> BatchKey? {
        let free = placesPerLevel - workingPlaces(level.index)
        let isOpen = free > 0 && level.above.reduce(0) { $0 + workingPlaces($1) } < saturation
        guard isOpen || free > -(placesPerLevel / 4) else { return nil }
        let placesOfOwner = placesOfOwner
        return rotation[level.index].next(below: isOpen ? 3 * free : 1) { owner in
            let above = isOpen ? 0 : level.above.reduce(0) { $0 + (placesOfOwner[$1][owner] ?? 0) }
            return above + (placesOfOwner[level.index][owner] ?? 0)
        }
    }

    /// What only waits for the disk does not keep others from being worked on, lest the processors wait for it too:
    /// the slower the disk is, the more images share a wait. Nor does what waits for its turn, its host or its next
    /// attempt.
    private func mayAdmit(_ batch: Batch) -> Bool {
        // Where very many wait already, each batch has a few more, lest some be kept out by the others'.
        let isCrowded = waitingPlaces[batch.level.index] >= placesPerLevel * Self.waitingFactor
        return batch.live.workingCount < window
            && batch.live.count < (isCrowded ? window : window * 4)
    }

    private func workingPlaces(_ level: Int) -> Int { places[level] - waitingPlaces[level] }

    /// Brings the count of images that wait for their turn, their host or their next attempt up to date. To be called when
    /// any may have begun or ceased to.
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

    /// Who submitted a batch in work.
    func owner(of key: BatchKey) -> FairOrder.Owner { batches[key]?.owner }

    mutating func rotate(_ batch: Batch) {
        guard !batch.isInRotation, !batch.isFinishing, !batch.isHeld, !batch.cancellation.isSet
        else { return }
        batch.isInRotation = true
        rotation[batch.level.index].append(batch.key, of: batch.owner)
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
