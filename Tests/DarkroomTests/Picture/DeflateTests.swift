import CDarkroomDeflate
import CDarkroomPixels
import TestPictures
import Testing

/// What is deflated, inflated by a decoder that shares nothing with the writer.
@Suite(.serialized) struct DeflateTests {
    static func deflate(_ bytes: [UInt8], onlyLongRuns: Bool = false) -> [UInt8] {
        let room = darkroom_deflate_room(bytes.count)
        let scratch = UnsafeMutableRawPointer.allocate(
            byteCount: darkroom_deflate_scratch(bytes.count), alignment: 16)
        defer { scratch.deallocate() }
        return [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            count =
                onlyLongRuns
                ? darkroom_deflate_long_runs(bytes, bytes.count, scratch, buffer.baseAddress)
                : darkroom_deflate_runs(bytes, bytes.count, scratch, buffer.baseAddress)
        }
    }

    /// Whether pieces are the zlib stream of these bytes with a head and an end.
    static func inflate(_ pieces: [[UInt8]], to bytes: [UInt8]) throws -> Bool {
        let adler = darkroom_adler32(1, bytes, bytes.count)
        let end = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: adler >> $0) }
        return try Inflater.zlib([0x78, 0x9c] + pieces.joined() + [3, 0] + end) == bytes
    }

    /// Deflated with each instruction set to the same bytes, and inflated again.
    static func survives(_ bytes: [UInt8], _ name: String) throws {
        defer { darkroom_cpu_limit(DARKROOM_CPU_AVX512) }
        for onlyLongRuns in [false, true] {
            darkroom_cpu_limit(DARKROOM_CPU_AVX512)
            let fast = deflate(bytes, onlyLongRuns: onlyLongRuns)
            darkroom_cpu_limit(DARKROOM_CPU_SCALAR)
            let plain = deflate(bytes, onlyLongRuns: onlyLongRuns)
            #expect(fast == plain, "\(name)")
            #expect(try inflate([fast], to: bytes), "\(name)")
            #expect(fast.count <= bytes.count + 5 * (bytes.count / 65535 + 3), "\(name)")
        }
    }

    static func noise(_ count: Int, values: UInt64 = 256, seed: UInt64 = 1) -> [UInt8] {
        var random = SplitMix64(seed: seed)
        return random.bytes(count, below: values)
    }

    @Test func runsOfEveryLength() throws {
        for length in [1, 2, 3, 4, 5, 6, 7, 8, 31, 32, 33, 257, 258, 259, 260, 261, 515, 516, 517] {
            try Self.survives([UInt8](repeating: 9, count: length), "\(length) alone")
            let noise = Self.noise(100, seed: UInt64(length))
            try Self.survives(
                noise + [UInt8](repeating: 9, count: length) + noise, "\(length) in noise")
        }
        // All lengths next to each other, so that runs begin and end everywhere in a vector.
        try Self.survives(
            (1...300).flatMap { [UInt8](repeating: UInt8($0 & 1), count: $0) }, "all lengths")
    }

    @Test func fewSymbols() throws {
        for count in [1, 2, 3, 10, 1000] {
            for values: UInt64 in [1, 2, 3] {
                try Self.survives(Self.noise(count, values: values), "\(count) of \(values)")
            }
        }
        try Self.survives((0..<1000).map { UInt8($0 & 1) * 255 }, "two in turn")
    }

    /// Nothing is to be gained, and next to nothing lost.
    @Test func noiseIsStored() throws {
        for count in [1, 100, 61439, 61440, 61441, 65535, 65536, 70000, 200_000] {
            try Self.survives(Self.noise(count), "\(count)")
        }
        let bytes = Self.noise(200_000)
        #expect(Self.deflate(bytes).count > bytes.count)
    }

    /// With frequencies that are Fibonacci's numbers a Huffman code is as deep as it has symbols;
    /// here 22 bits, of which deflate allows 15.
    @Test func deepCodesAreLimited() throws {
        var bytes: [UInt8] = []
        var (last, next) = (1, 1)
        for symbol in 0..<22 {
            // Not as runs: each is followed by another one.
            bytes += [UInt8](repeating: UInt8(symbol * 11), count: last)
            (last, next) = (next, last + next)
        }
        var random = SplitMix64(seed: 4)
        bytes.shuffle(using: &random)
        try Self.survives(bytes, "Fibonacci")
        // Its entropy is 2.4 bits a symbol.
        #expect(Self.deflate(bytes).count < bytes.count * 33 / 100)
    }

    /// Symbols in all places of the alphabet, with gaps of all lengths between them, for the header.
    @Test func sparseAlphabets() throws {
        for step in 1...40 {
            let symbols = Array(stride(from: step % 7, to: 256, by: step))
            var random = SplitMix64(seed: UInt64(step))
            let bytes = (0..<5000).map { _ in
                UInt8(symbols[Int(random.next() % UInt64(symbols.count))])
            }
            try Self.survives(bytes, "every \(step)")
        }
    }

    @Test func smallPiecesMakeOneStream() throws {
        var pieces: [[UInt8]] = []
        var bytes: [UInt8] = []
        for count in 1...60 {
            let piece = Self.noise(count * count, values: UInt64(count), seed: UInt64(count))
            pieces.append(Self.deflate(piece))
            bytes += piece
        }
        #expect(try Self.inflate(pieces, to: bytes))
    }

    /// As smooth rows leave them: small numbers around zero.
    @Test func residualsOfPhotographs() throws {
        var random = SplitMix64(seed: 8)
        let bytes = (0..<300_000).map { _ in
            let bits = random.next()
            return UInt8(truncatingIfNeeded: bits.trailingZeroBitCount &- (bits >> 63 == 0 ? 0 : 3))
        }
        try Self.survives(bytes, "residuals")
        #expect(Self.deflate(bytes).count < bytes.count * 45 / 100)
    }

    /// Rows of pixels of which the first channel tells the others, filtered by Sub, say.
    static func tonedRows(
        width: Int, height: Int, pixelBytes: Int, values: UInt64, seed: UInt64 = 5
    ) -> [UInt8] {
        var random = SplitMix64(seed: seed)
        var bytes: [UInt8] = []
        for _ in 0..<height {
            bytes.append(1)
            for _ in 0..<width {
                let bits = random.next()
                let first = UInt8(bits % values)
                bytes += [first, first &- UInt8(bits >> 60 & 1), first / 2, 0].prefix(pixelBytes)
            }
        }
        return bytes
    }

    /// The lines before `from` are known to the decoder.
    static func deflatePixels(
        _ bytes: [UInt8], from: Int = 0, height: Int, pixelBytes: Int
    ) -> [UInt8] {
        let scratch = UnsafeMutableRawPointer.allocate(
            byteCount: darkroom_deflate_pixels_scratch(), alignment: 16)
        defer { scratch.deallocate() }
        let padded = bytes + [UInt8](repeating: 0, count: 8)
        let room = darkroom_deflate_room(bytes.count)
        return [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            count = darkroom_deflate_pixels(
                padded, bytes.count / height, from, height, Int32(pixelBytes), scratch,
                buffer.baseAddress)
        }
    }

    @Test(arguments: [3, 4])
    func pixelsOfAllWidths(pixelBytes: Int) throws {
        for width in [1, 2, 3, 4, 31, 32, 85, 86, 87, 100, 1023, 1024, 1025, 2049] {
            for values: UInt64 in [1, 2, 30, 256] {
                let height = max(2, 6000 / width)
                let bytes = Self.tonedRows(
                    width: width, height: height, pixelBytes: pixelBytes, values: values)
                let deflated = Self.deflatePixels(bytes, height: height, pixelBytes: pixelBytes)
                #expect(
                    try Self.inflate([deflated], to: bytes), "\(width) pixels, \(values) values")
            }
        }
    }

    /// Copies of pixels further back than deflate reaches are not taken for matches, and more than
    /// one block is made.
    @Test func pixelsBeyondTheWindow() throws {
        var random = SplitMix64(seed: 3)
        let row = [1] + (0..<3 * 11_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        for height in [2, 3, 7] {
            let bytes = [[UInt8]](repeating: row, count: height).flatMap { $0 }
            let deflated = Self.deflatePixels(bytes, height: height, pixelBytes: 3)
            #expect(try Self.inflate([deflated], to: bytes))
        }
    }

    /// The furthest copy that deflate reaches is taken. One that is twice as far is not, although the search
    /// remembers places without their highest bits.
    @Test(arguments: [(5461, 2, true), (21_845, 1, false)])
    func pixelsAtTheEndOfTheWindow(width: Int, apart: Int, isTaken: Bool) throws {
        let rows = (0..<apart).map { index in
            Self.tonedRows(
                width: width, height: 1, pixelBytes: 3, values: 256, seed: UInt64(index + 40)
            ).map { $0 &* 167 }
        }
        let bytes = (0..<4).flatMap { rows[$0 % apart].map { $0 } }
        #expect(rows[0].count * apart == (isTaken ? 32_768 : 65_536))
        let deflated = Self.deflatePixels(bytes, height: 4, pixelBytes: 3)
        #expect(try Self.inflate([deflated], to: bytes))
        let first = Array(bytes.prefix(bytes.count / 4 * apart))
        let once = Self.deflatePixels(first, height: apart, pixelBytes: 3)
        #expect((deflated.count < once.count * 11 / 10) == isTaken)
    }

    /// Lines in several pieces, of which each refers to those before it.
    @Test(arguments: [3, 4])
    func pixelsKnowWhatCameBefore(pixelBytes: Int) throws {
        let width = 500, height = 40, line = 1 + width * pixelBytes
        // Twice the same noise, 20 lines apart.
        let half = Self.tonedRows(width: width, height: 1, pixelBytes: pixelBytes, values: 256)
        var bytes: [UInt8] = []
        for index in 0..<height {
            bytes += [1] + half.dropFirst().map { $0 &+ UInt8(index % 20) }
        }
        var pieces: [[UInt8]] = []
        for (from, to) in [(0, 1), (1, 20), (20, 21), (21, 40)] {
            pieces.append(
                Self.deflatePixels(
                    Array(bytes.prefix(to * line)), from: from, height: to, pixelBytes: pixelBytes))
        }
        #expect(try Self.inflate(pieces, to: bytes))
        let alone = Self.deflatePixels(
            Array(bytes[20 * line..<21 * line]), height: 1, pixelBytes: pixelBytes)
        let isWithinReach = 20 * line <= 32_768
        #expect((pieces[2].count < alone.count / 3) == isWithinReach)
    }

    /// What the search for pixels is for.
    @Test func matchesOfPixelsPayWhereChannelsDepend() {
        let bytes = Self.tonedRows(width: 400, height: 200, pixelBytes: 3, values: 24)
        let runs = Self.deflate(bytes).count
        let pixels = Self.deflatePixels(bytes, height: 200, pixelBytes: 3).count
        #expect(pixels < runs * 85 / 100)
    }

    static let searches = [
        darkroom_search(long_tries: 0, short_tries: 1, passes: 0),
        darkroom_search(long_tries: 24, short_tries: 2, passes: 1),
        darkroom_search(long_tries: 64, short_tries: 6, passes: 0),
    ]

    /// What comes before `start` is known to the decoder.
    static func deflateSearching(
        _ bytes: [UInt8], from start: Int = 0, known: Int = 0, effort: darkroom_search
    ) -> [UInt8] {
        let scratch = UnsafeMutableRawPointer.allocate(
            byteCount: darkroom_deflate_search_scratch(), alignment: 16)
        defer { scratch.deallocate() }
        let room = darkroom_deflate_room(bytes.count - start)
        return [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            count = darkroom_deflate_search(
                bytes, known, start, bytes.count, effort, scratch, buffer.baseAddress)
        }
    }

    /// Pieces of noise of all lengths, each followed by one of those before it.
    static func repeats(_ count: Int, longest: UInt64, seed: UInt64) -> [UInt8] {
        var random = SplitMix64(seed: seed)
        var bytes = [UInt8(seed & 255)]
        while bytes.count < count {
            let length = Int(random.next() % longest) + 1
            let values = 1 + random.next() % 256
            bytes += random.bytes(length, below: values)
            let distance = 1 + Int(random.next() % UInt64(bytes.count))
            for _ in 0..<length { bytes.append(bytes[bytes.count - distance]) }
        }
        return Array(bytes.prefix(count))
    }

    @Test func searchesFindNothingWrong() throws {
        for count in [1, 2, 7, 8, 9, 10, 15, 16, 100, 258, 259, 1000, 33_000, 150_000] {
            for longest: UInt64 in [3, 20, 400] {
                let bytes = Self.repeats(count, longest: longest, seed: UInt64(count) + longest)
                for effort in Self.searches {
                    let deflated = Self.deflateSearching(bytes, effort: effort)
                    #expect(try Self.inflate([deflated], to: bytes), "\(count) bytes, \(longest)")
                }
            }
        }
        let zeros = [UInt8](repeating: 0, count: 1_200_000)
        let deflated = Self.deflateSearching(zeros, effort: Self.searches[1])
        #expect(try Self.inflate([deflated], to: zeros))
        #expect(deflated.count < 2000)
    }

    /// Bytes in several pieces, of which each refers to those before it.
    @Test func searchesKnowWhatCameBefore() throws {
        let piece = Self.noise(20_000)
        let parts: [ArraySlice<UInt8>] = [
            piece[...], piece[...], piece.prefix(4_000), Self.noise(7)[...], piece[...],
            piece.prefix(3),
        ]
        let bytes: [UInt8] = Array(parts.joined())
        let ends = [20_000, 20_001, 40_000, 44_000, 44_007, 64_007, 64_010]
        var pieces: [[UInt8]] = []
        for (start, end) in zip([0] + ends, ends) {
            pieces.append(
                Self.deflateSearching(
                    Array(bytes.prefix(end)), from: start, known: max(0, start - 32_768),
                    effort: Self.searches[1]))
        }
        #expect(try Self.inflate(pieces, to: bytes))
        #expect(pieces[2...].reduce(0) { $0 + $1.count } < 1_500)
        // Where it is not to be looked at, everything is new.
        let alone = Self.deflateSearching(
            Array(bytes.prefix(40_000)), from: 20_000, known: 20_000, effort: Self.searches[1])
        #expect(alone.count > 20_000)
    }

    @Test func noiseCostsNoMoreThanItsRoom() throws {
        for count in [1, 8, 32_767, 32_768, 32_769, 65_536, 200_000] {
            let bytes = Self.noise(count)
            let deflated = Self.deflateSearching(bytes, effort: Self.searches[2])
            #expect(deflated.count <= darkroom_deflate_room(count) - 8)
            #expect(try Self.inflate([deflated], to: bytes), "\(count)")
        }
    }
}
