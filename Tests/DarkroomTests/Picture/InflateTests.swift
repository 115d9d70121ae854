import CDarkroomDeflate
import CDarkroomPixels
import TestPictures
import Testing

/// The inflater, at what no compressor writes: codes of any depth, and symbols that take as many bits as there are,
/// one behind the other. (`Tests/fuzz/inflate.c` holds it against zlib, on what compressors write.)
@Suite(.serialized) struct InflateTests {
    /// A block whose codes are as deep as wanted, and what it is made of.
    private struct Block {
        var stream: BitWriter
        var bytes: [UInt8] = []

        private let literals: [(symbol: Int, length: Int)]
        private let distances: [(symbol: Int, length: Int)]

        /// - Parameters:
        ///   - depth: The bits of the longest code for literals and lengths, at least 3. Those of literal 200 and of
        ///     symbol 284 have so many, the others are 1, 2, 3, … bits.
        ///   - distanceDepth: The same of distances: symbol 29 has so many.
        init(depth: Int, distanceDepth: Int) {
            literals =
                (1...depth - 2).map { ($0, $0) } + [(256, depth - 1), (200, depth), (284, depth)]
            distances =
                (1..<distanceDepth).map { ($0 - 1, $0) }
                + [(28, distanceDepth), (29, distanceDepth)]
            stream = BitWriter(bytes: [0x78, 0x01])
            // The last block, of dynamic codes; 286 lengths, 30 distances, 19 numbers in deflate's order.
            for (bits, count) in [(1, 1), (2, 2), (29, 5), (29, 5), (15, 4)] {
                stream.append(UInt32(bits), count: count)
            }
            // Each length is written as a number of 4 bits; the first three in that order are for runs.
            for place in 0..<19 { stream.append(place < 3 ? 0 : 4, count: 3) }
            for (count, code) in [(286, literals), (30, distances)] {
                for symbol in 0..<count {
                    let length = code.first { $0.symbol == symbol }?.length ?? 0
                    stream.appendCode(length, count: 4)
                }
            }
        }

        /// As RFC 1951, 3.2.2, has it: of one length in the order of their symbols. Here all lengths but the last
        /// have one code, with ones and a zero.
        private mutating func append(
            _ symbol: Int, of code: [(symbol: Int, length: Int)]
        ) {
            let depth = code[code.count - 1].length
            let length = code.first { $0.symbol == symbol }?.length ?? 0
            let isLast =
                length == depth && symbol == code.filter { $0.length == depth }.map(\.symbol).max()
            let ones = (1 << length) - 1
            stream.appendCode(isLast ? ones : ones - 1, count: length)
        }

        mutating func appendLiteral(_ value: Int) {
            append(value, of: literals)
            bytes.append(UInt8(value))
        }

        mutating func appendMatch(lengthBits: UInt32, distanceBits: UInt32) {
            appendMatchWithoutBytes(lengthBits: lengthBits, distanceBits: distanceBits)
            let distance = 24577 + Int(distanceBits)
            for _ in 0..<227 + Int(lengthBits) { bytes.append(bytes[bytes.count - distance]) }
        }

        /// One of the longest distances.
        mutating func appendMatchWithoutBytes(lengthBits: UInt32 = 0, distanceBits: UInt32) {
            append(284, of: literals)
            stream.append(lengthBits, count: 5)
            append(29, of: distances)
            stream.append(distanceBits, count: 13)
        }

