/// A deflate decoder (RFC 1951) of the tests' own, to check what the daemon writes without the
/// library that wrote it. Bit by bit after the counting method of Adler's puff: slow, short and
/// strict.
package struct Inflater {
    package enum Problem: Error {
        case endOfInput, badHeader, badBlock, badCode, badDistance, badChecksum, surplus
    }

    private let input: [UInt8]
    private var position: Int
    private var bits: UInt32 = 0
    private var bitCount = 0
    private var output: [UInt8] = []

    /// What the zlib stream `bytes`, which must end with its checksum, was made of.
    package static func zlib(_ bytes: [UInt8]) throws(Problem) -> [UInt8] {
        guard bytes.count >= 6 else { throw .endOfInput }
        let header = Int(bytes[0]) << 8 | Int(bytes[1])
        guard bytes[0] & 15 == 8, header % 31 == 0, bytes[1] & 32 == 0 else { throw .badHeader }
        var inflater = Inflater(input: bytes, position: 2)
        try inflater.run()
        guard inflater.position + 4 <= bytes.count else { throw .endOfInput }
        guard inflater.position + 4 == bytes.count else { throw .surplus }
        let expected = bytes.bigEndian(at: inflater.position)
        guard Checksum.adler32(inflater.output) == expected else { throw .badChecksum }
        return inflater.output
    }

    private init(input: [UInt8], position: Int) {
        self.input = input
        self.position = position
    }

    private mutating func run() throws(Problem) {
        var isLast = false
        repeat {
            isLast = try take(1) == 1
            switch try take(2) {
            case 0: try stored()
            case 1: try codes(HuffmanCode.fixedLiterals, HuffmanCode.fixedDistances)
            case 2: try dynamic()
            default: throw .badBlock
            }
        } while !isLast
    }

    private mutating func take(_ count: Int) throws(Problem) -> Int {
        while bitCount < count {
            guard position < input.count else { throw .endOfInput }
            bits |= UInt32(input[position]) << bitCount
            position += 1
            bitCount += 8
        }
        let value = bits & (1 << count - 1)
        bits >>= count
        bitCount -= count
        return Int(value)
    }

    private mutating func stored() throws(Problem) {
        (bits, bitCount) = (0, 0)
        guard position + 4 <= input.count else { throw .endOfInput }
        let length = Int(input[position]) | Int(input[position + 1]) << 8
        let check = Int(input[position + 2]) | Int(input[position + 3]) << 8
        guard length ^ check == 0xFFFF else { throw .badBlock }
        position += 4
        guard position + length <= input.count else { throw .endOfInput }
        output += input[position..<position + length]
        position += length
    }

    private mutating func codes(
        _ literals: HuffmanCode, _ distances: HuffmanCode
    ) throws(Problem) {
        while true {
            let symbol = try decode(literals)
            if symbol < 256 {
                output.append(UInt8(symbol))
            } else if symbol == 256 {
                return
            } else {
                guard symbol < 286 else { throw .badCode }
                let length =
                    DeflateTables.lengthBases[symbol - 257]
                    + (try take(DeflateTables.lengthExtraBits[symbol - 257]))
                let code = try decode(distances)
                guard code < 30 else { throw .badCode }
                let distance =
                    DeflateTables.distanceBases[code]
                    + (try take(DeflateTables.distanceExtraBits[code]))
                guard distance <= output.count else { throw .badDistance }
                for _ in 0..<length { output.append(output[output.count - distance]) }
            }
        }
    }

    private mutating func dynamic() throws(Problem) {
        let literalCount = try take(5) + 257
        let distanceCount = try take(5) + 1
        let metaCount = try take(4) + 4
        let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
        var metaLengths = [Int](repeating: 0, count: 19)
        for index in 0..<metaCount { metaLengths[order[index]] = try take(3) }
        let meta = HuffmanCode(lengths: metaLengths)
        var lengths: [Int] = []
        while lengths.count < literalCount + distanceCount {
            let symbol = try decode(meta)
            switch symbol {
            case ..<16: lengths.append(symbol)
            case 16:
                guard let last = lengths.last else { throw .badCode }
                lengths += [Int](repeating: last, count: 3 + (try take(2)))
            case 17: lengths += [Int](repeating: 0, count: 3 + (try take(3)))
            default: lengths += [Int](repeating: 0, count: 11 + (try take(7)))
            }
        }
        guard lengths.count == literalCount + distanceCount else { throw .badCode }
        try codes(
            HuffmanCode(lengths: Array(lengths[..<literalCount])),
            HuffmanCode(lengths: Array(lengths[literalCount...])))
    }

    /// Codes of one length are consecutive, and shorter ones come first: so `code` is among those
    /// of the length read so far as soon as it lies less than their number above the first.
    private mutating func decode(_ huffman: HuffmanCode) throws(Problem) -> Int {
        var code = 0
        var first = 0
        var index = 0
        for length in 1...15 {
            code |= try take(1)
            let count = huffman.counts[length]
            if code - first < count { return huffman.symbols[index + code - first] }
            index += count
            first = (first + count) << 1
            code <<= 1
        }
        throw .badCode
    }
}

/// A canonical Huffman code: how many codes there are of each length, and the symbols in their
/// order.
struct HuffmanCode {
    let counts: [Int]
    let symbols: [Int]

    init(lengths: [Int]) {
        counts = (0...15).map { length in
            length == 0 ? 0 : lengths.count { $0 == length }
        }
        symbols = (1...15).flatMap { length in lengths.indices.filter { lengths[$0] == length } }
    }

    static let fixedLiterals = HuffmanCode(
        lengths: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
    static let fixedDistances = HuffmanCode(lengths: [Int](repeating: 5, count: 30))
}
