import DarkroomPicture

/// The colours that are tried: of 8 bits all there are, of 16 a lattice and four million at random.
struct Colours: Sendable {
    let depth: Int
    static let width = 4096

    private static let latticeSteps = 64

    var max: Int { (1 << depth) - 1 }

    var height: Int {
        let lattice = Self.latticeSteps * Self.latticeSteps * Self.latticeSteps
        return (depth == 8 ? 1 << 24 : lattice + 1 << 22) / Self.width
    }

    func layout(alpha: Bool) -> PixelLayout {
        PixelLayout(width: Self.width, height: height, channels: alpha ? 4 : 3, depth: depth)
    }

    @inline(__always)
    subscript(index: Int) -> (r: Int, g: Int, b: Int) {
        if depth == 8 { return (index >> 16, index >> 8 & 255, index & 255) }
        let steps = Self.latticeSteps
        if index < steps * steps * steps {
            // 0, 1040, …, 64480, and 65535
            let levels = (index / steps / steps, index / steps % steps, index % steps)
            let level = { (step: Int) in step == steps - 1 ? 65535 : step * 1040 }
            return (level(levels.0), level(levels.1), level(levels.2))
        }
        // SplitMix64
        var z = UInt64(index) &* 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return (Int(z & 65535), Int(z >> 16 & 65535), Int(z >> 32 & 65535))
    }

    /// An alpha for each colour: all values come often, 0, 1 and the largest the most.
    @inline(__always)
    func alpha(_ index: Int) -> Int {
        let mixed = (index &* 2_654_435_761) >> 7
        switch mixed & 7 {
        case 0: return 0
        case 1: return 1
        case 2: return max
        default: return mixed >> 3 & max
        }
    }
}

/// Lends the colours in bands of a few rows.
final class ColourStage: Stage {
    let layout: PixelLayout
    private let colours: Colours
    private let memory: UnsafeMutableRawPointer
    private var next = 0

    static let rowsPerBand = 16

    init(_ colours: Colours, alpha: Bool) {
        self.colours = colours
        layout = colours.layout(alpha: alpha)
        memory = .allocate(byteCount: Self.rowsPerBand * layout.bytesPerRow, alignment: 64)
    }

    deinit { memory.deallocate() }

    func nextBand() throws(PictureError) -> Band? {
        guard next < layout.height else { return nil }
        let rows = next..<min(next + Self.rowsPerBand, layout.height)
        next = rows.upperBound
        if layout.depth == 8 {
            fill(rows, UInt8.self)
        } else {
            fill(rows, UInt16.self)
        }
        return Band(start: memory, rows: rows)
    }

    @inline(__always)
    private func fill<Sample: FixedWidthInteger & BitwiseCopyable>(
        _ rows: Range<Int>, _: Sample.Type
    ) {
        let samples = memory.assumingMemoryBound(to: Sample.self)
        let first = rows.lowerBound * layout.width
        for pixel in 0..<rows.count * layout.width {
            let colour = colours[first + pixel]
            let at = pixel * layout.channels
            samples[at] = Sample(truncatingIfNeeded: colour.r)
            samples[at + 1] = Sample(truncatingIfNeeded: colour.g)
            samples[at + 2] = Sample(truncatingIfNeeded: colour.b)
            if layout.hasAlpha {
                samples[at + 3] = Sample(truncatingIfNeeded: colours.alpha(first + pixel))
            }
        }
    }
}
