import DarkroomCore

/// How large a picture may be, so that one hostile or mistaken file cannot take the machine.
///
/// A PNG of a few dozen bytes can announce 2³¹ − 1 pixels a side; all of these are checked against
/// the header, before a pixel is decoded.
public struct PictureLimits: Sendable, Equatable {
    /// The largest number of pixels, of a source and of every filter's result.
    public var pixels = 268_435_456
    /// The largest width or height in pixels. A row is always in memory: at 8 bytes a pixel and
    /// this many of them it takes 8 MB.
    public var side = 1_000_000
    /// The most memory, in bytes, that the steps of one picture may hold together for what grows
    /// with the picture: reading an interlaced one, turning, trimming, what is laid over it, the
    /// windows of blurs and resizes. See `PictureMemory`.
    public var wholePictureBytes = 1 << 30
    /// The most that an ancillary chunk may take, as it lies in the file and decompressed. Real
    /// colour profiles stay below 4 MB.
    public var ancillaryBytes = 8 << 20

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
