import Glibc

/// Replaces the reader for a picture whose rows the caller provides: no file, no colour profile, no Exif.
final class CallerRows: PictureReader {
    /// Writes the samples of these rows. They are zero before.
    typealias Fill = (_ samples: inout MutableSpan<UInt8>, _ rows: Range<Int>)
        throws(PictureError) -> Void

    let layout: PixelLayout
    let facts: PictureFacts
    private let fill: Fill
    private let name: String
    private let checkpoint: () -> Bool
    private let buffer: FilterBuffer<UInt8>
    private var nextRow = 0
    /// The error that the caller has thrown, unchanged.
    private(set) var failure: PictureError?

    /// Lends rows, which `fill` writes, to `body`, which must not keep them.
    ///
    /// - Parameter name: the name of the picture in messages.
    /// - Throws: `tooManyPixels` if the layout exceeds the limits; the errors of `fill`, unchanged, and of `body`.
    static func lend<Result>(
        _ layout: PixelLayout, name: String, limits: PictureLimits,
        checkpoint: @escaping () -> Bool,
        fill: Fill,
        to body: (CallerRows) throws(PictureError) -> Result
    ) throws(PictureError) -> Result {
        // The check that nothing keeps `fill` has the length of this file's path in it, whatever prefix is mapped. Without
        // this line the program would depend on where it was built.
        #sourceLocation(file:"CallerRows+Lend.swift",line:1)
        try withoutActuallyEscaping(fill) { fill throws(PictureError) in
            let rows = try CallerRows(
                layout, name: name, limits: limits, checkpoint: checkpoint, fill: fill)
            do throws(PictureError) {
                return try body(rows)
            } catch {
                throw rows.failure ?? error
            }
        }
        #sourceLocation()
    }

    private init(
        _ layout: PixelLayout, name: String, limits: PictureLimits,
        checkpoint: @escaping () -> Bool, fill: @escaping Fill
    ) throws(PictureError) {
        try limits.check(width: layout.width, height: layout.height, place: name)
        self.layout = layout
        self.name = name
        self.checkpoint = checkpoint
        self.fill = fill
        let bytes = layout.bytesPerRow * layout.rowsPerBand
        facts = PictureFacts(
            .png, layout, ReaderNeeds(rowsPerBand: layout.rowsPerBand, bytes: bytes))
        buffer = try FilterBuffer(count: bytes)
    }

    func nextBand() throws(PictureError) -> Band? {
        if nextRow == layout.height { return nil }
        if !checkpoint() { throw PictureError(.cancelled, "\(name): cancelled while reading") }
        let rows = nextRow..<min(layout.height, nextRow + layout.rowsPerBand)
        nextRow = rows.upperBound
        do throws(PictureError) {
            try write(rows)
        } catch {
            failure = error
            throw error
        }
        return Band(start: buffer.start, rows: rows)
    }

    private func write(_ rows: Range<Int>) throws(PictureError) {
        let count = rows.count * layout.bytesPerRow
        memset(buffer.start, 0, count)
        let memory = UnsafeMutableBufferPointer(start: buffer.start, count: count)
        var samples = memory.mutableSpan
        try fill(&samples, rows)
    }

    let warnings: [String] = []
    let metadata = SourceMetadata(format: .png)
    /// The rows are requested on the caller's thread.
    let canBeReadAhead = false
}
