/// A segment of a JPEG file: a marker and its data.
package struct JPEGSegment: Sendable, Equatable {
    /// The byte after 0xFF.
    package var marker: UInt8
    /// Without the length.
    package var data: [UInt8]

    package init(_ marker: UInt8, _ data: [UInt8]) {
        self.marker = marker
        self.data = data
    }

    package var bytes: [UInt8] {
        [0xFF, marker, UInt8((data.count + 2) >> 8), UInt8((data.count + 2) & 255)] + data
    }

    /// The segments of a file up to its first scan; nil where they do not follow each other.
    package static func all(in file: [UInt8]) -> [JPEGSegment]? {
        guard file.starts(with: [0xFF, 0xD8]) else { return nil }
        var segments: [JPEGSegment] = []
        var place = 2
        while place + 4 <= file.count, file[place] == 0xFF {
            let length = Int(file[place + 2]) << 8 | Int(file[place + 3])
            guard length >= 2, place + 2 + length <= file.count else { return nil }
            segments.append(
                JPEGSegment(file[place + 1], Array(file[place + 4..<place + 2 + length])))
            if file[place + 1] == 0xDA { return segments }
            place += 2 + length
        }
        return nil
    }

    // MARK: What cameras and programs write

    /// JFIF 1.02's header. `unit` is 0 none, 1 inch, 2 centimetre.
    package static func jfif(unit: UInt8, x: Int, y: Int) -> JPEGSegment {
        JPEGSegment(
            0xE0,
            Array("JFIF\0".utf8) + [1, 2, unit, UInt8(x >> 8), UInt8(x & 255), UInt8(y >> 8)]
                + [UInt8(y & 255), 0, 0])
    }

    /// Exif with nothing but an orientation.
    package static func exif(orientation: UInt16, isBigEndian: Bool = true) -> JPEGSegment {
        JPEGSegment(
            0xE1, Array("Exif\0\0".utf8) + tiff(orientation: orientation, isBigEndian: isBigEndian))
    }

    /// Exif's TIFF structure: two entries, the second of which is the orientation.
    package static func tiff(orientation: UInt16, isBigEndian: Bool = true) -> [UInt8] {
        func short(_ value: UInt16) -> [UInt8] {
            let bytes = [UInt8(value >> 8), UInt8(value & 255)]
            return isBigEndian ? bytes : bytes.reversed()
        }
        func long(_ value: UInt16) -> [UInt8] {
            isBigEndian ? [0, 0] + short(value) : short(value) + [0, 0]
        }
        let header = Array((isBigEndian ? "MM" : "II").utf8) + short(42) + long(8)
        let width = short(0x0100) + short(4) + long(1) + long(9)
        let entry = short(0x0112) + short(3) + long(1) + short(orientation) + short(0)
        return header + short(2) + width + entry + long(0)
    }

    /// A colour profile in pieces of at most `size` bytes.
    package static func profile(_ bytes: [UInt8], size: Int = 65_519) -> [JPEGSegment] {
        let starts = Array(stride(from: 0, to: bytes.count, by: size))
        return starts.enumerated().map { index, start in
            let part = bytes[start..<min(start + size, bytes.count)]
            return JPEGSegment(
                0xE2,
                Array("ICC_PROFILE\0".utf8) + [UInt8(index + 1), UInt8(starts.count)] + part)
        }
    }
}
