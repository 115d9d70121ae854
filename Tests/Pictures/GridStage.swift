import DarkroomPicture
import Testing

/// Lends a grid's rows in bands of a chosen size, each at another place.
///
/// Once a band is no longer lent it is overwritten with a pattern, so that a stage which uses it too long
/// gives wrong pixels; and what lies behind a band must be as it was when the band comes back.
package final class GridStage: Stage {
    package let layout: PixelLayout
    /// Whether nil has been returned.
    package private(set) var hasEnded = false
    private let grid: PixelGrid
    private let rowsPerBand: Int
    /// The row at which to fail instead of lending it.
    private let failingRow: Int?
    private var next = 0
    private var lent: [UnsafeMutableRawBufferPointer] = []
    private var lentBytes = 0

    package static let failure = PictureError(
        .pngTruncated, "the file ends before the end of the picture")
    private static let guardBytes = 64
    private static let pattern: UInt8 = 0xA5

    package init(_ grid: PixelGrid, rowsPerBand: Int = 3, failingRow: Int? = nil) {
        self.grid = grid
        self.rowsPerBand = rowsPerBand
        self.failingRow = failingRow
        layout = grid.layout
    }

    deinit {
        for memory in lent { memory.deallocate() }
    }

    package func nextBand() throws(PictureError) -> Band? {
        takeBack()
        guard next < layout.height else {
            hasEnded = true
            return nil
        }
        let rows = next..<min(next + rowsPerBand, layout.height)
        if let failingRow, rows.contains(failingRow) { throw Self.failure }
        next = rows.upperBound
        let rowSamples = layout.width * layout.channels
        let samples = grid.samples[rows.lowerBound * rowSamples..<rows.upperBound * rowSamples]
        lentBytes = rows.count * layout.bytesPerRow
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: lentBytes + Self.guardBytes, alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: Self.pattern)
        for (index, sample) in samples.enumerated() {
            if layout.depth == 8 {
                memory[index] = UInt8(sample)
            } else {
                memory.storeBytes(of: sample, toByteOffset: 2 * index, as: UInt16.self)
            }
        }
        lent.append(memory)
        guard let start = memory.baseAddress else { preconditionFailure("an empty band") }
        return Band(start: start, rows: rows)
    }

    /// Checks what lies behind the last band and overwrites it. Its memory is freed with the stage, so
    /// that no later band lies at the same place.
    private func takeBack() {
        guard let memory = lent.last else { return }
        let behind = memory[lentBytes...]
        #expect(behind.allSatisfy { $0 == Self.pattern }, "a stage wrote behind its band")
        memory.initializeMemory(as: UInt8.self, repeating: Self.pattern)
    }
}

extension PixelGrid {
    /// Pulls all the bands of a stage.
    package init(pulling stage: any Stage) throws {
        let layout = stage.layout
        var samples: [UInt16] = []
        var next = 0
        while let band = try stage.nextBand() {
            #expect(band.rows.lowerBound == next && !band.rows.isEmpty)
            next = band.rows.upperBound
            for index in 0..<band.rows.count * layout.width * layout.channels {
                samples.append(
                    layout.depth == 8
                        ? UInt16(band.start.load(fromByteOffset: index, as: UInt8.self))
                        : band.start.load(fromByteOffset: 2 * index, as: UInt16.self))
            }
        }
        try #require(next == layout.height)
        self.init(layout, samples)
    }
}
