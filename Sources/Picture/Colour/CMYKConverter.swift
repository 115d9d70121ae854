import CDarkroomPixels

/// Converts rows of CMYK to RGB by a table, in place.
///
/// The samples say how much ink there is: 0 none, the most all of it; 8 or 16 bits, perhaps with alpha, which stays.
final class CMYKConverter {
    /// Of a stored row.
    let bytesPerRow: Int
    private let layout: PixelLayout
    private let table: [UInt16]

    /// - Parameters:
    ///   - layout: of the rows of RGB.
    ///   - table: see `darkroom_convert_table`; `CMYKModel.steps` for each ink.
    init(to layout: PixelLayout, table: [UInt16]) {
        precondition(table.count == CMYKModel.count)
        self.table = table
        self.layout = layout
        bytesPerRow = layout.width * (layout.channels + 1) * layout.depth / 8
    }

    /// The converted rows begin where the stored ones did.
    func convert(_ start: UnsafeMutableRawPointer, rows: Int) {
        table.withUnsafeBufferPointer {
            darkroom_convert_table(
                start, layout.channels + 1, start, layout.channels, rows * layout.width, 4,
                Int32(layout.depth), $0.baseAddress, UInt32(CMYKModel.steps))
        }
    }
}
