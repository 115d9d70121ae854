import DarkroomCore
import DarkroomPicture
import Glibc

/// The pictures of a self-test, which it generates: small ones of each kind, one that takes some time to process, and
/// two files that are not pictures.
package enum SamplePictures {
    static let small = PixelLayout(width: 64, height: 48, channels: 3, depth: 8)

    package static func write(into folder: Directory) throws(SelfTestError) {
        let layouts: [(FileName, PixelLayout)] = [
            ("small.png", small),
            ("alpha.png", PixelLayout(width: 40, height: 40, channels: 4, depth: 8)),
            ("gray.png", PixelLayout(width: 50, height: 31, channels: 1, depth: 8)),
            ("deep.png", PixelLayout(width: 24, height: 25, channels: 3, depth: 16)),
            ("large.png", PixelLayout(width: 300, height: 200, channels: 3, depth: 8)),
        ]
        for (name, layout) in layouts {
            do throws(PictureError) {
                try write(layout, as: .png, to: name, in: folder)
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

extension SamplePictures {
    static func write(
        _ layout: PixelLayout, as format: OutputFormat, to name: FileName, in folder: Directory
    ) throws(PictureError) {
        let file: Descriptor
        do throws(FileError) {
            file = try folder.create(name)
        } catch {
            throw PictureError(.writeFailed, error.message)
        }
        var input = PictureEncoder.Input(SampleStage(layout), to: file.file, name: name.text)
        input.options = OutputOptions(format: format)
        _ = try format.encoder.write(input)
    }

    /// A GIF, whose codes have eight bits: it has 128 colours, and no code is of more than one pixel.
    static func gif() -> [UInt8] {
        let (width, height) = (small.width, small.height)
        var bytes = Array("GIF89a".utf8) + little(width) + little(height) + [0xF6, 0, 0]
        for colour in 0..<128 { bytes += [UInt8(2 * colour), UInt8(255 - colour), UInt8(colour)] }
        bytes += [0x2C, 0, 0, 0, 0] + little(width) + little(height) + [0, 7]
        // 128 begins anew, before codes of pairs would make the codes longer.
        var codes: [UInt8] = []
        for pixel in 0..<width * height {
            if pixel % 100 == 0 { codes.append(128) }
            codes.append(UInt8((pixel % width + pixel / width) % 128))
        }
        codes.append(129)
        for start in stride(from: 0, to: codes.count, by: 255) {
            let part = codes[start..<min(codes.count, start + 255)]
            bytes += [UInt8(part.count)] + part
        }
        return bytes + [0, 0x3B]
    }

    /// A BMP of 24 bits, whose rows have a multiple of four bytes.
    static func bmp() -> [UInt8] {
        let (width, height) = (small.width, small.height)
        let size = width * height * 3
        var bytes = Array("BM".utf8) + little(54 + size, 4) + little(0, 4) + little(54, 4)
        bytes += little(40, 4) + little(width, 4) + little(height, 4) + little(1) + little(24)
        bytes += little(0, 4) + little(size, 4) + [UInt8](repeating: 0, count: 16)
        for pixel in 0..<width * height {
            let (x, y) = (pixel % width, pixel / width)
            bytes += [UInt8(3 * x), UInt8(5 * y), UInt8(x + y)]
        }
        return bytes
    }

    private static func little(_ value: Int, _ count: Int = 2) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
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
            row.storeBytes(of: UInt8(truncatingIfNeeded: value), toByteOffset: byte, as: UInt8.self)
        }
        next += 1
        return Band(start: row, rows: next - 1..<next)
    }
}
