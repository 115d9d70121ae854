import DarkroomCore
import DarkroomPicture
import Glibc

/// The pictures of a self-test, which it generates: small ones of each kind, one that takes some time to process, and
/// two files that are not pictures.
package enum SamplePictures {
    /// Writes them into a folder.
    package static func write(into folder: Directory) throws(SelfTestError) {
        let layouts: [(FileName, PixelLayout)] = [
            ("small.png", PixelLayout(width: 64, height: 48, channels: 3, depth: 8)),
            ("alpha.png", PixelLayout(width: 40, height: 40, channels: 4, depth: 8)),
            ("gray.png", PixelLayout(width: 50, height: 31, channels: 1, depth: 8)),
            ("deep.png", PixelLayout(width: 24, height: 25, channels: 3, depth: 16)),
            ("large.png", PixelLayout(width: 300, height: 200, channels: 3, depth: 8)),
        ]
        for (name, layout) in layouts {
            do {
                let file = try folder.create(name)
                _ = try PNGWriter.write(
                    PictureEncoder.Input(SampleStage(layout), to: file.file, name: name.text))
            } catch {
                throw .broken("the picture \(name.text): \(error)")
            }
        }
        try onFiles { () throws(FileError) in
            let whole = try folder.read("small.png")
            try folder.write(Array(whole[..<(whole.count / 2)]), to: "cut.png", durably: false)
            try folder.write(Array("no picture\n".utf8), to: "words.png", durably: false)
        }
    }
}

/// Gradients with some noise. The same layout always gives the same pixels.
private final class SampleStage: Stage {
    let layout: PixelLayout
    private let row: UnsafeMutableRawPointer
    private var next = 0
    private var noise: UInt64 = 0x9e37_79b9_7f4a_7c15

    init(_ layout: PixelLayout) {
        self.layout = layout
        row = .allocate(byteCount: layout.bytesPerRow, alignment: 16)
    }

    deinit { row.deallocate() }

    func nextBand() throws(PictureError) -> Band? {
        guard next < layout.height else { return nil }
        for byte in 0..<layout.bytesPerRow {
            // Knuth's linear congruential generator of MMIX. Its upper bits are good enough.
            noise = noise &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let value = byte * 200 / layout.bytesPerRow + next + Int(noise >> 60)
            row.storeBytes(
                of: UInt8(truncatingIfNeeded: value), toByteOffset: byte, as: UInt8.self)
        }
        next += 1
        return Band(start: row, rows: next - 1..<next)
    }
}
