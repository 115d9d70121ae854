import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool

/// How variants of an image are filtered in one operation.
///
/// Each variant is an image like any other: it is admitted, waits for its source, gets a filter operation, and ends on
/// its own. But the first of them whose operation begins takes the others along, so that the picture is read once. The
/// others then have no operation any more. A variant is taken along if it has not begun to be filtered, and if nothing
/// else is necessary for it:
///
/// | a variant                                | is taken along                                     |
/// |------------------------------------------|----------------------------------------------------|
/// | not admitted, and waits for no image     | yes; it is admitted, unless the batch is held      |
/// | queuedFilter                             | yes; its operation is cancelled                    |
/// | queuedFilter, waits for memory itself    | no                                                 |
/// | waits for other images                   | no; it is filtered later, alone or with its like   |
/// | filtering, recording, ended              | no                                                 |
/// | a process died during its work           | no, and it takes none along                        |
/// | is filtered again only for its pixels    | no, and it takes none along                        |
///
/// If the operation ends without a result, because of a stop or a disk that refuses writes, each of them is enqueued
/// again, and the first takes the others along again. If it has to wait for memory, the others wait for it: they are in
/// the phase `queuedFilter` and have no operation. If all together need more memory than an image can ever get, they are
/// filtered one by one.
///
/// So a restart, a retry or a failure may leave any number of them to do. This changes no result: each has the bytes of
/// a separate image.
extension Board {
    /// The variants that an image takes along.
    func companions(of index: Int, _ batch: Batch) -> [Int] {
        guard let variant = batch.manifest.images[index].variant,
            !batch.apart.contains(variant.first), !isOnItsOwn(index, of: batch)
        else { return [] }
        return variant.indices.filter { other in
            guard other != index, !isOnItsOwn(other, of: batch) else { return false }
            switch batch.live[other]?.phase {
            case nil:
                return !batch.isHeld && !batch.status.images[other].state.isFinal
                    && batch.blockers[other] == 0
            case .queuedFilter: return !memory.isWaiting(ticket(batch.key, other))
            default: return false
            }
        }
    }

    /// Whether another variant waits for memory and will take this one along.
    func waitsWithAnother(_ index: Int, _ batch: Batch) -> Bool {
        guard let variant = batch.manifest.images[index].variant else { return false }
        return variant.indices.contains { other in
            other != index && batch.live[other]?.phase == .queuedFilter
                && memory.isWaiting(ticket(batch.key, other))
                && companions(of: other, batch).contains(index)
        }
    }

    private func isOnItsOwn(_ index: Int, of batch: Batch) -> Bool {
        batch.crashes[index] != nil || batch.handOvers.isFilteredAgain(index)
    }

    /// Takes a variant along: it has no operation of its own any more.
    mutating func takeAlong(_ index: Int, of batch: Batch, _ effects: inout [Effect]) {
        guard batch.live[index] == nil else {
            let (operation, outcome) = admission.leave(
                .filter(batch.key, image: index), isDone: true)
            if let operation { effects.append(.stop(operation)) }
            effects += follow(outcome)
            giveBackMemory(batch.key, index, &effects)
            return
        }
        countPlace(1, of: batch)
        batch.status.images[index].countAttempt()
        let source = batch.sourceOfImage[index]
        if source >= 0 {
            batch.status.images[index].download = batch.sources[source].attempts?.note
        }
        batch.status.images[index].milliseconds.waited =
            batch.millisecondsSinceStart(Clock.nanoseconds)
    }

    /// A variant that was taken along waits for the one that has to wait for memory.
    mutating func letWait(_ index: Int, _ key: BatchKey, _ effects: inout [Effect]) {
        guard let batch = batches[key], batch.live[index]?.phase == .filtering else { return }
        batch.live[index] = Batch.Live(phase: .queuedFilter, since: Clock.nanoseconds)
        batch.setState(batch.sourceOfImage[index] >= 0 ? .downloaded : .new, of: index)
        if batch.cancellation.isSet {
            cancelQueued(index, of: batch, &effects)
            finishIfEnded(batch, &effects)
        }
    }

    /// Variants need too much memory together. From now on each is filtered by itself.
    mutating func filteredApart(_ key: BatchKey, _ images: [Int]) -> [Effect] {
        if let batch = batches[key], let variant = batch.manifest.images[images[0]].variant {
            batch.apart.insert(variant.first)
        }
        return images.flatMap { filterDeferred(key, $0) }
    }
}
