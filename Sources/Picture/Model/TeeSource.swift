/// What a tee reads: one picture, or one picture decoded at several sizes at once.
protocol TeeSource: AnyObject {
    /// The layout of each of its pictures.
    var layouts: [PixelLayout] { get }
    /// The most rows that a step gives of each.
    var rowsPerStep: [Int] { get }
    /// Writes the next rows of each picture.
    ///
    /// - Returns: the numbers of the rows; nil after the last ones.
    func next(into memory: [UnsafeMutableRawPointer]) throws(PictureError) -> [Range<Int>]?
}
