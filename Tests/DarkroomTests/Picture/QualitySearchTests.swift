import CDarkroomCodecWire
import Foundation
import SystemPackage
import TestPictures
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomPicture

/// Qualities that are chosen: the bytes of the result, its similarity, and what a trial cannot find.
struct QualitySearchTests {
    static let formats = OutputOption.maxBytes.formats

    /// Waves, a disc with a sharp edge, and some noise, which no format keeps for few bytes.
    static func photo(
        _ width: Int, _ height: Int, _ channels: Int, _ depth: Int = 8
    ) -> ReferencePicture {
        var random = SplitMix64(seed: UInt64(width * 31 + height * 7 + channels))
        return ReferencePicture(width, height, channels: channels, depth: depth) { x, y, channel in
            let (u, v) = (Double(x) / 37, Double(y) / 23)
            let (across, down) = (x - width / 3, y - height / 2)
            let isInDisc = across * across + down * down < height * height / 16
            let shift = Double(channel) * 0.7
            var value = isInDisc ? 170.0 : 110
            value += 40 * sin(u + shift)
            value += 30 * sin(v * u / 5 + shift)
            value += Double(Int.random(in: -6...6, using: &random))
            let isAlpha = channels % 2 == 0 && channel == channels - 1
            if isAlpha { value = x < width / 2 ? 255 : 200 }
            let sample = min(max(value, 0), 255)
            return UInt16(depth == 16 ? sample * 257 : sample)
        }
    }

