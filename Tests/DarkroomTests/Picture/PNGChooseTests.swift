import CDarkroomPixels
import TestPictures
import Testing

/// The choice of row filters, held against one that is written down plainly, with each instruction
/// set.
@Suite(.serialized) struct PNGChooseTests {
    static let margin = Int(DARKROOM_PNG_MARGIN)
    static let overhang = Int(DARKROOM_PNG_OVERHANG)

    /// Rows of PNG's bytes, of one of several kinds of content.
    struct Rows {
        var rowBytes: Int
        var count: Int
        var bytes: [UInt8]

        enum Content: CaseIterable {
            /// Every byte as likely as any.
            case noise
            /// Neighbours are near to each other, both ways.
            case smooth
            /// Extremes side by side, where eight bits overflow.
            case extremes
            case flat
        }

        init(rowBytes: Int, count: Int, bytes: [UInt8]) {
            self.rowBytes = rowBytes
            self.count = count
            self.bytes = bytes
        }

        init(_ content: Content, rowBytes: Int, count: Int, seed: UInt64) {
            var random = SplitMix64(seed: seed)
            self.rowBytes = rowBytes
            self.count = count
            bytes = (0..<rowBytes * count).map { index in
                let bits = random.next()
                return switch content {
                case .noise: UInt8(truncatingIfNeeded: bits)
                case .smooth:
                    UInt8(
                        truncatingIfNeeded: index % rowBytes + 3 * (index / rowBytes)
                            + Int(bits % 5))
                case .extremes: [0, 255, 127, 128][Int(bits % 4)]
                case .flat: 200
                }
            }
        }
    }

    /// What the specification of PNG says, chapters 9.2 and 12.8.
    static func plain(_ rows: Rows, pixelBytes: Int) -> [UInt8] {
        (0..<rows.count).flatMap { row in
            let candidates = (UInt8(0)..<5).map { filtered(rows, row, pixelBytes, by: $0) }
            let sums = candidates.map { bytes in
                bytes.dropFirst().reduce(0) { $0 + Int(min($1, 0 &- $1)) }
            }
            return candidates[sums.firstIndex(of: sums.min() ?? 0) ?? 0]
        }
    }

    static func filtered(
        _ rows: Rows, _ row: Int, _ pixelBytes: Int, by type: UInt8
    ) -> [UInt8] {
        func byte(_ row: Int, _ index: Int) -> UInt8 {
            row < 0 || index < 0 ? 0 : rows.bytes[row * rows.rowBytes + index]
        }
        var result = [type]
        for index in 0..<rows.rowBytes {
            let prediction = PNGPrediction.value(
                type: type, left: byte(row, index - pixelBytes), above: byte(row - 1, index),
                corner: byte(row - 1, index - pixelBytes))
            result.append(byte(row, index) &- prediction)
        }
        return result
    }

    /// With the chosen filters, or with one for all rows.
    static func filtered(_ rows: Rows, pixelBytes: Int, by filter: UInt8? = nil) -> [UInt8] {
        let stride = rows.rowBytes + margin
        var laidOut = [UInt8](repeating: 0, count: stride * (rows.count + 1) + overhang)
        var output = [UInt8](
            repeating: 0, count: (rows.rowBytes + 1) * rows.count + overhang)
        laidOut.withUnsafeMutableBufferPointer { laidOut in
            guard let first = laidOut.baseAddress.map({ $0 + stride + margin }) else { return }
            darkroom_png_lay_out(rows.bytes, rows.rowBytes, rows.count, 8, first, stride)
            if let filter {
                darkroom_png_apply(
                    first, stride, rows.rowBytes, Int32(pixelBytes), rows.count, Int32(filter),
                    &output)
            } else {
                darkroom_png_choose(
                    first, stride, rows.rowBytes, Int32(pixelBytes), rows.count, &output)
            }
        }
        return Array(output.dropLast(overhang))
    }

    /// The filters that are chosen, or one for all rows.
    @Test(arguments: [1, 2, 3, 4, 6, 8], [nil, 0, 1, 2, 3, 4] as [UInt8?])
    func bothPathsFilterAsTheSpecificationSays(pixelBytes: Int, filter: UInt8?) {
        defer { darkroom_cpu_limit(DARKROOM_CPU_AVX512) }
        for pixels in [1, 2, 3, 5, 8, 11, 16, 21, 32, 33, 43] {
            for content in Rows.Content.allCases {
                let rows = Rows(
                    content, rowBytes: pixels * pixelBytes, count: 4, seed: UInt64(pixels))
                let expected =
                    filter.map { filter in
                        (0..<rows.count).flatMap {
                            Self.filtered(rows, $0, pixelBytes, by: filter)
                        }
                    } ?? Self.plain(rows, pixelBytes: pixelBytes)
                for level in [DARKROOM_CPU_SCALAR, DARKROOM_CPU_AVX2] {
                    darkroom_cpu_limit(level)
                    let isSame =
                        Self.filtered(rows, pixelBytes: pixelBytes, by: filter) == expected
                    #expect(isSame, "\(content), \(pixels) pixels, level \(level)")
                }
            }
        }
    }

    /// The first table is worth something only where all filters are chosen in it.
    @Test func everyFilterIsChosenSomewhere() {
        var chosen: Set<UInt8> = []
        for content in Rows.Content.allCases {
            for pixels in [1, 2, 5, 33] {
                let rows = Rows(content, rowBytes: 3 * pixels, count: 4, seed: UInt64(pixels))
                let filtered = Self.plain(rows, pixelBytes: 3)
                for row in 0..<rows.count { chosen.insert(filtered[row * (3 * pixels + 1)]) }
            }
        }
        #expect(chosen == [0, 1, 2, 3, 4])
    }

    /// PNG has the high byte first, whatever the machine has.
    @Test func samplesOf16BitsAreTurnedRound() {
        let samples: [UInt16] = [0x0102, 0xfffe, 0x8000, 0x00ff, 0x1234, 0xabcd]
        let stride = 4 + Self.margin
        var out = [UInt8](repeating: 7, count: Self.margin + 3 * stride)
        out.withUnsafeMutableBufferPointer { out in
            guard let first = out.baseAddress.map({ $0 + Self.margin }) else { return }
            darkroom_png_lay_out(samples, 4, 3, 16, first, stride)
        }
        let zeros = [UInt8](repeating: 0, count: Self.margin)
        let expected =
            zeros + [1, 2, 0xff, 0xfe] + zeros + [0x80, 0, 0, 0xff] + zeros
            + [0x12, 0x34, 0xab, 0xcd] + [UInt8](repeating: 7, count: Self.margin)
        #expect(out == expected)
    }
}
