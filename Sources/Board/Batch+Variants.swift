import DarkroomAnswer
import DarkroomManifest

/// How variants of an image are filtered in one operation.
///
/// Each variant is an image like any other: it is admitted, waits for its source, gets a filter operation, and ends on
/// its own. But the first of them whose operation begins takes the others along, so that the picture is read once. The
/// others then have no operation any more. A variant is taken along if it is `new` and without blockers (it is admitted
/// then, unless the batch is held), or in the stage `waits(.filter)` and does not wait for memory itself. A variant
/// during whose work a process died, that is filtered again only for its pixels, or whose former result stands, neither
/// takes others along nor is taken along.
///
/// If the operation ends without a result, because of a stop or a disk that refuses writes, each of them is enqueued
/// again, and the first takes the others along again. If it has to wait for memory, the others wait for it, in the
/// stage `waits(.filter)` and without operations. If all together need more memory than an image can ever get, they
/// are filtered one by one.
///
/// So a restart, a retry or a failure may leave any number of them to do. This changes no result: each has the bytes of
/// a separate image.
extension Batch {
    func companions(of index: Int, _ pool: Pool) -> [Int] {
        guard let variant = manifest.images[index].variant, !apart.contains(variant.first),
            !isOnItsOwn(index)
        else { return [] }
        return variant.indices.filter { other in
            guard other != index, !isOnItsOwn(other) else { return false }
            return switch stage(of: other) {
            case .new: !isHeld && blockers[other] == 0
            case .waits(.filter): !pool.memory.isWaiting(.filter(key, image: other))
            default: false
            }
        }
    }

    /// Whether another variant, which waits for memory or has just been granted it, will take this one along.
    func waitsWithAnother(_ index: Int, _ pool: Pool) -> Bool {
        guard let variant = manifest.images[index].variant else { return false }
        return variant.indices.contains { other in
            other != index && stage(of: other) == .waits(.filter)
                && (pool.memory.isWaiting(.filter(key, image: other))
                    || pool.memory.holds(.filter(key, image: other)))
                && companions(of: other, pool).contains(index)
        }
    }

    private func isOnItsOwn(_ index: Int) -> Bool {
        crashes[index] != nil || handOvers.isFilteredAgain(index) || standing[index] != nil
    }

    /// Takes a variant along: it has no operation of its own any more.
    mutating func takeAlong(_ index: Int, _ pool: inout Pool) {
        if stage(of: index) == .waits(.filter) {
            pool.leave(.filter(key, image: index), isDone: true)
            return pool.giveBackMemory(.filter(key, image: index))
        }
        move(index, to: .waits(.filter), &pool)
        status.images[index].download = attempts[sourceOfImage[index]]?.note
    }

    /// Variants need too much memory together. From now on each is filtered by itself.
    package mutating func filteredApart(_ images: [Int], _ pool: inout Pool) {
        if let variant = manifest.images[images[0]].variant { apart.insert(variant.first) }
        for image in images { filterDeferred(image, &pool) }
    }
}
