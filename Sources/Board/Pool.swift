import DequeModule

/// What all batches share: places, turns, memory and limits; and what they request.
package struct Pool {
    let bounds: Board.Bounds
    private(set) var settings: BoardSettings
    /// The memory that images in work have, and the images that wait for memory.
    var memory = MemoryBudget()
    /// The source of the jitter of the waits before retries: a number from 0 to 1.
    var jitter: @Sendable () -> Double = { Double.random(in: 0...1) }
    /// The number of the last wait for a next attempt.
    private var lastRetry = 0

    var rotation = [BatchRotation<BatchKey>](repeating: BatchRotation(), count: Level.count)
    /// For each level and owner: images with places.
    private(set) var placesOfOwner = [[FairShare.Owner: Int]](repeating: [:], count: Level.count)
    /// For each level: images with places.
    private(set) var places = [Int](repeating: 0, count: Level.count)
    /// For each level: admitted images without places, because they wait outside the queues.
    private(set) var waitingPlaces = [Int](repeating: 0, count: Level.count)

    /// What is requested, in its order. `Board.settle` takes it.
    package enum Request {
        /// The admission: do this work when nothing delays it.
        case enter(Work)
        /// The admission: do not do this work any more.
        ///
        /// - Parameter isDone: whether another piece of work does it.
        case leave(Work, isDone: Bool)
        /// The owner of the board.
        case effect(Effect)
    }

    private var requests: Deque<Request> = []
    private var lastMarked: BatchKey?

    init(_ settings: BoardSettings, _ bounds: Board.Bounds) {
        self.bounds = bounds
        self.settings = settings
    }

    mutating func setLimits(_ settings: BoardSettings) {
        self.settings = settings
        enter(memory.setLimits(bytes: settings.memory, places: settings.filters))
    }

    mutating func nextRetry() -> Int {
        lastRetry += 1
        return lastRetry
    }

    // MARK: Requests

    mutating func request(_ effect: Effect) { requests.append(.effect(effect)) }

    mutating func enter(_ work: Work) { requests.append(.enter(work)) }

    mutating func leave(_ work: Work, isDone: Bool = false) {
        requests.append(.leave(work, isDone: isDone))
    }

    /// Has the status of a batch written.
    mutating func mark(_ key: BatchKey) {
        guard lastMarked != key else { return }
        lastMarked = key
        request(.statusChanged(key))
    }

    mutating func takeRequest() -> Request? {
        let next = requests.popFirst()
        if requests.isEmpty { lastMarked = nil }
        return next
    }

    // MARK: Places and turns

    /// An image goes from one stage to another.
    mutating func count(
        from old: ImageStage, to new: ImageStage, _ level: Level, of owner: FairShare.Owner
    ) {
        let change = (new.hasPlace ? 1 : 0) - (old.hasPlace ? 1 : 0)
        if change != 0 {
            places[level.index] += change
            placesOfOwner[level.index][owner, default: 0] += change
        }
        waitingPlaces[level.index] += new == .waits(.turn) ? 1 : 0
        waitingPlaces[level.index] -= old == .waits(.turn) ? 1 : 0
    }

    /// Takes the batch that gets the next free place of a level; nil if there is no place, or no batch that may have
    /// it.
    ///
    /// The owner with the fewest images in work comes first. With n free places, an owner with 3·n of them gets no
    /// further one, so that some are left however long one owner's images take. If no place is free, or if levels with
    /// a higher quality of service keep both queues busy, owners with nothing in work at this or those levels get one
    /// of a quarter more: the others' images have no time limit.
    mutating func nextInRotation(_ level: Level) -> BatchKey? {
        let free = bounds.placesPerLevel - places[level.index]
        let isOpen = free > 0 && level.above.reduce(0) { $0 + places[$1] } < settings.saturation
        guard isOpen || free > -(bounds.placesPerLevel / 4) else { return nil }
        let placesOfOwner = placesOfOwner
        return rotation[level.index].next(below: isOpen ? 3 * free : 1) { owner in
            let above = isOpen ? 0 : level.above.reduce(0) { $0 + (placesOfOwner[$1][owner] ?? 0) }
            return above + (placesOfOwner[level.index][owner] ?? 0)
        }
    }

    /// The images of a level that may wait for their turns, their hosts or their next attempts, as a multiple of the
    /// places. They use no places, so that slow hosts, even of a hundred batches, do not delay others. This factor
    /// limits how many images may return at once.
    private static let waitingFactor = 64

    /// Whether so many images of a level wait outside the queues that each batch may only have `window` of them, and no
    /// batch keeps others out.
    func isCrowded(_ level: Level) -> Bool {
        waitingPlaces[level.index] >= bounds.placesPerLevel * Self.waitingFactor
    }

    // MARK: Memory

    /// Frees the memory of an image, or ends its wait for memory.
    ///
    /// - Parameter work: its filter. Other work has no memory.
    mutating func giveBackMemory(_ work: Work) {
        if memory.forget(work) { serveMemory() }
    }

    mutating func serveMemory() { enter(memory.serve()) }

    /// The images that got memory are filtered.
    private mutating func enter(_ served: [Work]) {
        for work in served { enter(work) }
    }
}
