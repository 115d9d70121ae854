import Testing

@testable import DarkroomPicture

extension JPEGReader {
    /// All pixels of a JPEG file, and the reader that read them.
    static func pixels(
        of file: [UInt8], name: String = "x.jpg", limits: PictureLimits = PictureLimits(),
        decoder: Decoder = .automatic, divisor: Int = 1
    ) throws -> (bytes: [UInt8], reader: JPEGReader) {
        let source = try UnnamedFile(file)
        let reader = try JPEGReader(
            PictureDecoder.Input(
                .file(source.descriptor), name: name, limits: limits,
                divisor: { _, _, _ in divisor }), decoder: decoder)
        return (try reader.allBytes(), reader)
    }

    /// How reading a file ends.
    static func failure(of file: [UInt8], limits: PictureLimits = PictureLimits()) -> PictureError?
    {
        #expect(throws: PictureError.self) { try pixels(of: file, limits: limits) }
    }
}

/// The largest difference between two samples.
func largestDifference(_ a: [UInt8], _ b: [UInt8]) -> Int {
    precondition(a.count == b.count)
    return zip(a, b).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
}
