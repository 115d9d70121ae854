import DarkroomCore

/// How much memory the steps of one picture use for data that grows with more than a row of it: whole pictures and
/// windows of rows.
///
/// The limit applies to the sum over the chain: a picture that is rotated twice is held twice. Each step takes its
/// memory when it is created, before the first row is read, and returns it at its end.
///
/// Data that does not grow with the picture's height is not counted: the stages' bands and single rows, tables and
/// weights, bands that are read ahead, the decoder's own rows, and the strips and compressors of the writer.
/// `PictureLimits.side` limits them, and `PeakMemory` calculates how much they and the counted data need together.
///
/// It belongs to one picture, and so to one thread at a time.
package final class PictureMemory {
    /// In bytes.
    package let limit: Int
    /// In bytes; at most `limit`.
    package private(set) var held = 0

    package init(limit: Int) { self.limit = limit }

    /// Adds `bytes`.
    ///
    /// - Parameter operation: the purpose, with which the message begins.
    /// - Throws: `tooManyPixels` if the sum would exceed the limit.
    package func take(_ bytes: Int, for operation: String) throws(PictureError) {
        guard bytes <= limit - held else {
            let others =
                held == 0
                ? "this"
                : "together with the \(Units.bytes(held)) of the picture's other steps, this"
            throw PictureError(
                .tooManyPixels,
                "\(operation): needs \(Units.bytes(bytes)) of memory at once; \(others) is more than"
                    + " the limit of \(Units.bytes(limit))")
        }
        held += bytes
    }

    /// Subtracts `bytes` that were taken before.
    package func giveBack(_ bytes: Int) {
        precondition(bytes <= held)
        held -= bytes
    }
}
