import DarkroomCore

/// How much of the memory for pictures in work each image has, and which images wait for memory.
///
/// A value without threads. `Board` holds it, and decides what happens to the images that it names. Each is named by its
/// filter (`Work.filter`). From its beginning, an image has the share that each image needs. When its header has been
/// read, it asks for more. No image waits while it has memory: if it cannot get what it needs, it returns what it has. So
/// images never wait for each other.
///
/// Large images wait while small ones pass them, but not without limit: when `patience` others have passed an image, no
/// other image gets memory until this one has what it needs. This does not apply to the kept part.
///
/// The number of images with memory is at most the number of places (`FilterSlots`). As some of the places, a part of
/// the memory is kept for owners with nothing in work, because the images of others have no time limit. An image has
/// all its memory from one part, so it may not need more than the size of the shared part. From the kept part an image
/// may get a 32nd, or `smallNeed`, so that there is enough for many owners. The guarantee: an owner with nothing in
/// work gets this amount at once, unless others who had nothing either have taken the whole part; from 1 GiB on these
/// are 32. This holds even while one image has the whole shared part (`Need.everything`), for any time.
package struct MemoryBudget {
    enum Need: Equatable {
        /// At most this number of bytes.
        case bytes(Int)
        /// What each picture needs, or all that exists.
        static let least = bytes(0)
        /// The whole shared part. Only images with memory of the kept part run at the same time.
        case everything
    }

    /// What each picture needs at least, in bytes: file buffers, decoder, encoder. If the limit is lower, an image may
    /// begin with all memory, to find out from its header how much more it needs.
    static let share = 4 << 20
    /// The amount, in bytes, that an image may always get from the kept part: enough for a photograph that is filtered
    /// row by row and written as PNG on two cores.
    static let smallNeed = 32 << 20
    static let patience = 64

    private struct Waiting {
        let work: Work
        let owner: FairShare.Owner
        let need: Need
        /// The level of the batch. Higher ones are served first.
        let level: Int
        /// The number of grants when it began to wait.
        let since: Int
    }

    /// What has been granted, in bytes.
    private struct Grant {
        let owner: FairShare.Owner
        /// From the shared part.
        var shared = 0
        /// From the kept part.
        var kept = 0

        var bytes: Int { shared + kept }
    }

    /// In bytes, including the kept part.
    private(set) var limit = Int.max
    /// How many images may have memory at once: no more than can be filtered at once, because memory of images that
    /// only wait in a queue would not be available to others.
    private(set) var places = FilterSlots(width: .max, keptForBatches: 0, keptForOwners: 0)
    private var sharedHeld = 0
    private var keptHeld = 0
    private var granted: [Work: Grant] = [:]
    private var grantsOfOwner: [FairShare.Owner: Int] = [:]
    private var grantsOfBatch: [BatchKey: Int] = [:]
    /// Sorted by level, the highest first, and then by arrival.
    private var waiting: [Waiting] = []
    private var grants = 0

    package init() {}

    /// In bytes.
    var held: Int { sharedHeld + keptHeld }
    var waitingCount: Int { waiting.count }
    /// For tests: how many images have memory.
    var grantCount: Int { granted.count }

    /// For tests: whether the sums are those of the grants, and no image waits twice or while it has memory.
    var isConsistent: Bool {
        let grants = granted.values
        return sharedHeld == grants.reduce(0) { $0 + $1.shared }
            && keptHeld == grants.reduce(0) { $0 + $1.kept }
            && grantsOfOwner == Dictionary(grants.map { ($0.owner, 1) }, uniquingKeysWith: +)
            && grantsOfBatch == Dictionary(granted.keys.map { ($0.batch, 1) }, uniquingKeysWith: +)
            && Set(waiting.map(\.work)).count == waiting.count
            && waiting.allSatisfy { granted[$0.work] == nil }
    }

    /// The part that is kept for owners with nothing in work, in bytes.
    private var keptLimit: Int { places.keptForOwners > 0 ? min(limit / 8, 2 << 30) : 0 }

    /// The most that an image may need, in bytes.
    package var mostOfOne: Int { limit - keptLimit }

    func holds(_ work: Work) -> Bool { granted[work] != nil }

    func isWaiting(_ work: Work) -> Bool { waiting.contains { $0.work == work } }

    /// Whether this is more than an image may need, so that waiting is useless.
    func exceeds(_ bytes: Int) -> Bool { bytes > mostOfOne }

    /// Takes the needed memory, which includes what the image already has.
    ///
    /// - Returns: false if it is not available now.
    mutating func take(_ need: Need, for work: Work, owner: FairShare.Owner) -> Bool {
        if let has = granted[work], amount(need) <= has.bytes { return true }
        guard grant(need, to: work, owner, inTurn: impatient.map { $0.work == work } ?? true)
        else { return false }
        if !waiting.isEmpty { waiting.removeAll { $0.work == work } }
        return true
    }

    private func amount(_ need: Need) -> Int {
        switch need {
        case .bytes(let bytes): max(bytes, min(Self.share, mostOfOne))
        case .everything: mostOfOne
        }
    }

    /// - Parameter inTurn: whether the image may use the shared part.
    private mutating func grant(
        _ need: Need, to work: Work, _ owner: FairShare.Owner, inTurn: Bool
    ) -> Bool {
        guard hasPlace(work, owner), let new = offer(need, to: work, owner, inTurn) else {
            return false
        }
        let has = granted.updateValue(new, forKey: work)
        sharedHeld += new.shared - (has?.shared ?? 0)
        keptHeld += new.kept - (has?.kept ?? 0)
        if has == nil {
            grants += 1
            grantsOfOwner[owner, default: 0] += 1
            grantsOfBatch[work.batch, default: 0] += 1
        }
        return true
    }

    private func hasPlace(_ work: Work, _ owner: FairShare.Owner) -> Bool {
        if granted[work] != nil { return true }
        return switch places.entrants(taken: granted.count) {
        case .all: true
        case .idleBatches: grantsOfBatch[work.batch] == nil
        case .idleOwners: grantsOfOwner[owner] == nil
        case nil: false
        }
    }

    private func offer(
        _ need: Need, to work: Work, _ owner: FairShare.Owner, _ inTurn: Bool
    ) -> Grant? {
        let has = granted[work] ?? Grant(owner: owner)
        let amount = amount(need)
        if need == .everything {
            return inTurn && sharedHeld == has.shared
                ? Grant(owner: owner, shared: mostOfOne) : nil
        }
        if inTurn, amount - has.shared <= mostOfOne - sharedHeld {
            return Grant(owner: owner, shared: amount)
        }
        let others = (grantsOfOwner[owner] ?? 0) - (granted[work] == nil ? 0 : 1)
        let isKept = others == 0 && amount <= max(keptLimit / 32, Self.smallNeed)
        return isKept && amount - has.kept <= keptLimit - keptHeld
            ? Grant(owner: owner, kept: amount) : nil
    }

    /// Puts the image at the end of its level's line, and frees what it had.
    mutating func wait(_ work: Work, for need: Need, level: Int, owner: FairShare.Owner) {
        forget(work)
        let place = waiting.firstIndex { $0.level < level } ?? waiting.count
        waiting.insert(
            Waiting(work: work, owner: owner, need: need, level: level, since: grants),
            at: place)
    }

    /// Frees the image's memory, or removes it from the line.
    ///
    /// - Returns: whether there was anything to do, so that others may get memory.
    @discardableResult
    mutating func forget(_ work: Work) -> Bool {
        if let grant = granted.removeValue(forKey: work) {
            sharedHeld -= grant.shared
            keptHeld -= grant.kept
            grantsOfOwner.countDown(grant.owner)
            grantsOfBatch.countDown(work.batch)
            return true
        }
        guard let place = waiting.firstIndex(where: { $0.work == work }) else { return false }
        waiting.remove(at: place)
        return true
    }

    /// The image that has waited longest of those that have been passed too often.
    private var impatient: Waiting? {
        waiting.filter { grants - $0.since >= Self.patience }.min { $0.since < $1.since }
    }

    /// Gives free memory to waiting images.
    ///
    /// - Returns: the images that have got what they need and have left the line.
    mutating func serve() -> [Work] {
        var served: [Work] = []
        while places.entrants(taken: granted.count) != nil, held < limit {
            let first = impatient?.work
            let next = waiting.first {
                grant($0.need, to: $0.work, $0.owner, inTurn: first == nil || first == $0.work)
            }
            guard let next else { break }
            waiting.removeAll { $0.work == next.work }
            served.append(next.work)
        }
        return served
    }

    /// Changes the limits.
    ///
    /// - Returns: the images that continue: with the needed memory, or because they need too much.
    package mutating func setLimits(bytes: Int, places: FilterSlots) -> [Work] {
        limit = bytes
        self.places = places
        let most = mostOfOne
        let tooLarge = waiting.filter { $0.need.exceeds(most) }.map(\.work)
        waiting.removeAll { $0.need.exceeds(most) }
        return tooLarge + serve()
    }
}

extension MemoryBudget.Need {
    fileprivate func exceeds(_ limit: Int) -> Bool {
        if case .bytes(let bytes) = self { bytes > limit } else { false }
    }
}
