import Glibc

/// Memory for a stage. It is freed with its last reference. It is not initialised.
///
/// The allocation may fail: rows and windows of the largest pictures need gigabytes. If the machine does not have them,
/// this picture must fail and the daemon must continue.
final class FilterBuffer<Element: BitwiseCopyable> {
    let start: UnsafeMutablePointer<Element>
    let count: Int
    /// The budget in which these bytes count, if any.
    private let budget: PictureMemory?

    /// - Throws: `PictureError.Code.outOfMemory`. A later attempt may succeed.
    convenience init(count: Int) throws(PictureError) {
        try self.init(count: count, budget: nil)
    }

    /// Memory that counts as memory of `operation` until it is freed.
    ///
    /// - Throws: `tooManyPixels` if the picture's budget has less left.
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
        // The alignment of a cache line is also sufficient for the widest vectors.
        guard !overflow, posix_memalign(&memory, 64, bytes) == 0, let memory else {
            throw PictureError(
                .outOfMemory,
                "not enough memory for \(count) × \(MemoryLayout<Element>.stride) bytes",
                isTransient: true)
        }
        start = memory.bindMemory(to: Element.self, capacity: max(count, 1))
        self.count = count
        self.budget = budget
    }

    /// Memory for `count` elements: the former one if it is large enough.
    static func atLeast(
        _ count: Int, _ former: FilterBuffer?
    ) throws(PictureError) -> FilterBuffer {
        if let former, former.count >= count { return former }
        return try FilterBuffer(count: count)
    }

    deinit {
        free(start)
        budget?.giveBack(count * MemoryLayout<Element>.stride)
    }

    /// The memory from element `index` on.
    func at(_ index: Int) -> UnsafeMutablePointer<Element> { start + index }
}

/// Lends rows in memory, which the borrower may change.
final class HeldRows: Stage {
    let layout: PixelLayout
    /// What is lent, one after the other.
    private let parts: [FilterBuffer<UInt8>]
    private var next = 0
    /// The rows that have been lent.
    private var done = 0

    init(_ layout: PixelLayout, _ parts: [FilterBuffer<UInt8>]) {
        self.layout = layout
        self.parts = parts
    }

    func nextBand() throws(PictureError) -> Band? {
        guard next < parts.count else { return nil }
        let part = parts[next]
        let rows = done..<(done + part.count / layout.bytesPerRow)
        next += 1
        done = rows.upperBound
        return Band(start: UnsafeMutableRawPointer(part.start), rows: rows)
    }
}
