import DarkroomCore

/// How much memory the steps of one picture hold, for all that grows with more than a row of it: pictures
/// held whole, windows of rows.
///
/// The limit is on the sum over the chain: turning a picture twice holds it twice. Every step takes
/// what it needs when it is made, before the first row is read, and gives it back at its end.
///
/// What does not grow with the picture's height is not counted here: the stages' bands and single rows, tables
/// and weights, bands that are read ahead, the decoder's own rows, and the strips and compressors of
/// the writer. `PictureLimits.side` bounds them, and `PeakMemory` says how much they and what
/// is counted here come to.
///
/// Belongs to one picture and so to one thread at a time.
package final class PictureMemory {
    /// In bytes.
    package let limit: Int
    /// In bytes; never more than `limit`.
    package private(set) var held = 0

    package init(limit: Int) { self.limit = limit }

    /// Counts `bytes` more.
    ///
    /// - Parameter operation: what they are for; the message begins with it.
    /// - Throws: `tooManyPixels` where that would be more than the limit.
    package func take(_ bytes: Int, for operation: String) throws(PictureError) {
        guard bytes <= limit - held else {
            let others =
                held == 0 ? "" : "with the \(Units.bytes(held)) of the picture's other steps "
            throw PictureError(
                .tooManyPixels,
                "\(operation): has to hold \(Units.bytes(bytes)) in memory at once, \(others)more than"
                    + " the limit of \(Units.bytes(limit))")
        }
        held += bytes
    }

    /// Counts `bytes` less, which were taken before.
    package func giveBack(_ bytes: Int) {
        precondition(bytes <= held)
        held -= bytes
    }
}
