import DarkroomCore
import DarkroomManifest
import DarkroomSpool

/// What becomes of a picture that asks for memory.
enum MemoryAnswer: Equatable, Sendable {
    case granted
    /// It is to give up what it has begun, and waits.
    case later
    /// It needs more than an image is ever given: so many bytes.
    case tooLarge(limit: Int)
}

/// How images get the memory that they are filtered in, see `MemoryBudget`.
///
/// An image that waits for memory is in the phase `queuedFilter` like one in the filters queue, but has no
/// operation. It gets one when what it needs has been granted to it.
extension Board {
    package init(_ settings: BatchSettings) {
        self.init(window: settings.window, saturation: settings.saturation)
        backOff = settings.backOff
        admission = Admission(downloads: settings.downloadLimits, filters: settings.filterPlaces)
        _ = setMemory(limit: settings.memory, places: settings.filterPlaces)
    }

    func ticket(_ key: BatchKey, _ index: Int) -> MemoryBudget.Ticket {
        MemoryBudget.Ticket(batch: key, image: index)
    }

    /// What an image needs before anything is known of its picture. One that a process has died with is
    /// filtered alone among those that share the memory, so that few are blamed with it should it happen again.
    /// Nothing bounds its time, so the memory and the places that are kept for idle owners stay theirs.
    func firstNeed(_ index: Int, of batch: Batch) -> MemoryBudget.Need {
        batch.crashes[index] == nil ? .least : .everything
    }

    /// Ends an image that has ended the process too often; false for any other.
    func quarantine(_ index: Int, of batch: Batch, _ effects: inout [Effect]) -> Bool {
        guard let crashes = batch.crashes[index], crashes.shouldQuarantine else { return false }
        batch.live[index] = Batch.Live(phase: .recording, since: Clock.nanoseconds)
        let failure = crashes.failure(of: batch.status.images[index].name)
        fail(index, of: batch, failure, at: .filter, &effects)
        return true
    }

    /// An image in work has read its header and needs so many bytes.
    mutating func needs(_ key: BatchKey, _ index: Int, bytes: Int) -> MemoryAnswer {
        if memory.exceeds(bytes) { return .tooLarge(limit: memory.mostOfOne) }
        return memory.take(.bytes(bytes), for: ticket(key, index), owner: owner(of: key))
            ? .granted : .later
    }

    /// `filterBegan` gave nothing: there is no memory for the image, which waits from now on, or it is
    /// not wanted any more.
    mutating func filterNotBegun(_ key: BatchKey, _ index: Int) -> [Effect] {
        guard let batch = batches[key], batch.live[index]?.phase == .queuedFilter else {
            // Another operation may be at it, with what is granted.
            if batches[key]?.live[index]?.phase == .filtering { return [] }
            return memory.forget(ticket(key, index)) ? serveMemory() : []
        }
        return wait(index, of: batch, for: firstNeed(index, of: batch))
    }

    /// An image that was begun has been told to wait, and has given up what it had begun.
    mutating func filterPostponed(_ key: BatchKey, _ index: Int, bytes: Int) -> [Effect] {
        guard let batch = batches[key], batch.live[index]?.phase == .filtering else { return [] }
        batch.live[index] = Batch.Live(phase: .queuedFilter, since: Clock.nanoseconds)
        batch.setState(batch.sourceOfImage[index] >= 0 ? .downloaded : .new, of: index)
        if batch.cancellation.isSet {
            var effects: [Effect] = []
            cancelQueued(index, of: batch, &effects)
            finishIfEnded(batch, &effects)
            return effects
        }
        let need: MemoryBudget.Need =
            batch.crashes[index] == nil ? .bytes(bytes) : .everything
        return [.statusChanged(key)] + wait(index, of: batch, for: need)
    }

    /// Ends an image of a cancelled batch that nothing runs for.
    mutating func cancelQueued(_ index: Int, of batch: Batch, _ effects: inout [Effect]) {
        batch.setState(.cancelled, of: index)
        end(index, of: batch, &effects)
    }

    /// Changes how much memory there is and how many images are filtered at once.
    mutating func setMemory(limit: Int, places: FilterPlaces) -> [Effect] {
        enqueue(memory.setLimits(bytes: limit, places: places))
    }

    /// Gives back what an image has or waits for.
    mutating func giveBackMemory(_ key: BatchKey, _ index: Int, _ effects: inout [Effect]) {
        if memory.forget(ticket(key, index)) { effects += serveMemory() }
    }

    private mutating func wait(
        _ index: Int, of batch: Batch, for need: MemoryBudget.Need
    ) -> [Effect] {
        memory.wait(
            ticket(batch.key, index), for: need, level: batch.level.index, owner: batch.owner)
        // It may have become free since the image was told to wait.
        return serveMemory()
    }

    private mutating func serveMemory() -> [Effect] { enqueue(memory.serve()) }

    /// Has operations made for those that were served. Who is not wanted any more gives the others their
    /// turn.
    private mutating func enqueue(_ served: [MemoryBudget.Ticket]) -> [Effect] {
        var effects: [Effect] = []
        for ticket in served {
            guard let batch = batches[ticket.batch],
                batch.live[ticket.image]?.phase == .queuedFilter
            else {
                giveBackMemory(ticket.batch, ticket.image, &effects)
                continue
            }
            effects.append(
                .enqueue(
                    .filter(ticket.batch, image: ticket.image), batch.manifest.priority,
                    batch.manifest.qualityOfService))
        }
        return effects
    }
}
