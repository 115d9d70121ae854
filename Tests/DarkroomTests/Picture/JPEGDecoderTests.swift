import CDarkroomPixels
import Dispatch
import Foundation
import Synchronization
import SystemPackage
import TestPictures
import Testing

@testable import DarkroomPicture

/// Darkroom's own decoder against libjpeg-turbo: the same rows, or libjpeg-turbo itself.
struct JPEGDecoderTests {
    typealias Factors = JPEGMaker.Factors

    /// Whether usual pictures are decoded by libjpeg, because its SIMD is faster than plain C.
    static func prefersLibrary(_ divisor: Int) throws -> Bool {
        let processor = try String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
        return divisor < 8 && !processor.contains(" avx2 ")
    }

    /// How a file is read: the rows up to the end or an error, and what is said of them.
    struct Outcome: Equatable, CustomStringConvertible {
        var rows: [UInt8] = []
        var layout: PixelLayout?
        var end = ""
        var warnings: [String] = []
        /// Whether libjpeg gave the last row.
        var usesLibrary = false

        init(_ file: [UInt8], _ decoder: JPEGReader.Decoder, divisor: Int) throws {
            let source = try UnnamedFile(file)
            do throws(PictureError) {
                let reader = try JPEGReader(
                    PictureDecoder.Input(
                        .file(source.descriptor), name: "x.jpg", divisor: { _, _, _ in divisor }),
                    decoder: decoder)
                layout = reader.layout
                let (bytes, error) = reader.bytesUntilError()
                rows = bytes
                warnings = reader.warnings
                usesLibrary = reader.usesLibrary
                end = error.map(Self.words) ?? "whole"
            } catch {
                end = Self.words(error)
            }
        }

        private static func words(_ error: PictureError) -> String {
            "\(error.kind): \(error.message)"
        }

        var description: String { "\(rows.count) bytes, \(end), \(warnings)" }

        static func == (a: Outcome, b: Outcome) -> Bool {
            (a.rows, a.end, a.warnings) == (b.rows, b.end, b.warnings) && a.layout == b.layout
        }
    }

    struct Sampling: CustomTestStringConvertible {
        let channels: Int
        let brightness: Factors
        var colour = Factors(across: 1, down: 1)
        var testDescription: String {
            channels == 1
                ? "gray \(brightness.across)×\(brightness.down)"
                : "\(brightness.across)×\(brightness.down) to \(colour.across)×\(colour.down)"
        }
    }

    static let samplings = [
        Sampling(channels: 1, brightness: Factors(across: 1, down: 1)),
        Sampling(channels: 1, brightness: Factors(across: 2, down: 2)),
        Sampling(channels: 3, brightness: Factors(across: 1, down: 1)),
        Sampling(channels: 3, brightness: Factors(across: 2, down: 1)),
        Sampling(channels: 3, brightness: Factors(across: 1, down: 2)),
        Sampling(channels: 3, brightness: Factors(across: 2, down: 2)),
        Sampling(channels: 3, brightness: Factors(across: 4, down: 1)),
        Sampling(channels: 3, brightness: Factors(across: 4, down: 2)),
        Sampling(
            channels: 3, brightness: Factors(across: 2, down: 2),
            colour: Factors(across: 1, down: 2)),
        Sampling(
            channels: 3, brightness: Factors(across: 2, down: 2),
            colour: Factors(across: 2, down: 1)),
    ]

    /// All widths and heights from 1 to 40, each once, with and without restart markers.
    @Test(arguments: samplings, JPEGMaker.Scans.allCases)
    func rowsAreThoseOfTheLibrary(sampling: Sampling, scans: JPEGMaker.Scans) throws {
        for width in 1...40 {
            let height = width * 7 % 41
            var maker = JPEGMaker.noise(
                width: width, height: height, channels: sampling.channels, seed: UInt64(width))
            maker.brightnessFactors = sampling.brightness
            maker.colourFactors = sampling.colour
            maker.restartInterval = [0, 1, 3][width % 3]
            maker.scans = scans
            let file = maker.encoded
            for divisor in [1, 2, 4, 8] {
                let own = try Outcome(file, .automatic, divisor: divisor)
                let reference = try Outcome(file, .reference, divisor: divisor)
                #expect(own == reference, "\(width) × \(height), 1/\(divisor)")
                #expect(own.end == "whole")
                #expect(own.usesLibrary == (try Self.prefersLibrary(divisor)))
                #expect(reference.usesLibrary)
            }
        }
    }