    static func write(
        _ picture: ReferencePicture, _ options: OutputOptions, isRich: Bool = false
    ) throws -> (file: [UInt8], written: WrittenPicture) {
        try options.write(ArrayStage(picture)) { input in
            guard isRich else { return }
            input.colour.profile = PictureColour.Profile(
                bytes: ICCProfileMaker.profile(space: "RGB ", padding: 3000))
            input.exif = JPEGSegment.tiff(orientation: 1)
            input.xmp = Array(#"<x:xmpmeta xmlns:x="adobe:ns:meta/"></x:xmpmeta>"#.utf8)
        }
    }

    /// The pixels of a result.
    static func read(_ file: [UInt8], _ format: OutputFormat) throws -> ReferencePicture {
        if format == .jpeg {
            let (bytes, reader) = try JPEGReader.pixels(of: file)
            return ReferencePicture(layout: reader.layout, bytes: bytes)
        }
        let reader = try CodecReaderTests.reader(of: .content(file), format.encoder.kind)
        return ReferencePicture(layout: reader.layout, bytes: try reader.allBytes())
    }

    static func brightness(_ picture: ReferencePicture) -> [UInt8] {
        let layout = picture.layout
        var all: [UInt8] = []
        for y in 0..<layout.height {
            let count = layout.width * layout.channels
            let row = picture.samples[y * count..<(y + 1) * count]
            var light = [UInt8](repeating: 0, count: layout.width)
            if layout.depth == 16 {
                darkroom_brightness(
                    Array(row), UInt32(layout.width), UInt32(layout.channels), 16, &light)
            } else {
                darkroom_brightness(
                    row.map { UInt8($0) }, UInt32(layout.width), UInt32(layout.channels), 8,
                    &light)
            }
            all += light
        }
        return all
    }

    static func similarity(
        _ one: [UInt8], _ other: [UInt8], width: Int, height: Int
    ) -> Double {
        var ssim = darkroom_ssim()
        var memory = [UInt8](repeating: 0, count: darkroom_ssim_bytes(UInt32(width)) + 64)
        return memory.withUnsafeMutableBytes { memory in
            darkroom_ssim_begin(&ssim, memory.baseAddress, UInt32(width), UInt32(height))
            for y in 0..<height {
                let row = y * width..<(y + 1) * width
                darkroom_ssim_row(&ssim, Array(one[row]), Array(other[row]))
            }
            return darkroom_ssim_end(&ssim)
        }
    }

    static func similarity(_ one: ReferencePicture, _ other: ReferencePicture) -> Double {
        similarity(
            brightness(one), brightness(other), width: one.layout.width,
            height: one.layout.height)
    }

    // MARK: Bytes

    struct Case: CustomTestStringConvertible, Sendable {
        let format: OutputFormat
        var width = 96
        var height = 67
        var channels = 3
        var depth = 8
        var isRich = false
        var options: @Sendable (inout OutputOptions) -> Void = { _ in }

        var testDescription: String {
            "\(format) \(width)x\(height) \(channels) \(depth)\(isRich ? " rich" : "")"
        }

        var base: OutputOptions {
            // The encoders take their time.
            var options = OutputOptions(format: format, effort: 1)
            self.options(&options)
            return options
        }

        var picture: ReferencePicture { photo(width, height, channels, depth) }

        func write(
            _ change: (inout OutputOptions) -> Void
        ) throws -> (file: [UInt8], written: WrittenPicture) {
            var options = base
            change(&options)
            return try QualitySearchTests.write(picture, options, isRich: isRich)
        }

        private static func usual(_ format: OutputFormat) -> [Case] {
            [
                Case(format: format), Case(format: format, channels: 1),
                Case(format: format, channels: 2), Case(format: format, channels: 4),
                Case(format: format, depth: 16), Case(format: format, channels: 4, depth: 16),
                Case(format: format, width: 1, height: 1),
                Case(format: format, width: 7, height: 90, channels: 4),
                Case(format: format, isRich: true),
            ]
        }

        private static let others: [Case] = [
            Case(format: .jpeg) { $0.progressive = true },
            Case(format: .jpeg) { $0.quality = 100 },
            Case(format: .jpeg, isRich: true) { ($0.quality, $0.progressive) = (95, true) },
            Case(format: .webp) { $0.effort = 0 },
            Case(format: .avif, depth: 16) { ($0.depth, $0.chroma) = (10, .full) },
            Case(format: .avif) { ($0.quality, $0.effort) = (40, 1) },
        ]

        static let all: [Case] = QualitySearchTests.formats.flatMap(usual) + others
    }

    /// The bytes are within each budget, those of metadata too, and the file is that of the chosen quality.
    @Test(arguments: Case.all) func fitsItsBudget(_ example: Case) throws {
        func file(_ quality: Int) throws -> [UInt8] {
            try example.write { $0.quality = quality }.file
        }
        let (lowest, highest) = (try file(10).count, try file(example.base.quality).count)
        for part in [0, 0.3, 1, 1.5] {
            let maxBytes = lowest + Int(part * Double(max(0, highest - lowest)))
            let (bytes, written) = try example.write { $0.maxBytes = maxBytes }
            let chosen = try #require(written.chosen)
            #expect(bytes.count <= maxBytes)
            #expect(written.bytes == bytes.count && written.sha256 == SHA256Digest.hex(of: bytes))
            #expect((10...example.base.quality).contains(chosen.quality) && chosen.ssim == nil)
            #expect(try bytes == file(chosen.quality))
            if part >= 1 { #expect(chosen.quality == example.base.quality) }
            // Those of the others need not grow with the quality.
            if example.format == .jpeg, chosen.quality < example.base.quality {
                #expect(try file(chosen.quality + 1).count > maxBytes)
            }
        }
        let error = #expect(throws: PictureError.self) { try example.write { $0.maxBytes = 30 } }
        #expect(error?.kind == .tooManyBytes && error?.isTransient == false)
        let smallest = try #require(
            error?.message.split(separator: " ").dropLast().last.flatMap { Int($0) })
        #expect(
            error?.message
                == "x: choosing the quality: with quality 10, the lowest that is tried, the file has more"
                + " than 30B (maxBytes); the smallest trial had \(smallest) bytes")
        #expect(smallest > 30 && smallest <= lowest)
    }

    /// A highest quality below the lowest one of a search is the only one that is tried.
    @Test(arguments: formats) func aLowQualityIsTheOnlyOne(format: OutputFormat) throws {
        let picture = Self.photo(64, 48, 3)
        let file = try Self.write(picture, OutputOptions(format: format, quality: 3)).file
        let options = { OutputOptions(format: format, quality: 3, maxBytes: file.count - $0) }
        #expect(try Self.write(picture, options(0)).file == file)
        expectFailure(.tooManyBytes, "with quality 3, the lowest") {
            try Self.write(picture, options(1))
        }
    }

    // MARK: Similarity

    struct Aim: CustomTestStringConvertible, Sendable {
        let example: Case
        let ssim: Double

        var testDescription: String { "\(example.testDescription) \(ssim)" }

