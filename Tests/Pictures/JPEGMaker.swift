import Foundation

/// Makes JPEG files from their specification (ITU-T T.81) without libjpeg, to hold the reader to. With all
/// quantisers at 1 nothing is lost but by rounding.
///
/// The Huffman codes are of one length, 4 bits for DC and 8 for AC: as good as any for a decoder.
package struct JPEGMaker: Sendable {
    package var width: Int
    package var height: Int
    /// Of `samples`: 1 gray, 3 RGB, 4 CMYK.
    package var channels: Int
    /// Interleaved, row by row.
    package var samples: [UInt8]
    /// The sampling factors of the first component, and of the others. The first ones are multiples of the second ones.
    package var brightnessFactors = Factors(across: 1, down: 1)
    package var colourFactors = Factors(across: 1, down: 1)
    /// Whether colour has half the resolution each way.
    package var isCoarse: Bool {
        get { brightnessFactors == Factors(across: 2, down: 2) }
        set {
            brightnessFactors = newValue ? Factors(across: 2, down: 2) : Factors(across: 1, down: 1)
        }
    }
    package var scans = Scans.one
    /// In units of the scan; 0 for none.
    package var restartInterval = 0
    /// Between SOI and the tables.
    package var early: [JPEGSegment] = []
    /// The marker of the frame, if not the one that fits the scans.
    package var frameMarker: UInt8?
    /// The scans to leave out, by their number.
    package var missingScans: Set<Int> = []
    /// How often the last scan is there.
    package var lastScanCount = 1

    /// Sampling factors.
    package struct Factors: Sendable, Equatable {
        package var across: Int
        package var down: Int

        package init(across: Int, down: Int) {
            self.across = across
            self.down = down
        }
    }

    package enum Scans: Sendable, CaseIterable {
        /// Baseline, all components interleaved.
        case one
        /// Sequential, each component by itself.
        case apart
        /// Progressive: the means of all components, then the rest of each.
        case progressive
    }

    package init(width: Int, height: Int, channels: Int, samples: [UInt8]) {
        precondition(samples.count == width * height * channels)
        self.width = width
        self.height = height
        self.channels = channels
        self.samples = samples
    }

    /// A picture of noise.
    package static func noise(
        width: Int, height: Int, channels: Int, seed: UInt64 = 1
    ) -> JPEGMaker {
        var random = SplitMix64(seed: seed)
        let samples = (0..<width * height * channels).map { _ in
            UInt8.random(in: 0...255, using: &random)
        }
        return JPEGMaker(width: width, height: height, channels: channels, samples: samples)
    }

    /// A picture whose colours change slowly, as far as 50 pixels from the top left.
    package static func gradient(width: Int, height: Int, channels: Int) -> JPEGMaker {
        var samples: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                for channel in 0..<channels {
                    let (a, b) = channel % 2 == 0 ? (x, y) : (y, x)
                    samples.append(UInt8(40 + (a * 3 + b) % 200))
                }
            }
        }
        return JPEGMaker(width: width, height: height, channels: channels, samples: samples)
    }

    // MARK: The file

    package var encoded: [UInt8] {
        let start: [UInt8] = [0xFF, 0xD8]
        return start + early.flatMap(\.bytes) + tables.flatMap(\.bytes) + frame.bytes + scanBytes
            + [0xFF, 0xD9]
    }

    private var tables: [JPEGSegment] {
        var tables = [
            JPEGSegment(0xDB, [0] + [UInt8](repeating: 1, count: 64)),
            JPEGSegment(0xC4, [0x00] + Self.counts(Self.dcSymbols, length: 4) + Self.dcSymbols),
            JPEGSegment(0xC4, [0x10] + Self.counts(Self.acSymbols, length: 8) + Self.acSymbols),
        ]
        if restartInterval > 0 {
            tables.append(
                JPEGSegment(0xDD, [UInt8(restartInterval >> 8), UInt8(restartInterval & 255)]))
        }
        return tables
    }

    private static func counts(_ symbols: [UInt8], length: Int) -> [UInt8] {
        (1...16).map { $0 == length ? UInt8(symbols.count) : 0 }
    }

    private var frame: JPEGSegment {
        var data: [UInt8] = [
            8, UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255),
            UInt8(channels),
        ]
        for component in 0..<channels {
            let factors = factors(of: component)
            data += [UInt8(component + 1), UInt8(factors.across << 4 | factors.down), 0]
        }
        return JPEGSegment(frameMarker ?? (scans == .progressive ? 0xC2 : 0xC0), data)
    }

    private func factors(of component: Int) -> Factors {
        component == 0 ? brightnessFactors : colourFactors
    }

    private var scanBytes: [UInt8] {
        let all = Array(0..<channels)
        var list: [(components: [Int], band: ClosedRange<Int>)]
        switch scans {
        case .one: list = [(all, 0...63)]
        case .apart: list = all.map { ([$0], 0...63) }
        case .progressive: list = [(all, 0...0)] + all.map { ([$0], 1...63) }
        }
        let last = list.count - 1
        list += Array(repeating: list[last], count: lastScanCount - 1)
        let planes = all.map { plane(of: $0) }
        var bytes: [UInt8] = []
        for (number, scan) in list.enumerated() where !missingScans.contains(number) {
            var data = [UInt8(scan.components.count)]
            for component in scan.components { data += [UInt8(component + 1), 0x00] }
            data += [UInt8(scan.band.lowerBound), UInt8(scan.band.upperBound), 0]
            bytes += JPEGSegment(0xDA, data).bytes
            bytes += coded(scan.components, scan.band, planes)
        }
        return bytes
    }

    // MARK: Coefficients

    /// The blocks of a component, in zigzag order, by row and column.
    private struct Plane {
        /// How many rows and columns of blocks a scan of this component alone has.
        let rows: Int
        let columns: Int
        let blocks: [[[Int]]]
    }

    private func plane(of component: Int) -> Plane {
        let (most, own) = (brightnessFactors, factors(of: component))
        let step = Factors(across: most.across / own.across, down: most.down / own.down)
        let columns = (width + step.across - 1) / step.across
        let rows = (height + step.down - 1) / step.down
        let across = (width + 8 * most.across - 1) / (8 * most.across) * own.across
        let down = (height + 8 * most.down - 1) / (8 * most.down) * own.down
        let blocks = (0..<down).map { row in
            (0..<across).map { column in
                block(of: component, step: step, x: column * 8, y: row * 8)
            }
        }
        return Plane(rows: (rows + 7) / 8, columns: (columns + 7) / 8, blocks: blocks)
    }

    /// The 64 coefficients of the block whose top left sample is (x, y) of the component.
    private func block(of component: Int, step: Factors, x: Int, y: Int) -> [Int] {
        var values = [Double](repeating: 0, count: 64)
        for row in 0..<8 {
            for column in 0..<8 {
                var sum = 0.0
                for dy in 0..<step.down {
                    for dx in 0..<step.across {
                        sum += value(
                            of: component, x: (x + column) * step.across + dx,
                            y: (y + row) * step.down + dy)
                    }
                }
                values[row * 8 + column] = sum / Double(step.across * step.down) - 128
            }
        }
        var rows = [Double](repeating: 0, count: 64)
        for place in 0..<64 {
            for x in 0..<8 { rows[place] += values[place / 8 * 8 + x] * Self.basis[place % 8][x] }
        }
        return Self.zigzag.map { place in
            var sum = 0.0
            for y in 0..<8 { sum += rows[y * 8 + place % 8] * Self.basis[place / 8][y] }
            return Int(sum.rounded())
        }
    }

    /// The component's value at a pixel; beyond the edge that of the nearest one.
    private func value(of component: Int, x: Int, y: Int) -> Double {
        let start = (min(y, height - 1) * width + min(x, width - 1)) * channels
        guard channels == 3 else { return Double(samples[start + component]) }
        let (r, g, b) = (
            Double(samples[start]), Double(samples[start + 1]), Double(samples[start + 2])
        )
        // JFIF 1.02: ITU-R BT.601 over the full range.
        return switch component {
        case 0: 0.299 * r + 0.587 * g + 0.114 * b
        case 1: -0.168_735_9 * r - 0.331_264_1 * g + 0.5 * b + 128
        default: 0.5 * r - 0.418_687_6 * g - 0.081_312_4 * b + 128
        }
    }

    /// The orthonormal cosine transform: frequency, then place.
    private static let basis: [[Double]] = (0..<8).map { (u: Int) -> [Double] in
        let scale: Double = u == 0 ? 0.5.squareRoot() / 2 : 0.5
        return (0..<8).map { (x: Int) -> Double in
            let angle = Double((2 * x + 1) * u) * Double.pi / 16
            return scale * cos(angle)
        }
    }

    /// The places of a block along its diagonals, from the top left.
    private static let zigzag: [Int] = (0..<15).flatMap { (sum: Int) -> [Int] in
        let rows = (0..<8).filter { (0..<8).contains(sum - $0) }
        return (sum % 2 == 0 ? rows.reversed() : rows).map { $0 * 8 + sum - $0 }
    }

    // MARK: Codes

    private static let dcSymbols = [UInt8](0...11)
    /// Run and size; the end of a block; sixteen zeros.
    private static let acSymbols: [UInt8] =
        [0x00, 0xF0]
        + (0..<16).flatMap { (run: Int) -> [UInt8] in (1...10).map { UInt8(run << 4 | $0) } }
    private static let acCodes: [UInt8: Int] = Dictionary(
        uniqueKeysWithValues: acSymbols.enumerated().map { ($0.element, $0.offset) })

    private func coded(
        _ components: [Int], _ band: ClosedRange<Int>, _ planes: [Plane]
    ) -> [UInt8] {
        var bits = JPEGBits()
        var means = [Int](repeating: 0, count: channels)
        var units = 0
        func restartIfDue(_ bits: inout JPEGBits) {
            if restartInterval > 0, units > 0, units % restartInterval == 0 {
                bits.restart(units / restartInterval - 1)
                means = means.map { _ in 0 }
            }
            units += 1
        }
        func add(_ block: [Int], of component: Int, _ bits: inout JPEGBits) {
            if band.lowerBound == 0 {
                let difference = block[0] - means[component]
                means[component] = block[0]
                let size = Self.size(of: difference)
                bits.add(size, count: 4)
                bits.add(Self.bits(of: difference, size: size), count: size)
            }
            if band.upperBound > 0 { Self.addRest(of: block, &bits) }
        }
        if components.count == 1, let component = components.first {
            for row in planes[component].blocks.prefix(planes[component].rows) {
                for block in row.prefix(planes[component].columns) {
                    restartIfDue(&bits)
                    add(block, of: component, &bits)
                }
            }
            return bits.finished
        }
        let unitRows = planes[0].blocks.count / brightnessFactors.down
        let unitColumns = planes[0].blocks[0].count / brightnessFactors.across
        for unitRow in 0..<unitRows {
            for unitColumn in 0..<unitColumns {
                restartIfDue(&bits)
                for component in components {
                    let factors = factors(of: component)
                    for row in 0..<factors.down {
                        for column in 0..<factors.across {
                            let blocks = planes[component].blocks[unitRow * factors.down + row]
                            add(
                                blocks[unitColumn * factors.across + column], of: component, &bits)
                        }
                    }
                }
            }
        }
        return bits.finished
    }

    private static func addRest(of block: [Int], _ bits: inout JPEGBits) {
        var run = 0
        for value in block[1...] {
            if value == 0 {
                run += 1
                continue
            }
            while run > 15 {
                bits.add(acCodes[0xF0] ?? 0, count: 8)
                run -= 16
            }
            let size = size(of: value)
            bits.add(acCodes[UInt8(run << 4 | size)] ?? 0, count: 8)
            bits.add(Self.bits(of: value, size: size), count: size)
            run = 0
        }
        if run > 0 { bits.add(acCodes[0x00] ?? 0, count: 8) }
    }

    /// How many bits a value's magnitude has.
    private static func size(of value: Int) -> Int {
        Int.bitWidth - value.magnitude.leadingZeroBitCount
    }

    /// A value as it follows its size: a negative one less 1.
    private static func bits(of value: Int, size: Int) -> Int {
        value < 0 ? value + (1 << size) - 1 : value
    }
}

/// The bits of a scan.
private struct JPEGBits {
    private var bytes: [UInt8] = []
    private var pending = 0
    private var count = 0

    mutating func add(_ value: Int, count bits: Int) {
        for bit in (0..<bits).reversed() {
            pending = pending << 1 | value >> bit & 1
            count += 1
            if count == 8 { flush() }
        }
    }

    private mutating func flush() {
        bytes.append(UInt8(pending))
        // So that no marker appears within the data.
        if pending == 0xFF { bytes.append(0) }
        (pending, count) = (0, 0)
    }

    private mutating func fill() {
        while count > 0 { add(1, count: 1) }
    }

    mutating func restart(_ number: Int) {
        fill()
        bytes += [0xFF, 0xD0 + UInt8(number % 8)]
    }

    var finished: [UInt8] {
        var copy = self
        copy.fill()
        return copy.bytes
    }
}