    /// All coefficients in two or three steps, as usual encoders send them.
    @Test(arguments: [1, 2, 4, 8], [false, true])
    func finerScansAreThoseOfTheLibrary(divisor: Int, isGray: Bool) throws {
        defer { darkroom_cpu_limit(DARKROOM_CPU_AVX512) }
        let sky = Starfield.png(width: 203, height: 117, seed: 3)
        let filters: [Filter] = isGray ? [.grayscale(amount: 1)] : []
        for quality in [20, 85, 100] {
            let file = try PictureSteps(
                filters: filters,
                options: OutputOptions(format: .jpeg, quality: quality, progressive: true)
            ).run(sky).file
            let reference = try Outcome(file, .reference, divisor: divisor)
            #expect(reference.end == "whole")
            for level in [DARKROOM_CPU_SCALAR, DARKROOM_CPU_AVX2, DARKROOM_CPU_AVX512] {
                darkroom_cpu_limit(level)
                let own = try Outcome(file, .automatic, divisor: divisor)
                #expect(own == reference, "quality \(quality), level \(level)")
                #expect(own.usesLibrary == (try Self.prefersLibrary(divisor)))
            }
        }
    }

    /// The same bytes with plain C, AVX2 and AVX-512.
    @Test(arguments: [1, 2, 4, 8]) func allInstructionSetsGiveTheSameRows(divisor: Int) throws {
        defer { darkroom_cpu_limit(DARKROOM_CPU_AVX512) }
        for sampling in Self.samplings {
            var maker = JPEGMaker.noise(width: 150, height: 21, channels: sampling.channels)
            maker.brightnessFactors = sampling.brightness
            maker.colourFactors = sampling.colour
            let file = maker.encoded
            let reference = try Outcome(file, .reference, divisor: divisor)
            for level in [DARKROOM_CPU_SCALAR, DARKROOM_CPU_AVX2, DARKROOM_CPU_AVX512] {
                darkroom_cpu_limit(level)
                let own = try Outcome(file, .automatic, divisor: divisor)
                #expect(own == reference, "\(sampling), level \(level)")
            }
        }
    }

    // MARK: Codes that are kept

    /// The file with a further code for AC that no block has.
    private static func file(_ file: [UInt8], addingCodeOf length: Int, _ symbol: UInt8) -> [UInt8]
    {
        var file = file
        // The second segment of codes is that for AC.
        let first = file.firstRange(of: [0xFF, 0xC4])?.upperBound ?? 0
        let start = file[first...].firstRange(of: [0xFF, 0xC4])?.upperBound ?? 0
        let size = Int(file[start]) << 8 | Int(file[start + 1])
        file[start + 2 + length] += 1
        file.insert(symbol, at: start + size)
        file[start] = UInt8((size + 1) >> 8)
        file[start + 1] = UInt8((size + 1) & 255)
        return file
    }

