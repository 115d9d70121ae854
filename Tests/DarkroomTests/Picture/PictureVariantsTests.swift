import Synchronization
import SystemPackage
import TestPictures
import TestSupport
import Testing

@testable import DarkroomBoard
@testable import DarkroomPicture

/// Several results of a picture, held against those that the pipeline makes one by one.
struct PictureVariantsTests {
    /// A result to make: its filters after the common ones, and how it is written.
    struct Wish: Sendable {
        var filters: [Filter] = []
        var options = OutputOptions()
        var handsOver = false
    }

    /// What became of a result.
    struct Made: Equatable {
        var file: [UInt8] = []
        var pixels: [UInt8] = []
        var report: PictureReport?
        var error: PictureError?
    }

    /// A picture that is laid over others.
    private static let logo = PNGMaker.noise(
        width: 9, height: 7, colourType: .rgba, depth: 8, seed: 7
    ).encoded

    private static func open(_ name: String) throws(PictureError) -> OtherImage {
        guard name == "logo" else { return try StageContext.noImage(name) }
        return try OtherPictures.open(logo, name)
    }

    /// A result to make and its files.
    private struct Job {
        let wish: Wish
        let number: Int
        let output: UnnamedFile
        let pixels: UnnamedFile

        init(_ wish: Wish, _ number: Int) throws {
            (self.wish, self.number) = (wish, number)
            (output, pixels) = (try UnnamedFile(), try UnnamedFile())
        }

        /// - Parameter steps: those of all results.
        func conversion(_ steps: PictureSteps, to other: FileDescriptor? = nil) -> PictureConversion
        {
            var steps = steps
            steps.filters += wish.filters
            steps.options = wish.options
            steps.openImage = open
            return PictureConversion(
                "in", steps,
                to: PictureResult(
                    other ?? output.descriptor, name: "out\(number)",
                    handOver: wish.handsOver
                        ? HandOverFile(file: pixels.descriptor, name: "pixels\(number)") : nil))
        }

        func made(_ report: PictureReport) throws(PictureError) -> Made {
            Made(file: try contents(of: output), pixels: try contents(of: pixels), report: report)
        }
    }

    /// Each on its own, as separate images are made.
    static func alone(
        _ source: [UInt8], autoOrient: Bool = true, common: [Filter] = [], _ wishes: [Wish]
    ) throws -> [Made] {
        try wishes.enumerated().map { number, wish in
            let input = try UnnamedFile(source)
            let job = try Job(wish, number)
            do throws(PictureError) {
                return try job.made(
                    PicturePipeline.run(
                        job.conversion(PictureSteps(filters: common, autoOrient: autoOrient)),
                        .file(input.descriptor)))
            } catch {
                return Made(error: error)
            }
        }
    }

    private static func contents(of file: UnnamedFile) throws(PictureError) -> [UInt8] {
        do {
            return try file.contents()
        } catch {
            throw PictureError(.readFailed, "the test's own file")
        }
    }

    /// All at once.
    ///
    /// - Parameter isContent: whether the source is read from memory.
    static func together(
        _ source: [UInt8], isContent: Bool = false, autoOrient: Bool = true,
        common: [Filter] = [], _ wishes: [Wish],
        limits: PictureLimits = PictureLimits(), cores: Cores = .shared,
        outputs given: [FileDescriptor?] = [],
        stage: @escaping PicturePipeline.StageMaker = FilterStage.make,
        admit: PicturePipeline.Admission = { _ in true },
        checkpoint: @escaping @Sendable () -> Bool = { true }
    ) throws -> [Made] {
        let input = try UnnamedFile(source)
        let steps = PictureSteps(
            filters: common, autoOrient: autoOrient, limits: limits, cores: cores, stage: stage,
            checkpoint: checkpoint)
        let jobs = try wishes.enumerated().map { number, wish in try Job(wish, number) }
        let conversions = jobs.map { job in
            job.conversion(steps, to: given.isEmpty ? nil : given[job.number])
        }
        do throws(PictureError) {
            let attempt = try PictureVariants(conversions, commonFilters: common.count)
                .run(input: isContent ? .content(source) : .file(input.descriptor), admit: admit)
            guard case .made(let outcomes) = attempt else { return [] }
            var made: [Made] = []
            for (job, outcome) in zip(jobs, outcomes) {
                switch outcome {
                case .success(let report): made.append(try job.made(report))
                case .failure(let error): made.append(Made(error: error))
                }
            }
            return made
        } catch {
            return wishes.map { _ in Made(error: error) }
        }
    }