        private static func usual(_ format: OutputFormat) -> [Aim] {
            [
                Aim(example: Case(format: format), ssim: 0.9),
                Aim(example: Case(format: format), ssim: 0.98),
                Aim(example: Case(format: format, channels: 1), ssim: 0.95),
                Aim(example: Case(format: format, channels: 2), ssim: 0.95),
                Aim(example: Case(format: format, channels: 4), ssim: 0.95),
                Aim(example: Case(format: format, channels: 4, depth: 16), ssim: 0.97),
                Aim(example: Case(format: format, width: 1, height: 1), ssim: 0.99),
                Aim(example: Case(format: format, width: 7, height: 90), ssim: 0.97),
                Aim(example: Case(format: format, isRich: true), ssim: 0.96),
            ]
        }

        private static let others: [Aim] = [
            Aim(example: Case(format: .jpeg) { $0.progressive = true }, ssim: 0.96),
            Aim(
                example: Case(format: .avif, depth: 16) { ($0.depth, $0.chroma) = (12, .full) },
                ssim: 0.96),
        ]

        static let all: [Aim] = QualitySearchTests.formats.flatMap(usual) + others
    }

    /// The quality is the lowest one with the similarity, and this is that of the pixels in the file.
    @Test(arguments: Aim.all) func reachesItsSimilarity(_ aim: Aim) throws {
        let example = aim.example
        let (bytes, written) = try example.write { $0.ssim = aim.ssim }
        let chosen = try #require(written.chosen)
        let reached = try #require(chosen.ssim)
        // A JPEG has no alpha: its pixels are compared with those over white, as all are.
        let found = Self.similarity(example.picture, try Self.read(bytes, example.format))
        // The channels of a JPEG are laid over white before there is a brightness, which is rounded in another place.
        let isRounded =
            example.format == .jpeg && example.channels % 2 == 0 && example.depth == 16
        #expect(abs(found - reached) < (isRounded ? 0.002 : 0.001), "\(found), \(reached)")
        #expect(reached >= aim.ssim || chosen.quality == 100)
        #expect(try bytes == example.write { $0.quality = chosen.quality }.file)
        guard chosen.quality > 10, reached >= aim.ssim else { return }
        // The highest of this search, which does not reach it.
        let below = try example.write { ($0.quality, $0.ssim) = (chosen.quality - 1, aim.ssim) }
            .written.chosen
        #expect(below?.quality == chosen.quality - 1 && below?.ssim ?? 1 < aim.ssim)
    }

