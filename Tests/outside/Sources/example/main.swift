import DarkroomPicture

/// Makes a small sepia JPEG of a picture.
func writePreview(of source: String, to result: String) throws(PictureError) {
    let converter = PictureConverter(
        filters: [.resize(width: 160), .sepia(intensity: 0.8)], output: .jpeg(quality: 88))
    let report = try converter.convert(source, to: result)
    print("\(report.width) × \(report.height) pixels, \(report.bytes) bytes")
}

/// Counts how often each gray is in a picture.
func histogram(of source: String) throws(PictureError) -> [Int] {
    var counts = [Int](repeating: 0, count: 256)
    var rows = try PictureRows(contentsOf: source, filters: [.flatten(), .grayscale()])
    let bytes = rows.layout.bytesPerPixel
    try rows.forEachBand { samples, _ in
        for first in stride(from: 0, to: samples.count, by: bytes) {
            let gray =
                bytes == 1
                ? Int(samples[first])
                : Int(samples.bytes.unsafeLoad(fromByteOffset: first, as: UInt16.self)) / 257
            counts[gray] += 1
        }
    }
    return counts
}

/// Draws the counts as white columns on black.
func draw(_ counts: [Int], to result: String) throws(PictureError) {
    let layout = PixelLayout(width: 256, height: 100, channels: 1, depth: 8)
    let most = max(counts.max() ?? 0, 1)
    try PictureConverter().write(layout, to: result) { samples, rows in
        for (line, row) in rows.enumerated() {
            for gray in 0..<256 where counts[gray] * layout.height > most * (99 - row) {
                samples[line * layout.bytesPerRow + gray] = 255
            }
        }
    }
}

do {
    let source = CommandLine.arguments[1]
    try writePreview(of: source, to: "preview.jpg")
    try draw(histogram(of: source), to: "histogram.png")
} catch {
    switch error.kind {
    case .notAPicture, .unsupportedFormat: print("A PNG or a JPEG is needed: \(error.message)")
    case _ where error.isTransient: print("Try again later: \(error.message)")
    default: print("\(error.code): \(error.message)")
    }
}
