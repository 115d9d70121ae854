import CDarkroomShims

/// A reader whose work has two steps for two threads: the first decompresses, the second makes bands from its results.
///
/// Each step belongs to one thread at a time, and processes bands in the picture's order. The first may be ahead of the
/// second. `nextBand` may be called only if it is not, or if it is at the end.
package protocol TwoStepStage: Stage {
    /// How much memory a fetched band needs, in bytes; 0 if this picture cannot be read in two steps.
    var mostFetchedBytes: Int { get }

    /// The first step: writes the data of the next band into `memory`.
    ///
    /// - Returns: nil after the last band. Then `nextBand` examines the data after the pixels.
    func decompress(_ memory: UnsafeMutablePointer<UInt8>) throws(PictureError) -> DecompressedBand?

    /// The second step: makes the band from the data in `memory`. It throws all errors in the pixels, including those
    /// of the first step: the error of the picture's first damaged row.
    func band(
        of fetched: DecompressedBand, in memory: UnsafeMutablePointer<UInt8>
    ) throws(PictureError) -> Band
}

/// The result of the first step for the second, in addition to the memory.
package struct DecompressedBand {
    let rows: Range<Int>
    let lines: darkroom_png_fetched
}
