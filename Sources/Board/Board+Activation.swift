/// Selects the waiting batches that are taken into work.
///
/// The highest level comes first; within it the owner with the fewest images in work, and of this owner's batches the
/// oldest. If there is no room for a batch, smaller ones may pass it. Some room is kept for owners with little in work,
/// so that an owner with thousands of manifests does not take all of it until they end. The same amount is kept for
/// owners with nothing in work, so that a few of the former cannot take that either.
extension Board {
    private static let smallBatch = 1024
    /// How many waiting batches of an owner are examined to find one that fits. There is a limit because this runs each
    /// time a place is free.
    private static let lookAhead = 64

    mutating func activate() {
        var isFull = false
        for level in waiting.indices.reversed() where !waiting[level].isEmpty {
            var blocked: Set<FairShare.Owner> = []
            while let owner = nextOwner(at: level, without: blocked) {
                // If a level found no room, lower levels may use only the room that is kept.
                if let key = nextBatch(of: owner, at: level, keptRoomOnly: isFull),
                    let batch = waitingBatches[key]
                {
                    waiting[level].remove(key, of: owner)
                    activate(key, batch)
                } else {
                    blocked.insert(owner)
                }
            }
            if !waiting[level].isEmpty { isFull = true }
        }
    }

    private func nextOwner(
        at level: Int, without blocked: Set<FairShare.Owner>
    ) -> FairShare.Owner? {
        waiting[level].owners.filter { !blocked.contains($0) }
            .map { (owner: $0, images: imagesOfOwner[$0] ?? 0, first: waiting[level][$0].first) }
            .min { ($0.images, $0.first ?? 0) < ($1.images, $1.first ?? 0) }
            .map(\.owner)
    }

    private func nextBatch(
        of owner: FairShare.Owner, at level: Int, keptRoomOnly: Bool
    ) -> BatchKey? {
        waiting[level][owner].prefix(Self.lookAhead).first { key in
            waitingBatches[key].map { hasRoom(for: $0, keptRoomOnly: keptRoomOnly) } ?? false
        }
    }

    private func isLarge(_ images: Int) -> Bool { images > bounds.imageBudget / 4 }

    private func hasRoom(for batch: Waiting, keptRoomOnly: Bool) -> Bool {
        let (images, level) = (batch.images, batch.level.index)
        let (imageBudget, batchesPerLevel) = (bounds.imageBudget, bounds.batchesPerLevel)
        let hasLittle =
            (imagesOfOwner[batch.owner] ?? 0) + images <= imageBudget / 8
            && (batchesOfOwner[level][batch.owner] ?? 0) < max(1, batchesPerLevel / 8)
        guard hasLittle || !keptRoomOnly else { return false }
        let hasNothing = (imagesOfOwner[batch.owner] ?? 0) == 0
        let forLittle = (hasLittle ? batchesPerLevel / 4 : 0) + (hasNothing ? batchesPerLevel : 0)
        guard batchesInWork[level] < batchesPerLevel + forLittle else { return false }
        if isLarge(images) { return largeBatchesInWork == 0 }
        guard images <= Self.smallBatch else {
            return imagesInWork + images <= imageBudget + (hasLittle ? imageBudget / 4 : 0)
        }
        let forSmall =
            imageBudget / 4 + (hasLittle ? imageBudget / 4 : 0) + (hasNothing ? imageBudget / 2 : 0)
        return imagesInWork + images <= imageBudget + forSmall
    }

    mutating func activate(_ key: BatchKey, _ batch: Waiting) {
        waitingBatches[key]?.isInPreparation = true
        countInWork(1, images: batch.images, batch.level, of: batch.owner)
        guard var prepared = batch.prepared else {
            pool.request(.prepare(key, id: batch.id))
            return
        }
        imagesPrepared -= batch.images
        batch.hand(to: &prepared)
        begin(key, prepared)
    }

    /// A batch has left work, or will not be taken into work.
    mutating func release(images: Int, _ level: Level, of owner: FairShare.Owner) {
        countInWork(-1, images: images, level, of: owner)
    }

    private mutating func countInWork(
        _ change: Int, images: Int, _ level: Level, of owner: FairShare.Owner
    ) {
        batchesInWork[level.index] += change
        batchesOfOwner[level.index][owner, default: 0] += change
        imagesOfOwner[owner, default: 0] += change * images
        if isLarge(images) {
            largeBatchesInWork += change
        } else {
            imagesInWork += change * images
        }
    }

    // MARK: Places

    /// Fills the free places.
    ///
    /// - Returns: whether there were some, and images for them.
    mutating func admit() -> Bool {
        activate()
        var hasAdmitted = false
        for level in Level.all.reversed() {
            while let key = pool.nextInRotation(level) {
                change(key) { batch, pool in
                    let count = batch.live.count
                    batch.admitNext(&pool)
                    hasAdmitted = hasAdmitted || batch.live.count > count
                }
            }
        }
        return hasAdmitted
    }
}