    // MARK: Random ones

    /// A random picture of any kind.
    private static func source(_ random: inout SplitMix64) -> (bytes: [UInt8], name: String) {
        let width = Int.random(in: 1...120, using: &random)
        let height = Int.random(in: 1...120, using: &random)
        let seed = random.next()
        if Bool.random(using: &random) {
            let channels = [1, 3, 3, 4].randomElement(using: &random) ?? 3
            // Sides that can be divided, so that pictures are reduced while they are decoded.
            let (width, height) = ((width + 15) / 16 * 16 + 64, (height + 15) / 16 * 16 + 64)
            var maker = JPEGMaker.noise(
                width: width, height: height, channels: channels, seed: seed)
            if channels == 3 { maker.isCoarse = Bool.random(using: &random) }
            maker.scans = .allCases.randomElement(using: &random) ?? .one
            if maker.scans == .one, Bool.random(using: &random) {
                maker.restartInterval = Int.random(in: 1...9, using: &random)
            }
            if Bool.random(using: &random) {
                let orientation = UInt16.random(in: 1...8, using: &random)
                maker.early = [.exif(orientation: orientation)]
            }
            if channels == 3, Bool.random(using: &random) {
                maker.early += JPEGSegment.profile(PictureColour.Profile.displayP3.bytes)
            }
            return (maker.encoded, "JPEG \(width)x\(height) \(channels) \(maker.scans)")
        }
        let kind = PixelKind.all.randomElement(using: &random) ?? PixelKind.all[0]
        return (
            kind.noise(width: width, height: height, seed: seed).encoded,
            "PNG \(width)x\(height) \(kind.testDescription)"
        )
    }

    /// A random filter. Some fail for some pictures.
    private static func filter(_ random: inout SplitMix64) -> Filter {
        let side = Int.random(in: 1...60, using: &random)
        return switch Int.random(in: 0..<18, using: &random) {
        case 0: .sepia(intensity: 0.8)
        case 1: .mono
        case 2: .invert(amount: 1)
        case 3: .opacity(amount: 0.5)
        case 4: .blur(sigma: 1.5)
        case 5: .rotate(.quarter)
        case 6: .flip
        case 7: .flop
        case 8: .trim(tolerance: 0.1)
        case 9: .crop(.rectangle(x: 0, y: 0, width: side, height: side))
        case 10: .pad(Filter.Pad(.margins(top: 1, right: 2, bottom: 3, left: 4)))
        case 11: .overlay(.init(from: "logo", x: 1, y: 1))
        case 12: .overlay(.init(from: "nobody"))
        case 13: .resize(Filter.Resize(width: side, kernel: .nearest))
        default: .resize(Filter.Resize(width: side))
        }
    }

    private static func options(_ random: inout SplitMix64) -> OutputOptions {
        var options = OutputOptions(
            format: Bool.random(using: &random) ? .png : .jpeg,
            quality: Int.random(in: 1...100, using: &random),
            progressive: Bool.random(using: &random),
            profile: .allCases.randomElement(using: &random) ?? .keep,
            metadata: Bool.random(using: &random) ? .exifCopy : .none)
        options.compression = .allCases.randomElement(using: &random) ?? .balanced
        return options
    }

