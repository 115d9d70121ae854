import CDarkroomShims

/// A reader whose work has two steps that two threads can share: the first decompresses, the second makes
/// bands of what the first has given.
///
/// Each step belongs to one thread at a time, and takes bands in the picture's order. The first may be
/// ahead of the second; only when it is not, or when it is at the end, is `nextBand` to be called.
package protocol TwoStepStage: Stage {
    /// How much memory a fetched band needs; 0 where this picture cannot be read in two steps.
    var mostFetchedBytes: Int { get }

    /// The first step: puts into `memory` what the next band is made of. Nil after the last one; then
    /// `nextBand` looks at what follows the pixels.
    func decompress(_ memory: UnsafeMutablePointer<UInt8>) throws(PictureError) -> DecompressedBand?

    /// The second step: the band that was fetched into `memory`. What is wrong with the pixels is thrown
    /// here, also what the first step has met: the error of the picture's first bad row.
    func band(
        of fetched: DecompressedBand, in memory: UnsafeMutablePointer<UInt8>
    ) throws(PictureError) -> Band
}

/// What the first step hands to the second, beside the memory.
package struct DecompressedBand {
    let rows: Range<Int>
    let lines: darkroom_png_fetched
}