    /// The quality of the similarity if it fits, and otherwise the highest that fits.
    @Test(arguments: formats) func theBudgetCountsMore(format: OutputFormat) throws {
        let picture = Self.photo(96, 67, 3)
        let alone = try Self.write(picture, OutputOptions(format: format, effort: 1, ssim: 0.95))
        let quality = try #require(alone.written.chosen?.quality)
        for (maxBytes, isSame) in [
            (alone.file.count, true), (alone.file.count * 2, true),
            (alone.file.count * 3 / 4, false),
        ] {
            let (file, written) = try Self.write(
                picture, OutputOptions(format: format, effort: 1, maxBytes: maxBytes, ssim: 0.95))
            let chosen = try #require(written.chosen)
            #expect(file.count <= maxBytes)
            #expect((chosen.quality == quality) == isSame && (file == alone.file) == isSame)
            #expect((chosen.ssim ?? 1 >= 0.95) == isSame)
        }
        // The highest quality holds for both.
        let (file, written) = try Self.write(
            picture, OutputOptions(format: format, quality: quality - 5, effort: 1, ssim: 0.95))
        #expect(written.chosen?.quality == quality - 5)
        #expect(
            try file
                == Self.write(picture, .init(format: format, quality: quality - 5, effort: 1)).file)
    }

    /// What the format or the loss decides has no search.
    @Test func someHaveNoSearch() throws {
        let budgets = [
            OutputOptions(format: .webp, lossless: true, maxBytes: 1, ssim: 1),
            OutputOptions(format: .avif, lossless: true, maxBytes: 1),
            OutputOptions(format: .png, maxBytes: 1), OutputOptions(format: .tiff, ssim: 0.9),
        ]
        let picture = Self.photo(20, 10, 3)
        for options in budgets {
            #expect(options.search == nil)
            #expect(try Self.write(picture, options).written.chosen == nil)
        }
        // The option of another format.
        #expect(OutputOptions(format: .jpeg, lossless: true, maxBytes: 1).search != nil)
        #expect(OutputOptions(format: .jpeg, ssim: 0.9).quality == 100)
        #expect(OutputOptions(format: .avif, maxBytes: 9).quality == 75)
    }

    /// By the definition, with sums over each window.
    @Test(arguments: [(11, 11), (12, 30), (40, 19), (1, 1), (5, 25), (21, 3)])
    func isTheSimilarityOfTheDefinition(width: Int, height: Int) {
        var random = SplitMix64(seed: UInt64(width * 100 + height))
        let one = (0..<width * height).map { _ in UInt8.random(in: 0...255, using: &random) }
        let other = one.map { UInt8(min(255, Int($0) + Int.random(in: 0...40, using: &random))) }
        let (wide, high) = (max(width, 11), max(height, 11))
        func sample(_ all: [UInt8], _ x: Int, _ y: Int) -> Double {
            let column = min(max(x - (wide - width) / 2, 0), width - 1)
            let row = min(max(y - (high - height) / 2, 0), height - 1)
            return Double(all[row * width + column])
        }
        let variance = 1.5 * 1.5
        let side = (-5...5).map { (place: Int) -> Double in
            exp(-Double(place * place) / (2 * variance))
        }
        let whole = side.reduce(0, +)
        var sum = 0.0
        for top in 0...high - 11 {
            for left in 0...wide - 11 {
                var (x, y, xx, yy, xy) = (0.0, 0.0, 0.0, 0.0, 0.0)
                for down in 0..<11 {
                    for across in 0..<11 {
                        let weight = side[down] * side[across] / (whole * whole)
                        let a = sample(one, left + across, top + down)
                        let b = sample(other, left + across, top + down)
                        x += weight * a
                        y += weight * b
                        xx += weight * a * a
                        yy += weight * b * b
                        xy += weight * a * b
                    }
                }
                let (c1, c2) = (2.55 * 2.55, 7.65 * 7.65)
                sum +=
                    (2 * x * y + c1) * (2 * (xy - x * y) + c2)
                    / ((x * x + y * y + c1) * (xx - x * x + yy - y * y + c2))
            }
        }
        let expected = sum / Double((wide - 10) * (high - 10))
        let found = Self.similarity(one, other, width: width, height: height)
        #expect(abs(found - expected) < 0.00001)
        #expect(Self.similarity(one, one, width: width, height: height) == 1)
    }

    /// Sums of rounded numbers are not less than none and not more than one.
    @Test func isNoMoreThanOne() {
        let flat = [252, 251].map { [UInt8](repeating: $0, count: 1600) }
        let near = Self.similarity(flat[0], flat[1], width: 40, height: 40)
        #expect(near > 0.99 && near <= 1)
        var random = SplitMix64(seed: 1)
        let noise = (0..<1600).map { _ in UInt8.random(in: 0...255, using: &random) }
        #expect(Self.similarity(noise, noise.map { 255 - $0 }, width: 40, height: 40) == 0)
    }

    // MARK: Memory

    /// A child has the memory for a search in noise, and what may not have it is refused before a row is pulled.
    @Test(arguments: [
        OutputOptions(format: .webp, effort: 1, ssim: 0.99),
        OutputOptions(format: .webp, quality: 100, effort: 2, maxBytes: 900_000),
        OutputOptions(format: .webp, effort: 0, maxBytes: 500_000, ssim: 0.9),
        OutputOptions(format: .avif, effort: 1, ssim: 0.9),
        OutputOptions(format: .avif, quality: 100, effort: 1, maxBytes: 3_000_000),
        OutputOptions(format: .avif, effort: 1, depth: 12, chroma: .full, ssim: 0.9),
        OutputOptions(format: .jpeg, ssim: 0.99), OutputOptions(format: .jpeg, maxBytes: 900_000),
    ]) func itsMemoryIsCounted(_ options: OutputOptions) throws {
        for (width, height) in [(700, 500), (40, 30)] {
            let picture = CodecWriterTests.noise(width, height, 4, 8)
            #expect(try Self.write(picture, options).written.chosen != nil)
            let step =
                options.format == .jpeg
                ? "choosing the quality" : "writing \(options.format.title)"
            expectFailure(.tooManyPixels, start: "x: \(step): needs") {
                try options.write(
                    BlankStage(picture.layout), memory: PictureMemory(limit: 1000))
            }
        }
    }

    /// A search is given up between two trials.
    @Test func aCancellationEndsTheTrials() throws {
        let target = try UnnamedFile()
        var calls = 0
        let error = #expect(throws: PictureError.self) {
            try JPEGWriter.write(
                PictureEncoder.Input(
                    ArrayStage(Self.photo(64, 64, 3)), to: target.descriptor, name: "x",
                    OutputOptions(format: .jpeg, ssim: 0.9),
                    checkpoint: {
                        calls += 1
                        // Before the rows, after them, and after the first trial.
                        return calls <= 3
                    }))
        }
        #expect(error?.kind == .cancelled && calls == 4)
        #expect(try target.contents() == [])
    }
}

