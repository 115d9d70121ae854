import Glibc

/// Memory that a stage works in, freed with its last reference. Not initialised.
///
/// Making it can fail: rows and windows of the largest pictures take gigabytes, and a machine that
/// has no more of them must fail this picture, not end the daemon.
final class FilterMemory<Element: BitwiseCopyable> {
    let start: UnsafeMutablePointer<Element>
    let count: Int
    /// Where these bytes are counted, if anywhere.
    private let budget: PictureMemory?

    /// - Throws: `PictureError.Code.outOfMemory`, which may pass with time.
    convenience init(count: Int) throws(PictureError) {
        try self.init(count: count, budget: nil)
    }

    /// Memory that counts for `operation` until it is freed.
    ///
    /// - Throws: `tooManyPixels` where the picture's budget has not that much left.
    convenience init(
        count: Int, of budget: PictureMemory, for operation: String
    ) throws(PictureError) {
        let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
        let counted = overflow ? .max : bytes
        try budget.take(counted, for: operation)
        do throws(PictureError) {
            try self.init(count: count, budget: budget)
        } catch {
            budget.giveBack(counted)
            throw error
        }
    }

    private init(count: Int, budget: PictureMemory?) throws(PictureError) {
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
        self.budget = budget
    }

    deinit {
        free(start)
        budget?.giveBack(count * MemoryLayout<Element>.stride)
    }

    /// The memory from element `index` on.
    func at(_ index: Int) -> UnsafeMutablePointer<Element> { start + index }
}
