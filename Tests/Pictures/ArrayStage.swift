import DarkroomPicture

/// A stage that lends the rows of an array.
package final class ArrayStage: Stage {
    package let layout: PixelLayout
    private let start: UnsafeMutableRawPointer
    private var nextRow = 0

    package init(_ picture: ReferencePicture) {
        layout = picture.layout
        let bytes = picture.bytes
        start = .allocate(byteCount: bytes.count, alignment: 64)
        start.copyMemory(from: bytes, byteCount: bytes.count)
    }

    deinit { start.deallocate() }

    package func nextBand() throws(PictureError) -> Band? {
        if nextRow == layout.height { return nil }
        let rows = nextRow..<min(layout.height, nextRow + layout.rowsPerBand)
        nextRow = rows.upperBound
        return Band(start: start + rows.lowerBound * layout.bytesPerRow, rows: rows)
    }
}
