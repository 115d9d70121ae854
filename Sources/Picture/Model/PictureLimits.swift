import DarkroomCore

/// How large a picture may be, so that one hostile or mistaken file cannot take the machine.
///
/// A PNG of a few dozen bytes can announce 2³¹ − 1 pixels a side; all of these are checked against
/// the header, before a pixel is decoded.
public struct PictureLimits: Sendable, Equatable {
    /// The largest number of pixels, of a source and of every filter's result. 1 to 16 · (2³¹ − 1).
    public var pixels = 268_435_456
    /// The largest width or height in pixels, 1 to 2³¹ − 1. A row is always in memory: at 8 bytes a pixel
    /// and a million of them it takes 8 MB.
    public var side = 1_000_000
    /// The most memory, in bytes, that the steps of one picture may hold together for what grows
    /// with the picture: reading an interlaced one, turning, trimming, what is laid over it, the
    /// windows of blurs and resizes. 0 to 2⁵⁰.
    public var wholePictureBytes = 1 << 30
    /// The most bytes that an ancillary chunk may take, as it lies in the file and decompressed. Real
    /// colour profiles stay below 4 MB. 1 to 2³¹ − 1.
    public var ancillaryBytes = 8 << 20

    /// The limits that the daemon has by default.
    public init() {}

    /// Checks a picture's size.
    ///
    /// - Parameters:
    ///   - place: What the message begins with: the file's name and the step.
    package func check(width: Int, height: Int, place: String) throws(PictureError) {
        if max(width, height) > side {
            throw PictureError(
                .tooManyPixels,
                "\(place): \(width) × \(height) pixels; a side may have at most \(side)")
        }
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        if overflow || count > pixels {
            throw PictureError(
                .tooManyPixels,
                "\(place): \(width) × \(height) pixels are more than the limit of \(pixels)")
        }
    }

    /// Checks the size of a buffer for all the pixels of `layout`.
    package func checkWholePicture(_ layout: PixelLayout, place: String) throws(PictureError) {
        let (bytes, overflow) = layout.bytesPerRow.multipliedReportingOverflow(by: layout.height)
        if overflow || bytes > wholePictureBytes {
            throw PictureError(
                .tooManyPixels,
                "\(place): \(layout.width) × \(layout.height) pixels at \(layout.bytesPerPixel) bytes"
                    + " would have to be held in memory at once, more than the limit of"
                    + " \(Units.bytes(wholePictureBytes))")
        }
    }
}

extension PictureLimits {
    /// The most pixels that may be allowed, which the setting `pictures.maxPixels` has too.
    package static let mostPixels = Int(Int32.max) * 16

    /// - Throws: `invalidArguments` where a limit is none that a picture can be held to.
    func checkThemselves() throws(PictureError) {
        // PNG's largest side and chunk have 31 bits.
        let most = Int(Int32.max)
        try Self.check("pixels", pixels, 1...Self.mostPixels)
        try Self.check("side", side, 1...most)
        try Self.check("wholePictureBytes", wholePictureBytes, 0...1 << 50)
        try Self.check("ancillaryBytes", ancillaryBytes, 1...most)
    }

    private static func check(
        _ name: String, _ value: Int, _ range: ClosedRange<Int>
    ) throws(PictureError) {
        if range.contains(value) { return }
        throw PictureError(
            .invalidArguments,
            "limits: \(name) must be \(range.lowerBound) to \(range.upperBound), not \(value)")
    }
}
