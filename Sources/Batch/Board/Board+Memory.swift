import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool

/// The answer to a picture that asks for memory.
enum MemoryAnswer: Equatable, Sendable {
    case granted
    /// It must undo what it has begun, and wait.
    case later
    /// It needs more than an image can ever get, which is this number of bytes.
    case tooLarge(limit: Int)
}

/// How images get the memory for their filters, see `MemoryBudget`.
///
/// An image that waits for memory is in the phase `queuedFilter`, as is one in the filters queue. But it has no
/// operation until the memory has been granted.
extension Board {
    func ticket(_ key: BatchKey, _ index: Int) -> MemoryBudget.Ticket {
        MemoryBudget.Ticket(batch: key, image: index)
    }

    /// The need of an image before its picture is known. If a process died with the image, it is filtered alone among
    /// those that share the memory, so that another crash incriminates few images. Its time has no limit, so the memory
    /// and the places that are kept for idle owners stay available to them.
    func firstNeed(_ index: Int, of batch: Batch) -> MemoryBudget.Need {
        batch.crashes[index] == nil ? .least : .everything
    }

    /// Ends an image during whose work the process has died too often; false for any other image.
    func quarantine(_ index: Int, of batch: Batch, _ effects: inout [Effect]) -> Bool {
        guard let crashes = batch.crashes[index], crashes.shouldQuarantine else { return false }
        batch.live[index] = Batch.Live(phase: .recording, since: Clock.nanoseconds)
        let failure = crashes.failure(of: batch.status.images[index].name)
        fail(index, of: batch, failure, at: .filter, &effects)
        return true
    }

    /// An image in work has read its header and needs this memory.
    mutating func needs(_ key: BatchKey, _ index: Int, bytes: Int) -> MemoryAnswer {
        if memory.exceeds(bytes) { return .tooLarge(limit: memory.mostOfOne) }
        return memory.take(.bytes(bytes), for: ticket(key, index), owner: owner(of: key))
            ? .granted : .later
    }

    /// `filterBegan` returned nothing: there is no memory for the image, which waits from now on, or nobody needs it
    /// any more.
    mutating func filterNotBegun(_ key: BatchKey, _ index: Int) -> [Effect] {
        guard let batch = batches[key], batch.live[index]?.phase == .queuedFilter else {
            // Another operation may be working on it, with the granted memory.
            if batches[key]?.live[index]?.phase == .filtering { return [] }
            return memory.forget(ticket(key, index)) ? serveMemory() : []
        }
        // It was taken along since, and is to be filtered again: another operation of it comes.
        if admission.place(of: .filter(key, image: index)) != nil { return [] }
        // It was taken along since, by one that waits. Its own wait would have it filtered alone.
        if waitsWithAnother(index, batch) { return [] }
        return wait(index, of: batch, for: firstNeed(index, of: batch))
    }

    /// An image in work was told to wait, and has undone what it had begun.
    ///
    /// - Parameter images: the image, and the variants that it had taken along. They wait for it.
    mutating func filterPostponed(_ key: BatchKey, _ images: [Int], bytes: Int) -> [Effect] {
        var effects: [Effect] = []
        for companion in images.dropFirst() { letWait(companion, key, &effects) }
        return effects + filterPostponed(key, images[0], bytes: bytes)
    }

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

    /// Ends an image of a cancelled batch that has no operation.
    mutating func cancelQueued(_ index: Int, of batch: Batch, _ effects: inout [Effect]) {
        batch.setState(.cancelled, of: index)
        end(index, of: batch, &effects)
    }

    /// Changes the amount of memory and the number of places for filters.
    mutating func setMemory(limit: Int, places: FilterSlots) -> [Effect] {
        enqueue(memory.setLimits(bytes: limit, places: places))
    }

    /// Frees the memory of an image, or ends its wait for memory.
    mutating func giveBackMemory(_ key: BatchKey, _ index: Int, _ effects: inout [Effect]) {
        if memory.forget(ticket(key, index)) { effects += serveMemory() }
    }

    private mutating func wait(
        _ index: Int, of batch: Batch, for need: MemoryBudget.Need
    ) -> [Effect] {
        let ticket = ticket(batch.key, index)
        // The limit may have become lower since the image was told to wait. It begins again, to be told so.
        if case .bytes(let bytes) = need, memory.exceeds(bytes) {
            memory.forget(ticket)
            return enqueue([ticket]) + serveMemory()
        }
        memory.wait(ticket, for: need, level: batch.level.index, owner: batch.owner)
        // Memory may have become free since the image was told to wait.
        return serveMemory()
    }

    private mutating func serveMemory() -> [Effect] { enqueue(memory.serve()) }

    /// Requests operations for the images that got memory. If one is not needed any more, others get its memory.
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
