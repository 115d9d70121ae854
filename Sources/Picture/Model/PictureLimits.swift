import DarkroomCore

/// The limits of a picture, so that a hostile or mistaken file cannot use all resources of the machine.
///
/// The header of a PNG of a few dozen bytes can give 2³¹ − 1 pixels for each side. All limits are compared with the
/// header, before a pixel is decoded.
public struct PictureLimits: Sendable, Equatable {
    /// The maximum number of pixels of a source and of each filter's result. 1 to 16 · (2³¹ − 1).
    public var pixels = 268_435_456
    /// The maximum width and height in pixels, 1 to 2³¹ − 1. A row is always in memory: a million pixels with 8 bytes
    /// each need 8 MB.
    public var side = 1_000_000
    /// The maximum memory, in bytes, that the steps of one picture together may use for data that grows with the
    /// picture: reading an interlaced one, rotating, trimming, overlays, the windows of blurs and resizes. 0 to 2⁵⁰.
    public var wholePictureBytes = 1 << 30
    /// The maximum size of an ancillary chunk, in bytes, both in the file and decompressed. Real colour profiles are
    /// smaller than 4 MB. 1 to 2³¹ − 1.
    public var ancillaryBytes = 8 << 20
    /// The processor's time that a codec program may use for a picture, in seconds. An AVIF of 100 megapixels takes ten.
    package var codecSeconds = 300
    /// The time that a codec program may take between two messages, in seconds, however busy the machine is.
    package var codecSilence = 600
    /// What becomes of damaged pictures.
    package var damaged = DamagedRule.fail
    /// Which pictures are decoded in a confined process.
    package var confine = ConfineRule.others

    /// The daemon's default limits.
    public init() {}

    /// Checks a picture's size.
    ///
    /// - Parameters:
    ///   - place: the beginning of the message: the file's name and the step.
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

    /// Checks the memory that a reader holds because rows are not stored one after the other.
    func check(held bytes: Int, width: Int, height: Int, place: String) throws(PictureError) {
        if bytes <= wholePictureBytes { return }
        throw PictureError(
            .tooManyPixels,
            "\(place): the \(width) × \(height) pixels need \(Units.bytes(bytes)) of memory at once,"
                + " which is more than the limit of \(Units.bytes(wholePictureBytes))")
    }

    /// Checks the size of a buffer for all the pixels of `layout`.
    package func checkWholePicture(_ layout: PixelLayout, place: String) throws(PictureError) {
        let (bytes, overflow) = layout.bytesPerRow.multipliedReportingOverflow(by: layout.height)
        if overflow || bytes > wholePictureBytes {
            throw PictureError(
                .tooManyPixels,
                "\(place): \(layout.width) × \(layout.height) pixels at \(layout.bytesPerPixel) bytes"
                    + " must be held in memory at once, which is more than the limit of"
                    + " \(Units.bytes(wholePictureBytes))")
        }
    }
}

extension PictureLimits {
    /// The maximum that `pixels` can be set to. The setting `pictures.maxPixels` has the same maximum.
    package static let mostPixels = Int(Int32.max) * 16

    /// - Throws: `invalidArguments` if a limit is outside its range.
    func checkThemselves() throws(PictureError) {
        // PNG's maximum side and chunk have 31 bits.
        let most = Int(Int32.max)
        try PictureError.check(pixels, 1...Self.mostPixels, "limits: pixels")
        try PictureError.check(side, 1...most, "limits: side")
        try PictureError.check(wholePictureBytes, 0...1 << 50, "limits: wholePictureBytes")
        try PictureError.check(ancillaryBytes, 1...most, "limits: ancillaryBytes")
    }
}
