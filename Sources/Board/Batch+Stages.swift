import DarkroomAnswer
import DarkroomCore

/// The admitted images of a batch, by their index, and how many of them are in each stage that others count.
struct LiveImages {
    struct Live {
        let stage: ImageStage
        /// When the stage began, or the first of several stages `waits`, in nanoseconds.
        let since: UInt64
    }

    private var images: [Int: Live] = [:]
    /// The images in a queue for a transfer or a filter, or with one.
    private(set) var workingCount = 0
    private(set) var deliveringCount = 0

    var count: Int { images.count }
    var isEmpty: Bool { images.isEmpty }
    var indices: some Sequence<Int> { images.keys }

    fileprivate(set) subscript(index: Int) -> Live? {
        get { images[index] }
        set {
            if images[index]?.stage.isWorking == true { workingCount -= 1 }
            if newValue?.stage.isWorking == true { workingCount += 1 }
            if images[index]?.stage == .delivering { deliveringCount -= 1 }
            if newValue?.stage == .delivering { deliveringCount += 1 }
            images[index] = newValue
        }
    }
}

extension LiveImages: Sequence {
    func makeIterator() -> Dictionary<Int, Live>.Iterator { images.makeIterator() }
}

/// How the images of a batch move through the stages of `ImageStage`.
extension Batch {
    func stage(of index: Int) -> ImageStage {
        live[index]?.stage ?? (status.images[index].state.isFinal ? .ended : .new)
    }

    /// Moves an image to another stage.
    ///
    /// Nothing else changes an image's stage, its visible state and its times, and the counts of the batch and of the
    /// pool. The status is marked for writing, and the batch gets a turn if one of its places is free now.
    ///
    /// - Parameter result: for `ended`: the image's final status. An image that was filtered again for others gets its
    ///   former one.
    mutating func move(
        _ index: Int, to stage: ImageStage, result: ImageStatus? = nil, _ pool: inout Pool
    ) {
        let old = self.stage(of: index)
        guard old != stage else { return }
        assert(old.leads(to: stage), "\(key)/\(index): \(old) does not lead to \(stage)")
        let now = Clock.nanoseconds
        noteTimes(index, from: old, to: stage, now)
        let working = live.workingCount
        let since = old.isWaiting && stage.isWaiting ? live[index]?.since : nil
        live[index] = stage.isAdmitted ? LiveImages.Live(stage: stage, since: since ?? now) : nil
        pool.count(from: old, to: stage, level, of: owner)
        switch stage {
        case .new: unblocked.append(index)
        case .ended: setResult(result, of: index)
        default: break
        }
        if let state = visibleState(of: index, at: stage) { setState(state, of: index) }
        pool.mark(key)
        if live.workingCount < working { rotate(&pool) }
    }

    /// The state that users see; nil for the present one.
    private func visibleState(of index: Int, at stage: ImageStage) -> ImageState? {
        switch stage {
        case .new: .new
        case .waits(.queue), .waits(.turn): attemptsForSource(of: index) > 0 ? .downloading : .new
        case .downloading: .downloading
        case .waits(.filter): sourceOfImage[index] >= 0 ? .downloaded : .new
        case .filtering, .delivering: .filtering
        case .recording, .ended: nil
        }
    }

    /// The attempts for an image's source that have ended.
    private func attemptsForSource(of index: Int) -> Int {
        attempts[sourceOfImage[index]]?.count ?? 0
    }

    // MARK: Times

    private mutating func noteTimes(
        _ index: Int, from old: ImageStage, to stage: ImageStage, _ now: UInt64
    ) {
        let time = Int((now - (live[index]?.since ?? now)) / 1_000_000)
        switch old {
        case .new where stage != .recording && stage != .delivering && stage != .ended:
            status.images[index].countAttempt()
            status.images[index].milliseconds.waited = millisecondsSinceStart(now)
        case .waits where stage == .downloading || stage == .filtering:
            status.images[index].milliseconds.waited += time
        case .downloading:
            status.images[index].milliseconds.downloading += time
            if stage == .waits(.filter) || stage == .recording {
                status.images[index].times?.downloaded = .now
            }
        case .filtering where stage == .recording || stage == .delivering:
            status.images[index].milliseconds.filtering = time
        default: break
        }
        switch stage {
        case .new:
            // An attempt counts as soon as a transfer has begun.
            let hasBegun = old != .waits(.filter) && attemptsForSource(of: index) > 0
            if !hasBegun { status.images[index].attempts -= 1 }
            status.images[index].download?.retryAt = nil
        case .downloading where status.images[index].times?.downloading == nil:
            // A local file is not downloaded.
            guard attempts[sourceOfImage[index]]?.note != nil else { break }
            status.images[index].times = ImageStatus.Times(downloading: .now)
        case .filtering:
            if status.images[index].times == nil { status.images[index].times = .init() }
            status.images[index].times?.filtering = .now
        default: break
        }
    }

    private func millisecondsSinceStart(_ now: UInt64) -> Int {
        startedAt.map { Int((now - $0) / 1_000_000) } ?? 0
    }

    // MARK: Counts

    private mutating func setState(_ state: ImageState, of index: Int) {
        guard status.images[index].state != state else { return }
        count(index, times: -1)
        status.images[index].state = state
        count(index)
    }

    private mutating func count(_ index: Int, times factor: Int = 1) {
        let isWarned = status.images[index].isWarned
        status.counts.count(status.images[index].state, isWarned: isWarned, times: factor)
    }

    /// Changes the whole status of an image that is not admitted, and the counts.
    mutating func replace(_ index: Int, with image: ImageStatus) {
        count(index, times: -1)
        status.images[index] = image
        count(index)
    }

    private mutating func setResult(_ result: ImageStatus?, of index: Int) {
        var image = result ?? status.images[index]
        if let former = handOvers.end(again: index) {
            image = former
        } else if image.state == .filtered {
            outputBytes = outputBytes.saturatingAdd(image.output?.bytes ?? 0)
        }
        image.download?.retryAt = nil
        replace(index, with: image)
    }

    // MARK: Turns

    /// Gives the batch a turn for the next free place.
    mutating func rotate(_ pool: inout Pool) {
        guard !isInRotation, !isFinishing, !isHeld, !isCancelled else { return }
        isInRotation = true
        pool.rotation[level.index].append(key, of: owner)
    }

    /// The batch leaves the board. Its key may come back, with another turn.
    mutating func leaveRotation(_ pool: inout Pool) {
        guard isInRotation else { return }
        isInRotation = false
        pool.rotation[level.index].remove(of: owner) { [key] in $0 == key }
    }
}