    /// The tables of the codes are kept for other pictures, on all threads: more kinds than are kept, many at a time,
    /// some for means only.
    @Test func keptCodesAreThoseOfThePicture() throws {
        let plain = JPEGMaker.gradient(width: 48, height: 40, channels: 3).encoded
        let files = (9...16).flatMap { length in
            (0..<5).map { Self.file(plain, addingCodeOf: length, UInt8($0 * 50)) }
        }
        #expect(Set(files).count == files.count)
        let expected = try [1, 8].map { try Outcome(plain, .reference, divisor: $0) }
        let wrong = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 400) { turn in
            let place = turn * 7 % files.count
            let isReduced = turn % 3 == 0
            let outcome = try? Outcome(files[place], .automatic, divisor: isReduced ? 8 : 1)
            if outcome != expected[isReduced ? 1 : 0] || outcome?.end != "whole" {
                wrong.withLock { $0.append("\(place): \(String(describing: outcome))") }
            }
        }
        #expect(wrong.withLock { $0 } == [])
    }

    @Test func colourWithoutConversionIsRGB() throws {
        var maker = JPEGMaker.noise(width: 33, height: 18, channels: 3)
        maker.early = [JPEGSegment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0])]
        let own = try Outcome(maker.encoded, .automatic, divisor: 8)
        #expect(own == (try Outcome(maker.encoded, .reference, divisor: 8)))
        #expect(!own.usesLibrary)
    }

    // MARK: What libjpeg decodes

    struct Unusual: CustomTestStringConvertible {
        let testDescription: String
        var channels = 3
        var prepare: @Sendable (inout JPEGMaker) -> Void = { _ in }
        var change: @Sendable (inout [UInt8]) -> Void = { _ in }
    }

    static func place(_ marker: UInt8, in file: [UInt8]) -> Int {
        JPEGDamageTests.place(marker, in: file)
    }

    /// The place of the last scan's header.
    static func lastScan(of file: [UInt8]) -> Int {
        file.indices.last { file[$0] == 0xFF && $0 + 1 < file.count && file[$0 + 1] == 0xDA } ?? 0
    }

    static let unusual = [
        Unusual(
            testDescription: "a comment between scans", prepare: { $0.scans = .apart },
            change: { file in
                file.insert(contentsOf: JPEGSegment(0xFE, [1, 2]).bytes, at: lastScan(of: file))
            }),
        Unusual(
            testDescription: "steps between scans", prepare: { $0.scans = .progressive },
            change: { file in
                let steps = JPEGSegment(0xDB, [1] + [UInt8](repeating: 2, count: 64))
                file.insert(contentsOf: steps.bytes, at: lastScan(of: file))
            }),
        Unusual(
            testDescription: "coefficients twice",
            prepare: {
                $0.scans = .progressive
                $0.lastScanCount = 2
            }),
        Unusual(
            testDescription: "a component without means",
            prepare: {
                $0.scans = .apart; $0.missingScans = [1]
            }),
        Unusual(
            testDescription: "progressive, cut off", prepare: { $0.scans = .progressive },
            change: { file in file.removeLast(300) }),
        Unusual(
            testDescription: "progressive, a byte too many", prepare: { $0.scans = .progressive },
            change: { file in file.insert(contentsOf: [1, 2], at: file.count - 2) }),
        Unusual(
            testDescription: "a scan's header with zeros",
            change: { file in file[place(0xDA, in: file) + 4 + 1 + 2 * 3 + 1] = 0 }),
        Unusual(
            testDescription: "no codes, so the standard ones",
            change: { file in
                file.removeSubrange(place(0xC4, in: file)..<place(0xC4, in: file) + 33)
            }),
        Unusual(testDescription: "cut off", change: { file in file.removeLast(300) }),
        Unusual(testDescription: "no end", change: { file in file.removeLast(2) }),
        Unusual(
            testDescription: "data missing before the end",
            change: { file in file.removeSubrange(file.count - 90..<file.count - 2) }),
        Unusual(
            testDescription: "a byte too many",
            change: { file in file.insert(contentsOf: [1, 2], at: file.count - 2) }),
        Unusual(
            testDescription: "filling before the end",
            change: { file in file.insert(0xFF, at: file.count - 2) }),
        Unusual(
            testDescription: "a comment before the end",
            change: { file in
                file.insert(contentsOf: JPEGSegment(0xFE, [1, 2]).bytes, at: file.count - 2)
            }),
        Unusual(
            testDescription: "a marker within the data",
            change: { file in file.insert(contentsOf: [0xFF, 0xD9], at: file.count - 700) }),
        Unusual(
            testDescription: "a restart marker that is not due",
            change: { file in file.insert(contentsOf: [0xFF, 0xD0], at: file.count - 700) }),
        Unusual(
            testDescription: "restart markers out of order",
            prepare: { $0.restartInterval = 1 },
            change: { file in file[place(0xD1, in: file) + 1] = 0xD5 }),
        Unusual(
            testDescription: "a code that there is not",
            change: { file in
                let data = file.count - 500
                file.replaceSubrange(
                    data..<data + 8, with: [0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0])
            }),
        Unusual(
            testDescription: "steps that make the means too large",
            change: { file in file[place(0xDB, in: file) + 5] = 255 }),
    ]

    /// The result is libjpeg's, also the number of rows before an error.
    @Test(arguments: unusual) func theLibraryDecodesWhatIsUnusual(_ unusual: Unusual) throws {
        var maker = JPEGMaker.noise(width: 40, height: 70, channels: unusual.channels)
        unusual.prepare(&maker)
        var file = maker.encoded
        unusual.change(&file)
        for divisor in [1, 2, 4, 8] {
            let own = try Outcome(file, .automatic, divisor: divisor)
            #expect(own == (try Outcome(file, .reference, divisor: divisor)), "1/\(divisor)")
            #expect(own.usesLibrary)
        }
    }

    /// A bit that is wrong may be found out at any time after it, or never.
    @Test(arguments: samplings, JPEGMaker.Scans.allCases)
    func damageEndsAsWithTheLibrary(sampling: Sampling, scans: JPEGMaker.Scans) throws {
        var random = SplitMix64(seed: 5)
        var maker = JPEGMaker.noise(width: 50, height: 60, channels: sampling.channels)
        maker.brightnessFactors = sampling.brightness
        maker.colourFactors = sampling.colour
        maker.restartInterval = 2
        maker.scans = scans
        let whole = maker.encoded
        let data = Self.place(0xDA, in: whole) + 14
        for round in 0..<40 {
            var file = whole
            let place = Int.random(in: data..<file.count, using: &random)
            file[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            if round % 4 == 0 { file.removeLast(Int.random(in: 1...400, using: &random)) }
            let divisor = [1, 2, 4, 8][round % 4]
            let own = try Outcome(file, .automatic, divisor: divisor)
            #expect(own == (try Outcome(file, .reference, divisor: divisor)), "byte \(place)")
        }
    }

    /// Nothing can be read twice from a pipe.
    @Test func theLibraryReadsPipes() throws {
        let maker = JPEGMaker.noise(width: 20, height: 10, channels: 3)
        let ends = try FileDescriptor.pipe()
        defer { try? ends.readEnd.close() }
        try ends.writeEnd.closeAfter { _ = try ends.writeEnd.writeAll(maker.encoded) }
        let reader = try JPEGReader(PictureDecoder.Input(.file(ends.readEnd), name: "x.jpg"))
        #expect(try reader.allBytes() == JPEGReader.pixels(of: maker.encoded).bytes)
        #expect(reader.usesLibrary && reader.warnings == [])
    }
}
