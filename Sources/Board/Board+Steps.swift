import DarkroomAnswer
import DarkroomCore

/// The beginnings and the ends of the steps. The scheduler's operations call these functions, or those of `Batch` by
/// `change`. Each first checks whether its work is still needed.
extension Board {
    /// Changes a batch in work in its place, without a copy.
    ///
    /// - Returns: nil if there is no such batch any more.
    @discardableResult
    package mutating func change<Value>(
        _ key: BatchKey, _ body: (inout Batch, inout Pool) -> Value
    ) -> Value? {
        guard let place = batches.index(forKey: key) else { return nil }
        return body(&batches.values[place], &pool)
    }

    // MARK: Downloads

    mutating func downloadBegan(
        _ key: BatchKey, _ source: Int, isTransfer: Bool = true
    ) -> DownloadJob? {
        change(key) { $0.downloadBegan(source, isTransfer: isTransfer, &$1) } ?? nil
    }

    package mutating func downloadDeferred(_ key: BatchKey, _ source: Int) {
        change(key) { $0.downloadDeferred(source, &$1) }
    }

    package mutating func downloadEnded(_ key: BatchKey, _ source: Int, result: DownloadResult) {
        change(key) { $0.downloadEnded(source, result: result, &$1) }
    }

    // MARK: Filters

    mutating func filterBegan(_ key: BatchKey, _ index: Int) -> [FilterJob] {
        change(key) { $0.filterBegan(index, &$1) } ?? []
    }

    /// An image in work has read its header and needs this memory.
    package mutating func needs(_ key: BatchKey, _ index: Int, bytes: Int) -> MemoryAnswer {
        if pool.memory.exceeds(bytes) { return .tooLarge(limit: pool.memory.mostOfOne) }
        let isGranted = pool.memory.take(
            .bytes(bytes), for: .filter(key, image: index), owner: batches[key]?.owner)
        return isGranted ? .granted : .later
    }

    package mutating func filterNotBegun(_ key: BatchKey, _ index: Int) {
        guard batches[key] != nil else {
            pool.giveBackMemory(.filter(key, image: index))
            return
        }
        let hasAnother = admission.place(of: .filter(key, image: index)) != nil
        change(key) { $0.filterNotBegun(index, hasAnother: hasAnother, &$1) }
    }

    package mutating func filterDeferred(_ key: BatchKey, _ index: Int) {
        change(key) { $0.filterDeferred(index, &$1) }
    }

    package mutating func filterEnded(
        _ key: BatchKey, _ index: Int, result: Result<DevelopedPicture, Failure>, share: Int = 1
    ) {
        change(key) { $0.filterEnded(index, result: result, share: share, &$1) }
    }

    package mutating func imageEnded(_ key: BatchKey, _ index: Int, _ image: ImageStatus) {
        change(key) { $0.ended(index, like: image, &$1) }
    }

    /// Whether the image's filter has handed its pixels over.
    package func isHandedOver(_ key: BatchKey, _ index: Int) -> Bool {
        batches[key]?.handOvers.isThere(index) ?? false
    }
}
