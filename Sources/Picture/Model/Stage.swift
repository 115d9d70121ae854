/// A few consecutive rows that a stage lends. They stay valid until the stage's next call. The borrower may change them
/// in place.
package struct Band {
    /// The first sample of the first row. There are no gaps between rows.
    package let start: UnsafeMutableRawPointer
    /// The numbers of these rows in the picture. Never empty.
    package let rows: Range<Int>

    package init(start: UnsafeMutableRawPointer, rows: Range<Int>) {
        self.start = start
        self.rows = rows
    }
}

/// One step of a picture's pipeline: a reader, a filter, or the last one before the writer.
///
/// The end of the pipeline pulls: the writer asks the last stage for a band, this one asks the stage before it, and so
/// on up to the reader. A stage holds only the rows that its filter needs: none (a colour filter changes the band that
/// was lent to it), a window (blur, resize), or the picture (rotate).
///
/// A stage belongs to one thread at a time.
package protocol Stage: AnyObject {
    /// The layout of the bands that this stage lends.
    var layout: PixelLayout { get }

    /// The next rows from the top; nil after the last one.
    func nextBand() throws(PictureError) -> Band?
}

/// A stage that can be stopped between its bands. One band of a last stage may need very many bands of the previous
/// ones, for example if a picture is enlarged, blurred and reduced.
final class Interruptible: Stage {
    private let stage: any Stage
    private let checkpoint: @Sendable () -> Bool

    init(_ stage: any Stage, _ checkpoint: @escaping @Sendable () -> Bool) {
        self.stage = stage
        self.checkpoint = checkpoint
    }

    var layout: PixelLayout { stage.layout }

    func nextBand() throws(PictureError) -> Band? {
        guard checkpoint() else { throw PictureError(.cancelled, "cancelled between two bands") }
        return try stage.nextBand()
    }
}
