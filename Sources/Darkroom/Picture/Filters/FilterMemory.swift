import Glibc

/// Memory that a stage works in, freed with its last reference. Not initialised.
///
/// Making it can fail: rows and windows of the largest pictures take gigabytes, and a machine that
/// has no more of them must fail this picture, not end the daemon.
final class FilterMemory<Element: BitwiseCopyable> {
    let start: UnsafeMutablePointer<Element>
    let count: Int

    /// - Throws: `PictureError.Code.outOfMemory`, which may pass with time.
    init(count: Int) throws(PictureError) {
        let (bytes, overflow) = max(count, 1).multipliedReportingOverflow(
            by: MemoryLayout<Element>.stride)
        var memory: UnsafeMutableRawPointer?
        // A cache line's alignment also serves the widest vectors.
        guard !overflow, posix_memalign(&memory, 64, bytes) == 0, let memory else {
            throw PictureError(
                .outOfMemory, "no memory for \(count) × \(MemoryLayout<Element>.stride) bytes",
                isTransient: true)
        }
        start = memory.bindMemory(to: Element.self, capacity: max(count, 1))
        self.count = count
    }

    deinit { free(start) }

    /// The memory from element `index` on.
    func at(_ index: Int) -> UnsafeMutablePointer<Element> { start + index }
}