        mutating func finished() -> [UInt8] {
            append(256, of: literals)
            let sum = Checksum.adler32(bytes)
            return stream.finished() + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> $0) }
        }
    }

    static func inflate(_ stream: [UInt8], _ count: Int) throws -> [UInt8] {
        let inflate = try #require(darkroom_inflate_new())
        defer { darkroom_inflate_free(inflate) }
        var taken = 0
        var answer = DARKROOM_INFLATE_MORE
        let made = [UInt8](unsafeUninitializedCapacity: count) { buffer, made in
            answer = darkroom_inflate_run(
                inflate, stream, stream.count, &taken, buffer.baseAddress, count, &made)
        }
        #expect(answer == DARKROOM_INFLATE_END)
        #expect(taken == stream.count)
        return made
    }

    @Test(arguments: 3...15, [7, 8, 9, 15])
    func longestSymbolsOneBehindTheOther(depth: Int, distanceDepth: Int) throws {
        defer { darkroom_cpu_limit(DARKROOM_CPU_AVX512) }
        var block = Block(depth: depth, distanceDepth: distanceDepth)
        var random = SplitMix64(seed: UInt64(depth * 16 + distanceDepth))
        while block.bytes.count < 32768 {
            block.appendLiteral(1 + Int(random.next() % UInt64(depth - 2)))
        }
        for _ in 0..<1500 {
            // Few or many long literals, and a match behind them.
            for _ in 0..<random.next() % 6 {
                let isLong = random.next() % 4 > 0
                block.appendLiteral(isLong ? 200 : 1 + Int(random.next() % UInt64(depth - 2)))
            }
            let bits = UInt32(truncatingIfNeeded: random.next())
            block.appendMatch(lengthBits: bits & 31, distanceBits: bits >> 5 & 0x1fff)
        }
        let stream = block.finished()
        for level in [DARKROOM_CPU_SCALAR, DARKROOM_CPU_AVX2, DARKROOM_CPU_AVX512] {
            darkroom_cpu_limit(level)
            let isSame = try Self.inflate(stream, block.bytes.count) == block.bytes
            #expect(isSame, "level \(level.rawValue)")
        }
        let isRight = try Inflater.zlib(stream) == block.bytes
        #expect(isRight, "the reference has it so too")
    }

    /// Long blocks, which several chains decode at once. They need whole pieces of input, and room. What they cannot do,
    /// the usual loop does: the end of a block, and matches for which there is no room in this call.
    @Test(arguments: [4, 9, 11, 15], [0, 1, 7, 40])
    func severalChainsMakeWhatOneMakes(depth: Int, literalsPerMatch: Int) throws {
        defer { darkroom_cpu_limit(DARKROOM_CPU_AVX512) }
        var block = Block(depth: depth, distanceDepth: 9)
        var random = SplitMix64(seed: UInt64(depth * 64 + literalsPerMatch))
        func appendLiteral() {
            let isLong = random.next() % 8 == 0
            block.appendLiteral(isLong ? 200 : 1 + Int(random.next() % UInt64(depth - 2)))
        }
        while block.bytes.count < 40_000 { appendLiteral() }
        for _ in 0..<(literalsPerMatch == 0 ? 0 : 400) {
            for _ in 0..<literalsPerMatch { appendLiteral() }
            let bits = UInt32(truncatingIfNeeded: random.next())
            block.appendMatch(lengthBits: bits & 31, distanceBits: bits >> 5 & 0x1fff)
        }
        let stream = block.finished()
        for level in [DARKROOM_CPU_SCALAR, DARKROOM_CPU_AVX512] {
            darkroom_cpu_limit(level)
            for (piece, room) in [
                (stream.count, 1 << 20), (5000, 9000), (1700, 1 << 20), (6000, 4100),
            ] {
                let made = try Self.inflate(stream, pieces: piece, room: room)
                #expect(made == block.bytes, "level \(level.rawValue), \(piece), \(room)")
            }
        }
    }

    /// A match that refers to something before the beginning is damage, also where a chain has found it.
    @Test func chainsDoNotReadBeforeTheBeginning() throws {
        defer { darkroom_cpu_limit(DARKROOM_CPU_AVX512) }
        for literals in stride(from: 4_000, to: 8_000, by: 250) {
            var block = Block(depth: 9, distanceDepth: 9)
            for index in 0..<literals { block.appendLiteral(1 + index * index % 7) }
            block.appendMatchWithoutBytes(distanceBits: 5)
            for index in 0..<6_000 { block.appendLiteral(1 + index * index % 7) }
            let stream = block.finished()
            for level in [DARKROOM_CPU_SCALAR, DARKROOM_CPU_AVX512] {
                darkroom_cpu_limit(level)
                let inflate = try #require(darkroom_inflate_new())
                defer { darkroom_inflate_free(inflate) }
                var (taken, made) = (0, 0)
                var output = [UInt8](repeating: 0, count: 1 << 16)
                let answer = darkroom_inflate_run(
                    inflate, stream, stream.count, &taken, &output, output.count, &made)
                #expect(answer == DARKROOM_INFLATE_DAMAGED)
                #expect(made == literals)
                #expect(output.prefix(made).elementsEqual(block.bytes.prefix(made)))
            }
        }
    }

    /// The same in pieces of input and of room.
    private static func inflate(_ stream: [UInt8], pieces: Int, room: Int) throws -> [UInt8] {
        let inflate = try #require(darkroom_inflate_new())
        defer { darkroom_inflate_free(inflate) }
        var output = [UInt8](repeating: 0, count: 1 << 20)
        var (from, total) = (0, 0)
        var answer = DARKROOM_INFLATE_MORE
        stream.withUnsafeBufferPointer { stream in
            output.withUnsafeMutableBufferPointer { output in
                guard let input = stream.baseAddress, let start = output.baseAddress else { return }
                while answer == DARKROOM_INFLATE_MORE || answer == DARKROOM_INFLATE_ROOM,
                    from < stream.count || answer == DARKROOM_INFLATE_ROOM, total < output.count
                {
                    var (taken, made) = (0, 0)
                    answer = darkroom_inflate_run(
                        inflate, input + from, min(pieces, stream.count - from), &taken,
                        start + total, min(room, output.count - total), &made)
                    from += taken
                    total += made
                }
            }
        }
        #expect(answer == DARKROOM_INFLATE_END)
        return Array(output.prefix(total))
    }
}