    /// The same files, the same reports, the same errors.
    @Test(.tags(.concurrency), arguments: 0..<60)
    func areWhatSeparateImagesWouldBe(round: Int) throws {
        var random = SplitMix64(seed: UInt64(round) + 4711)
        let (source, name) = Self.source(&random)
        let autoOrient = Int.random(in: 0..<4, using: &random) > 0
        let common = (0..<Int.random(in: 0...2, using: &random)).map { _ in Self.filter(&random) }
        let hasCommon = Bool.random(using: &random)
        let wishes = (0..<Int.random(in: 1...5, using: &random)).map { _ in
            Wish(
                filters: (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    Self.filter(&random)
                },
                options: Self.options(&random), handsOver: Bool.random(using: &random))
        }
        let cores = Cores(count: Int.random(in: 1...4, using: &random))
        let expected = try Self.alone(
            source, autoOrient: autoOrient, common: hasCommon ? common : [], wishes)
        let made = try Self.together(
            source, autoOrient: autoOrient, common: hasCommon ? common : [], wishes, cores: cores)
        for (number, (made, expected)) in zip(made, expected).enumerated() {
            #expect(
                made == expected,
                "\(name) \(number): \(wishes[number]) \(made.error?.message ?? "")")
        }
    }

    /// Common filters in different colour spaces; and inks, each of which becomes the colour of its space at once.
    @Test(arguments: [3, 4]) func coloursAreThoseOfSeparateImages(channels: Int) throws {
        var maker = JPEGMaker.noise(width: 48, height: 32, channels: channels)
        let profile =
            channels == 4
            ? ICCProfileMaker.strangeInks : PictureColour.Profile.displayP3.bytes
        maker.early = JPEGSegment.profile(profile)
        let wishes = [OutputProfile.keep, .p3, .srgb, .p3].map {
            Wish(filters: [.flop], options: OutputOptions(profile: $0))
        }
        for common in [[], [Filter.sepia(intensity: 0.5)]] {
            let expected = try Self.alone(maker.encoded, common: common, wishes)
            #expect(expected[1].file != expected[2].file && expected[1].report != nil)
            #expect(try Self.together(maker.encoded, common: common, wishes) == expected)
        }
    }

    // MARK: Several sizes of a JPEG

    private static let sizes = [320, 160, 80, 40, 20].map { width in
        Wish(
            filters: [.resize(Filter.Resize(width: width))],
            options: OutputOptions(format: .jpeg, quality: 82))
    }

    static func jpeg(_ change: (inout JPEGMaker) -> Void = { _ in }) -> [UInt8] {
        var maker = JPEGMaker.noise(width: 640, height: 480, channels: 3)
        change(&maker)
        return maker.encoded
    }

    /// In a list of their own: the log of a test has its arguments, and these are files.
    private static let kinds = [
        jpeg(), jpeg { $0.isCoarse = true }, jpeg { $0.restartInterval = 7 },
        jpeg { $0.brightnessFactors = .init(across: 2, down: 1) },
        jpeg { $0.scans = .progressive }, jpeg { $0.scans = .apart },
        jpeg { $0 = .noise(width: 643, height: 481, channels: 3, seed: 4) },
        jpeg {
            $0 = .noise(width: 643, height: 487, channels: 3, seed: 5);
            $0.early = [.exif(orientation: 8)]
        },
        jpeg { $0.early = [.exif(orientation: 6)] },
        jpeg { $0 = .noise(width: 640, height: 488, channels: 1, seed: 3) },
    ]

    @Test(arguments: kinds.indices) func sizesAreThoseOfReducedDecoding(kind: Int) throws {
        let source = Self.kinds[kind]
        let expected = try Self.alone(source, Self.sizes)
        #expect(expected.allSatisfy { $0.report != nil })
        #expect(try Self.together(source, Self.sizes) == expected)
        #expect(try Self.together(source, Self.sizes, cores: Cores(count: 1)) == expected)
    }

    /// The decoder of several sizes gives the rows of each as they are alone.
    @Test(arguments: [[1, 2, 4, 8], [2, 8], [1, 4], [8]], JPEGMaker.Scans.allCases)
    func viewsHaveTheRowsOfTheirSizes(divisors: [Int], scans: JPEGMaker.Scans) throws {
        for (width, height, coarse) in [
            (64, 48, false), (71, 53, true), (1, 1, true), (16, 9, false),
        ] {
            for channels in [1, 3] {
                var maker = JPEGMaker.noise(width: width, height: height, channels: channels)
                if channels == 3 { maker.isCoarse = coarse }
                maker.scans = scans
                let file = try UnnamedFile(maker.encoded)
                let reader = try JPEGReader(
                    PictureDecoder.Input(
                        .file(file.descriptor), name: "in", divisor: { _, _, _ in divisors[0] }),
                    views: divisors)
                guard let views = JPEGViews(reader) else { continue }
                var found = divisors.map { _ in [UInt8]() }
                let memory = zip(views.layouts, views.rowsPerStep).map { layout, rows in
                    UnsafeMutableRawPointer.allocate(
                        byteCount: rows * layout.bytesPerRow, alignment: 64)
                }
                defer { memory.forEach { $0.deallocate() } }
                while let rows = try views.next(into: memory) {
                    for lane in divisors.indices {
                        let bytes = rows[lane].count * views.layouts[lane].bytesPerRow
                        found[lane] += UnsafeRawBufferPointer(start: memory[lane], count: bytes)
                    }
                }
                for (lane, divisor) in divisors.enumerated() {
                    let (bytes, reader) = try JPEGReader.pixels(
                        of: maker.encoded, divisor: divisor)
                    #expect(views.layouts[lane] == reader.layout)
                    #expect(found[lane] == bytes, "\(width)x\(height) \(divisor)")
                }
            }
        }
    }

    /// A damaged picture: each has its own error, and nothing of the first attempt stays.
    @Test(arguments: [0.3, 0.6, 0.9, 0.999])
    func damageIsFoundAsAlone(part: Double) throws {
        try expectDamageIsFoundAsAlone(part, in: Self.jpeg())
        try expectDamageIsFoundAsAlone(part, in: Self.jpeg { $0.scans = .progressive })
    }

    private func expectDamageIsFoundAsAlone(_ part: Double, in whole: [UInt8]) throws {
        let cut = Array(whole.prefix(Int(Double(whole.count) * part)))
        var changed = whole
        for index in 0..<40 { changed[Int(Double(whole.count) * part) - 60 + index] = 0xFF }
        for source in [cut, changed] {
            let expected = try Self.alone(source, Self.sizes)
            #expect(try Self.together(source, Self.sizes) == expected)
        }
        // Wrong bits that libjpeg takes.
        var surplus = whole + [1, 2, 3]
        #expect(try Self.together(surplus, Self.sizes) == Self.alone(surplus, Self.sizes))
        surplus[0] = 0
        #expect(try Self.together(surplus, Self.sizes) == Self.alone(surplus, Self.sizes))
    }

    // MARK: Failures

    private static let noise = PNGMaker.noise(width: 400, height: 3000, colourType: .rgb, depth: 8)
        .encoded

    /// A filter, the size for a JPEG and an overlay: the others do not notice.
    @Test(.tags(.concurrency)) func aFailingOneFailsAlone() throws {
        let wishes = [
            Wish(filters: [.crop(.rectangle(x: 390, y: 0, width: 20, height: 20))]),
            Wish(filters: [.sepia(intensity: 1)]),
            Wish(filters: [.overlay(.init(from: "nobody"))]),
            Wish(
                filters: [.resize(Filter.Resize(width: 70_000, height: 1, fit: .fill))],
                options: OutputOptions(format: .jpeg)),
            Wish(filters: [.resize(Filter.Resize(width: 20))]),
        ]
        let made = try Self.together(Self.noise, wishes)
        #expect(made.map { $0.error == nil } == [false, true, false, false, true])
        #expect(made == (try Self.alone(Self.noise, wishes)))
    }

    /// Also in the middle of the picture, while others wait for its rows: the disk of one is full.
    @Test func aFullDiskStopsOneOnly() throws {
        let wishes = [0, 1, 2].map { Wish(filters: [.resize(Filter.Resize(width: 300 + $0))]) }
        let full = try FileDescriptor.open("/dev/full", .writeOnly)
        try full.closeAfter {
            for number in 0..<3 {
                var outputs: [FileDescriptor?] = [nil, nil, nil]
                outputs[number] = full
                let made = try Self.together(Self.noise, wishes, outputs: outputs)
                let expected = try Self.alone(Self.noise, wishes)
                for index in 0..<3 where index != number { #expect(made[index] == expected[index]) }
                #expect(made[number].error?.code == "write-failed")
                #expect(made[number].error?.storageFailure == .full)
            }
        }
    }

    @Test func aFailingSourceFailsAll() throws {
        let cut = Array(Self.noise.prefix(Self.noise.count / 2))
        let wishes = [Wish(), Wish(filters: [.flip]), Wish(filters: [.trim(tolerance: 0)])]
        let made = try Self.together(cut, wishes)
        #expect(made == (try Self.alone(cut, wishes)))
        #expect(made.allSatisfy { $0.error?.code == "png-truncated" })
        // A common filter.
        let crop = Filter.crop(.rectangle(x: 0, y: 0, width: 500, height: 1))
        #expect(
            try Self.together(Self.noise, common: [crop], wishes)
                == Self.alone(Self.noise, common: [crop], wishes))
    }

    @Test(.tags(.concurrency)) func isCancelled() throws {
        let asked = Atomic(0)
        let made = try Self.together(
            Self.noise, [Wish(), Wish(filters: [.mono]), Wish()],
            checkpoint: { asked.add(1, ordering: .relaxed).newValue < 30 })
        #expect(made.allSatisfy { $0.error?.code == "cancelled" })
    }

    // MARK: In step

    /// Counts the rows that a borrower has taken.
    private final class Count: Sendable {
        let rows = Atomic(0)
    }

    private final class CountingStage: Stage {
        private let upstream: any Stage
        private let count: Count
        var layout: PixelLayout { upstream.layout }

        init(_ upstream: any Stage, _ count: Count) {
            self.upstream = upstream
            self.count = count
        }

        func nextBand() throws(PictureError) -> Band? {
            let band = try upstream.nextBand()
            count.rows.add(band?.rows.count ?? 0, ordering: .relaxed)
            return band
        }
    }

    /// The common filter runs once, and none of them is further ahead than the ring is long.
    @Test(.tags(.concurrency), arguments: [1, 4])
    func areInStep(cores: Int) throws {
        let common = Count()
        let counts = [Count(), Count(), Count()]
        let ahead = Atomic(0)
        let layout = PixelLayout(width: 400, height: 3000, channels: 3, depth: 8)
        let made = try Self.together(
            Self.noise, common: [.invert(amount: 1)],
            (0..<3).map { Wish(filters: [.brightness(amount: 1 + Double($0))]) },
            cores: Cores(count: cores),
            stage: { filter, upstream, context throws(PictureError) in
                switch filter {
                case .invert: return CountingStage(upstream, common)
                case .brightness(let amount):
                    return CountingStage(upstream, counts[Int(amount) - 1])
                default: return upstream
                }
            },
            checkpoint: {
                let rows = counts.map { $0.rows.load(ordering: .relaxed) }
                let difference = (rows.max() ?? 0) - (rows.min() ?? 0)
                ahead.max(difference, ordering: .relaxed)
                return true
            })
        #expect(made.allSatisfy { $0.error == nil })
        #expect(common.rows.load(ordering: .relaxed) == layout.height)
        #expect(counts.map { $0.rows.load(ordering: .relaxed) } == [3000, 3000, 3000])
        let most = ahead.load(ordering: .relaxed)
        #expect(most > 0 && most <= (BandTee.mostBands + 1) * layout.rowsPerBand, "\(most)")
    }

    // MARK: Memory

    /// The bound for all together is more than that for the largest, and less than the sum.
    @Test func memoryIsThatOfTheWindows() throws {
        func needed(_ wishes: [Wish], _ source: [UInt8]) throws -> Int {
            let bytes = Mutex(0)
            let made = try Self.together(
                source, wishes,
                admit: { needed in
                    bytes.withLock { $0 = max($0, needed) }
                    return true
                })
            #expect(made.allSatisfy { $0.error == nil })
            return bytes.withLock { $0 }
        }
        for source in [Self.noise, Self.jpeg()] {
            let wishes = [200, 100, 50].map { Wish(filters: [.resize(Filter.Resize(width: $0))]) }
            let all = try needed(wishes, source)
            let each = try wishes.map { try needed([$0], source) }
            #expect(all > each.max() ?? 0 && all < each.reduce(0, +), "\(all) \(each)")
        }
    }

    /// Memory that is not granted stops all, and nothing is written.
    @Test func allAreStoppedByTheAdmission() throws {
        let made = try Self.together(
            Self.noise, [Wish(), Wish()],
            admit: { _ in false })
        #expect(made.isEmpty)
    }

    /// In a process of its own, where nobody else takes memory: no more than the bound.
    @Test func boundsWhatIsMeasured() async {
        await #expect(processExitsWith: .success) {
            try ProcessMemory.keepNothingFree()
            let png = PNGMaker.black(width: 3000, height: 2000, colourType: .rgb, depth: 8)
            let jpeg = Self.jpeg { $0 = .gradient(width: 2048, height: 1024, channels: 3) }
            let sizes = [1600, 800, 400].map {
                Wish(filters: [.resize(Filter.Resize(width: $0))], options: .init(format: .jpeg))
            }
            _ = try Self.grown(png, sizes)
            for source in [png, jpeg] {
                let (grown, bound) = try Self.grown(source, sizes)
                #expect(grown <= bound)
                // Not the picture, and not three times the memory of one.
                #expect(bound <= 40 << 20, "\(bound)")
            }
        }
    }

    private static func grown(_ source: [UInt8], _ wishes: [Wish]) throws -> (Int, Int) {
        let bytes = Mutex(0)
        let grown = try ProcessMemory.growth {
            let made = try together(
                source, wishes, cores: Cores(count: 2),
                admit: { needed in
                    bytes.withLock { $0 = max($0, needed) }
                    return true
                })
            #expect(made.allSatisfy { $0.error == nil })
        }
        return (grown, bytes.withLock { $0 })
    }
}

extension PictureVariants {
    /// What becomes of results with these steps, and their files.
    static func run(
        _ source: [UInt8], _ steps: [PictureSteps], commonFilters: Int = 0,
        previews: [PicturePreview]? = nil
    ) throws -> [(outcome: Outcome, file: [UInt8])] {
        let source = try UnnamedFile(source)
        let targets = try steps.map { _ in try UnnamedFile() }
        let jobs = steps.indices.map { number in
            PictureConversion(
                "in", steps[number],
                to: PictureResult(
                    targets[number].descriptor, name: "out", preview: previews?[number]))
        }
        let outcomes = try PictureVariants(jobs, commonFilters: commonFilters)
            .run(input: .file(source.descriptor))
        return try zip(outcomes, targets).map { ($0, try $1.contents()) }
    }

    /// With all the memory that they need.
    func run(input: PictureInput) throws(PictureError) -> [Outcome] {
        switch try run(input: input, admit: { _ in true }) {
        case .made(let outcomes): outcomes
        case .needs: []
        }
    }
}