private enum Judge {
    /// That of Tests/run.sh, or the system's; nil if neither has scikit-image.
    static let python = [
        Repository.root.appending(path: ".build/judge/bin/python").path, "/usr/bin/python3",
    ].first { (try? SystemProgram.run($0, ["-c", "import skimage.metrics"]).status) == 0 }

    /// The folder has FILE.one and FILE.other: width and height in a line, then RGB.
    static let script = """
        import glob, json, sys
        import numpy
        from skimage.metrics import structural_similarity

        def light(path):
            with open(path, "rb") as file:
                width, height = map(int, file.readline().split())
                rgb = numpy.frombuffer(file.read(), numpy.uint8).reshape(height, width, 3)
            return (rgb @ numpy.array([0.299, 0.587, 0.114])).round()

        found = {}
        for path in glob.glob(sys.argv[1] + "/*.one"):
            pair = light(path), light(path[:-4] + ".other")
            found[path.split("/")[-1][:-4]] = structural_similarity(
                *pair, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=255)
        print(json.dumps(found))
        """
}

/// Results as scikit-image sees them.
@Suite(
    .enabled(if: Judge.python != nil, "skipped: there is no scikit-image (python3-skimage)"))
struct SimilarityJudgeTests {
    private static func file(_ picture: ReferencePicture) -> Data {
        let layout = picture.layout
        var bytes = Array("\(layout.width) \(layout.height)\n".utf8)
        for pixel in 0..<layout.width * layout.height {
            for channel in 0..<3 {
                let place = pixel * layout.channels + (layout.channels == 1 ? 0 : channel)
                let sample = Int(picture.samples[place])
                let narrow = layout.depth == 16 ? (sample * 255 + 32_767) / 65_535 : sample
                bytes.append(UInt8(narrow))
            }
        }
        return Data(bytes)
    }

    /// Within 0.002 of the target, or above it where the quality below is too low; and what the status says is so.
    @Test func agreesWithScikitImage() throws {
        let folder = try ScratchDirectory()
        var chosen: [String: (target: Double, ssim: Double, below: Double?)] = [:]
        for format in QualitySearchTests.formats {
            for (channels, depth, target) in [
                (3, 8, 0.9), (3, 8, 0.96), (3, 8, 0.98), (1, 8, 0.97), (3, 16, 0.95),
            ] {
                let picture = QualitySearchTests.photo(160, 120, channels, depth)
                let name = "\(format.rawValue)-\(channels)-\(depth)-\(target)"
                let (bytes, written) = try QualitySearchTests.write(
                    picture, OutputOptions(format: format, effort: 1, ssim: target))
                let choice = try #require(written.chosen)
                let result = try QualitySearchTests.read(bytes, format)
                try Self.file(picture).write(to: folder.url.appending(path: name + ".one"))
                try Self.file(result).write(to: folder.url.appending(path: name + ".other"))
                var below: Double?
                if choice.quality > 10 {
                    let other = try QualitySearchTests.write(
                        picture,
                        OutputOptions(format: format, quality: choice.quality - 1, effort: 1)
                    ).file
                    below = QualitySearchTests.similarity(
                        picture, try QualitySearchTests.read(other, format))
                }
                chosen[name] = (target, try #require(choice.ssim), below)
            }
        }
        let (status, output) = try SystemProgram.run(
            try #require(Judge.python), ["-c", Judge.script, folder.path])
        try #require(status == 0)
        let found = try #require(
            try JSONSerialization.jsonObject(with: output) as? [String: Double])
        #expect(found.count == chosen.count)
        for (name, choice) in chosen {
            let judged = try #require(found[name])
            #expect(abs(judged - choice.ssim) < 0.001, "\(name): \(judged), \(choice.ssim)")
            #expect(judged > choice.target - 0.001, "\(name): \(judged)")
            let isNear = judged < choice.target + 0.002
            #expect(
                isNear || choice.below.map { $0 < choice.target + 0.001 } ?? true,
                "\(name): \(judged)")
        }
    }
}
