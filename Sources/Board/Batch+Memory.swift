/// How images get the memory for their filters, see `MemoryBudget`.
///
/// An image that waits for memory is in the stage `waits(.filter)`, as is one in the filters queue. But it has no
/// operation until the memory has been granted.
extension Batch {
    /// The need of an image before its picture is known. If a process died with the image, it is filtered alone among
    /// those that share the memory, so that another crash incriminates few images. Its time has no limit, so the memory
    /// and the places that are kept for idle owners stay available to them.
    func firstNeed(_ index: Int) -> MemoryBudget.Need {
        crashes[index] == nil ? .least : .everything
    }

    /// `filterBegan` returned nothing: there is no memory for the image, which waits from now on, or nobody needs it
    /// any more.
    ///
    /// - Parameter hasAnother: whether another operation of it comes, because it was taken along since, and is to be
    ///   filtered again.
    mutating func filterNotBegun(_ index: Int, hasAnother: Bool, _ pool: inout Pool) {
        switch stage(of: index) {
        case .waits(.filter):
            // One that waits may take it along. Its own wait would have it filtered alone.
            if !hasAnother, !waitsWithAnother(index, pool) { wait(index, firstNeed(index), &pool) }
        // Another operation may be working on it, with the granted memory.
        case .filtering: break
        default: pool.giveBackMemory(.filter(key, image: index))
        }
    }

    /// An image in work was told to wait, and has undone what it had begun.
    ///
    /// - Parameter images: the image, and the variants that it had taken along. They wait for it.
    package mutating func filterPostponed(_ images: [Int], bytes: Int, _ pool: inout Pool) {
        for image in images where stage(of: image) == .filtering {
            move(image, to: .waits(.filter), &pool)
            if isCancelled {
                cancel(image, &pool)
            } else if image == images[0] {
                wait(image, crashes[image] == nil ? .bytes(bytes) : .everything, &pool)
            }
        }
        finishIfEnded(&pool)
    }

    private func wait(_ index: Int, _ need: MemoryBudget.Need, _ pool: inout Pool) {
        let work = Work.filter(key, image: index)
        // The limit may have become lower since the image was told to wait. It begins again, to be told so.
        if case .bytes(let bytes) = need, pool.memory.exceeds(bytes) {
            pool.memory.forget(work)
            pool.enter(work)
        } else {
            pool.memory.wait(work, for: need, level: level.index, owner: owner)
        }
        // Memory may have become free since the image was told to wait.
        pool.serveMemory()
    }
}
