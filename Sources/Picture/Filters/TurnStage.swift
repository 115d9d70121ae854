import CDarkroomPixels
import Glibc

/// Rotates the picture by a multiple of 90°, or turns it upside down. It holds the whole picture in memory, because its
/// first row may be made from the last one that is read.
final class TurnStage: Stage {
    enum Turn {
        case rotate(Filter.Rotation)
        case flip

        var name: String {
            switch self {
            case .rotate(let rotation): "rotate by \(rotation.rawValue)°"
            case .flip: "flip"
            }
        }
    }

    let layout: PixelLayout
    private let turn: Turn
    private let output: OutputBands
    private let picture: WholePicture

    /// - Throws: `tooManyPixels` if the picture is larger than may be held at once.
    init(_ turn: Turn, _ upstream: any Stage, _ memory: PictureMemory) throws(PictureError) {
        let input = upstream.layout
        picture = try WholePicture(upstream, memory, for: turn.name)
        var layout = input
        var rowsPerBand: Int?
        switch turn {
        case .rotate(.quarter), .rotate(.threeQuarters):
            (layout.width, layout.height) = (input.height, input.width)
            // A band of a few rows would read a few pixels of each cache line of the picture, and the next band would
            // read each line again. Bands of the longest rows keep their size.
            rowsPerBand = max(layout.rowsPerBand, min(32, (8 << 20) / layout.bytesPerRow))
        case .rotate(.half), .flip: break
        }
        self.turn = turn
        self.layout = layout
        output = try OutputBands(layout, rowsPerBand: rowsPerBand)
    }

    func nextBand() throws(PictureError) -> Band? {
        let picture = try self.picture.start()
        return try output.next { (rows: Range<Int>, start) throws(PictureError) in
            switch turn {
            case .flip: copyUpwards(rows, of: picture, to: start)
            case .rotate(.half):
                copyUpwards(rows, of: picture, to: start)
                for row in 0..<rows.count {
                    darkroom_reverse(
                        start + row * layout.bytesPerRow, layout.width, layout.bytesPerPixel)
                }
            case .rotate(.quarter):
                copyColumns(rows, of: picture, first: rows.lowerBound, step: 1, to: start)
            case .rotate(.threeQuarters):
                let first = self.picture.layout.width - 1 - rows.lowerBound
                copyColumns(rows, of: picture, first: first, step: -1, to: start)
            }
        }
    }

    /// Output row y is row height − 1 − y of the picture.
    private func copyUpwards(
        _ rows: Range<Int>, of picture: UnsafeRawPointer, to start: UnsafeMutableRawPointer
    ) {
        let bytes = layout.bytesPerRow
        for row in rows {
            memcpy(
                start + (row - rows.lowerBound) * bytes,
                picture + (layout.height - 1 - row) * bytes, bytes)
        }
    }

    /// Clockwise, the picture's columns become rows, from the left, and are read from the bottom. Counterclockwise,
    /// both directions are reversed.
    private func copyColumns(
        _ rows: Range<Int>, of pixels: UnsafeRawPointer, first: Int, step: Int,
        to start: UnsafeMutableRawPointer
    ) {
        darkroom_columns(
            pixels, picture.layout.width, picture.layout.height, layout.bytesPerPixel, first, step,
            step > 0 ? 1 : 0, start, rows.count)
    }
}

/// Left becomes right, row by row.
enum FlopFilter {
    static func make(_ upstream: any Stage) -> any Stage {
        let layout = upstream.layout
        return InPlaceStage(upstream) { band in
            for row in 0..<band.rows.count {
                darkroom_reverse(
                    band.start + row * layout.bytesPerRow, layout.width, layout.bytesPerPixel)
            }
        }
    }
}
