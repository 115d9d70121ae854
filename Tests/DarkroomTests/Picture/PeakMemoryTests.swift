import SystemPackage
import TestPictures
import Testing

@testable import DarkroomPicture

/// The bound on a picture's memory, told from its header: nothing takes more, and it does not
/// promise the moon either.
struct PeakMemoryTests {
    /// A job whose memory is measured.
    struct Job {
        let name: String
        let source: Source
        var filters: [Filter] = []
        var options = OutputOptions()
        /// The picture that is laid over.
        var other: PixelLayout?

        enum Source { case png(PixelLayout), interlaced(Int, Int), jpeg(PixelLayout, Bool) }
    }

    static let rgb = PixelLayout(width: 1500, height: 900, channels: 3, depth: 8)
    static let rgba16 = PixelLayout(width: 700, height: 500, channels: 4, depth: 16)
    static let large = PixelLayout(width: 2400, height: 1600, channels: 4, depth: 8)
    static let wide = PixelLayout(width: 60_000, height: 20, channels: 3, depth: 8)
    static let progressive = OutputOptions(format: .jpeg, progressive: true)

    static let jobs: [Job] = [
        Job(name: "copy", source: .png(rgb)),
        Job(name: "fast", source: .png(rgb), options: OutputOptions(compression: .fast)),
        Job(name: "small", source: .png(rgba16), options: OutputOptions(compression: .small)),
        Job(name: "wide", source: .png(wide), filters: [.sepia(intensity: 1)]),
        Job(name: "jpeg", source: .png(rgb), options: OutputOptions(format: .jpeg)),
        Job(name: "progressive out", source: .png(rgb), options: progressive),
        Job(name: "jpeg in", source: .jpeg(rgb, false)),
        Job(name: "progressive in", source: .jpeg(rgb, true)),
        Job(name: "interlaced", source: .interlaced(300, 200)),
        Job(name: "blur", source: .png(rgb), filters: [.blur(sigma: 4)]),
        Job(name: "wide blur", source: .png(rgb), filters: [.blur(sigma: 30)]),
        Job(name: "wide blur of words", source: .png(rgba16), filters: [.blur(sigma: 30)]),
        Job(
            name: "sharpen", source: .png(rgba16),
            filters: [.sharpen(sigma: 2, amount: 1, threshold: 0)]),
        Job(name: "rotate", source: .png(rgb), filters: [.rotate(.quarter)]),
        Job(name: "trim and flip", source: .png(rgb), filters: [.trim(tolerance: 0), .flip]),
        Job(
            name: "trim and thumbnail", source: .png(rgb),
            filters: [.trim(tolerance: 0), .resize(.init(width: 200, height: 200, fit: .cover))]),
        Job(
            name: "trim and much more", source: .png(rgba16),
            filters: [
                .trim(tolerance: 0), .resize(.init(width: 500, height: 500)), .blur(sigma: 3),
                .rotate(.quarter), .pad(.init(.margins(top: 9, right: 9, bottom: 9, left: 9))),
            ]),
        Job(
            name: "resize", source: .png(rgb), filters: [.resize(Filter.Resize(width: 200))]),
        Job(
            name: "enlarge in light", source: .png(rgba16),
            filters: [.resize(Filter.Resize(width: 1400, linear: true)), .gamma(2)]),
        Job(
            name: "overlay", source: .png(rgb), filters: [.overlay(.init(from: "logo"))],
            other: large),
        Job(
            name: "scaled overlay", source: .png(rgb),
            filters: [.overlay(.init(from: "logo", scale: 0.1))], other: large),
        Job(
            name: "enlarged overlay", source: .png(rgb),
            filters: [.overlay(.init(from: "logo", scale: 1)), .sepia(intensity: 1)],
            other: rgba16),
        Job(
            name: "scaled overlay after trim", source: .png(rgb),
            filters: [.trim(tolerance: 0), .overlay(.init(from: "logo", scale: 0.3))],
            other: rgb),
        Job(
            name: "many colours", source: .png(rgb),
            filters: [
                .sepia(intensity: 1), .gamma(2), .vignette(Filter.Vignette()), .contrast(amount: 2),
                .pad(Filter.Pad(.margins(top: 9, right: 9, bottom: 9, left: 9))),
            ]),
    ]

    /// Each in turn, in a process of its own, where nobody else takes memory.
    @Test func boundsWhatIsMeasured() async {
        await #expect(processExitsWith: .success) {
            try ProcessMemory.keepNothingFree()
            // What is made once: code, tables, the allocator's and Dispatch's own.
            _ = try Self.measure(Self.jobs[0])
            for job in Self.jobs {
                let (grown, bound) = try Self.measure(job)
                #expect(grown <= bound, "\(job.name)")
                // Of these pictures of a few megabytes; libdeflate's best takes 9 MB a strip.
                let most = job.options.compression == .small ? 80 : 40
                #expect(bound <= most << 20, "\(job.name): \(bound)")
            }
        }
    }

    /// By how much the resident memory has grown at most while a job ran, and the bound.
    static func measure(_ job: Job) throws -> (grown: Int, bound: Int) {
        let cores = Cores(count: 2)
        let source = try file(job.source)
        let target = try UnnamedFile()
        let reader = try PictureDecoder.reader(
            of: PictureDecoder.Input(.file(source.descriptor), name: "in"))
        let other = try job.other.map { try file(.png($0)) }
        let bound = try PeakMemory.outcome(
            of: PeakMemory.Source(reader),
            PictureSteps(filters: job.filters, options: job.options, cores: cores),
            other: { _ in job.other.map { .init(png: $0) } }
        ).bytes
        try source.descriptor.seek(offset: 0, from: .start)
        let conversion = PictureConversion(
            "in",
            PictureSteps(
                filters: job.filters, options: job.options, cores: cores,
                openImage: { name throws(PictureError) in try open(other, name) }),
            to: PictureResult(target.descriptor, name: "out"))
        let grown = try ProcessMemory.growth {
            _ = try PicturePipeline.run(conversion, .file(source.descriptor))
        }
        return (grown, bound)
    }

    private static func open(
        _ file: UnnamedFile?, _ name: String
    ) throws(PictureError) -> OtherImage {
        guard let file else { return try StageContext.noImage(name) }
        let path = "/proc/self/fd/\(file.descriptor.rawValue)"
        return OtherImage(try PicturePath.openForReading(path), name: name)
    }

    /// Noise, which is as large as can be when it is compressed.
    static func file(_ source: Job.Source) throws -> UnnamedFile {
        let bytes: [UInt8]
        switch source {
        case .png(let layout):
            bytes = try OutputOptions(compression: .fast).write(NoiseStage(layout)).file
        case .jpeg(let layout, let progressive):
            bytes = try OutputOptions(format: .jpeg, quality: 95, progressive: progressive)
                .write(NoiseStage(layout)).file
        case .interlaced(let width, let height):
            bytes =
                PNGMaker.noise(
                    width: width, height: height, colourType: .rgb, depth: 8, interlaced: true
                ).encoded
        }
        return try UnnamedFile(bytes)
    }

    private static func bound(
        _ filters: [Filter], layout: PixelLayout = rgb, limits: PictureLimits = PictureLimits(),
        other: PeakMemory.Source? = nil
    ) throws -> Int {
        try PeakMemory.outcome(
            of: PeakMemory.Source(png: layout),
            PictureSteps(filters: filters, limits: limits, cores: Cores(count: 2)),
            other: { _ in other }
        ).bytes
    }

    /// The height makes no difference where rows are filtered as they come. What is counted beforehand is more
    /// than what 100 megapixels of sepia then take, which `MemoryTests` measures.
    @Test(arguments: [(1, 24), (2, 28), (4, 40)])
    func heightCostsNothing(cores: Int, mebibytes: Int) throws {
        let bounds = try [1000, 10_000].map { height in
            let layout = PixelLayout(width: 10_000, height: height, channels: 3, depth: 8)
            return try PeakMemory.outcome(
                of: PeakMemory.Source(png: layout),
                PictureSteps(filters: [.sepia(intensity: 0.8)], cores: Cores(count: cores))
            ).bytes
        }
        #expect(bounds[1] <= mebibytes << 20)
        #expect(bounds[1] == bounds[0])
    }

    @Test func countsWhatIsHeld() throws {
        let plain = try Self.bound([])
        let turned = try Self.bound([.rotate(.half), .flip])
        #expect(turned - plain >= 2 * Self.rgb.bytes)
        #expect(turned - plain <= 2 * Self.rgb.bytes + 4 << 20)
        let tall = PixelLayout(width: 1500, height: 90_000, channels: 3, depth: 8)
        // Bands do not grow with the picture, but a picture's strips do up to half a mebibyte each.
        #expect(try Self.bound([.mono], layout: tall) <= plain + 16 << 20)
    }

    /// A picture on its side is turned first, unless that is not asked for.
    @Test func countsTheTurnOfACamera() throws {
        var source = PeakMemory.Source(png: Self.rgb)
        let upright = try PeakMemory.outcome(of: source, PictureSteps(filters: [])).bytes
        source.orientation = .rightTop
        #expect(
            try PeakMemory.outcome(of: source, PictureSteps(filters: [])).bytes >= upright
                + Self.rgb.bytes)
        #expect(
            try PeakMemory.outcome(of: source, PictureSteps(filters: [], autoOrient: false)).bytes
                == upright)
    }

    /// What may follow `trim`.
    static let resizes: [Filter.Resize] =
        Filter.Fit.allCases.map { .init(width: 200, height: 200, fit: $0) }
        + [
            .init(width: 200), .init(height: 200), .init(width: 200, withoutEnlargement: true),
            .init(width: 200, kernel: .nearest),
        ]

    /// A small picture needs little whatever is made of it: what is left of it is no larger.
    @Test(arguments: resizes) func whatFollowsATrimIsBoundedByThePicture(
        resize: Filter.Resize
    ) throws {
        let trim = Filter.trim(tolerance: 0)
        let small = PixelLayout(width: 10, height: 10, channels: 3, depth: 8)
        let followers: [[Filter]] = [
            [], [.sepia(intensity: 1)], [.blur(sigma: 2)], [.rotate(.quarter)], [trim, .flip],
            [.overlay(Filter.Overlay(from: "logo"))],
            [.pad(.init(.atLeast(width: 300, height: nil, .center)))],
        ]
        let logo = PixelLayout(width: 90, height: 40, channels: 4, depth: 8)
        for follower in followers {
            for options in [OutputOptions(), .init(format: .jpeg), Self.progressive] {
                let bound = try PeakMemory.outcome(
                    of: PeakMemory.Source(png: small),
                    PictureSteps(
                        filters: [trim, .resize(resize)] + follower, options: options,
                        cores: Cores(count: 2)), other: { _ in .init(png: logo) }
                ).bytes
                #expect(bound < 48 << 20, "\(follower), \(options)")
            }
        }
        // Of 12 megapixels, 36 MB of which `trim` holds.
        let photograph = PixelLayout(width: 4000, height: 3000, channels: 3, depth: 8)
        let bound = try Self.bound([trim, .resize(resize)], layout: photograph)
        // By `outside` either side may become very long.
        let most = resize.fit == .outside ? 384 << 20 : 256 << 20
        #expect(bound >= photograph.bytes && bound < most)
    }

    /// Where a step fails after `trim` has read the picture, that is admitted all the same.
    @Test func countsWhatIsReadBeforeAFailure() throws {
        let trim = Filter.trim(tolerance: 0)
        let outside = Filter.crop(.rectangle(x: 1400, y: 0, width: 200, height: 1))
        #expect(try Self.bound([trim, outside]) >= Self.rgb.bytes)
        let wide = PixelLayout(width: 70_000, height: 10, channels: 3, depth: 8)
        let bound = try PeakMemory.outcome(
            of: .init(png: wide),
            PictureSteps(
                filters: [trim], options: OutputOptions(format: .jpeg), cores: Cores(count: 2))
        ).bytes
        #expect(bound >= wide.bytes)
    }

    /// What is not known before is bounded by the limits.
    @Test func takesTheLimitsForWhatIsNotKnown() throws {
        let limits = PictureLimits { $0.wholePictureBytes = 100 << 20 }
        #expect(try Self.bound([.trim(tolerance: 0)], limits: limits) < 50 << 20)
        let overlay = Filter.overlay(Filter.Overlay(from: "logo"))
        #expect(try Self.bound([overlay], limits: limits) >= 100 << 20)
        let logo = PixelLayout(width: 90, height: 40, channels: 4, depth: 8)
        let known = try Self.bound([overlay], limits: limits, other: .init(png: logo))
        #expect(known < 50 << 20)
        let large = PixelLayout(width: 9000, height: 4000, channels: 4, depth: 8)
        // What is seen of it.
        let more = try Self.bound([overlay], limits: limits, other: .init(png: large)) - known
        #expect(more >= 1500 * 900 * 4 - logo.bytes && more < 12 << 20)
    }

    /// Scaling an overlay takes the rows that the kernel covers, whatever the height of the two.
    @Test func countsTheScalingOfAnOverlay() throws {
        let overlay = Filter.overlay(Filter.Overlay(from: "logo", scale: 0.1))
        let tall = PixelLayout(width: 9000, height: 40_000, channels: 4, depth: 8)
        let high = PixelLayout(width: 9000, height: 4000, channels: 4, depth: 8)
        let bounds = try [tall, high].map { try Self.bound([overlay], other: .init(png: $0)) }
        #expect(bounds.allSatisfy { $0 < 64 << 20 }, "\(bounds)")
        let trimmed = try Self.bound([.trim(tolerance: 0), overlay], other: .init(png: high))
        #expect(trimmed < 64 << 20)
        // The floats of the ring: 150 pixels of 4 channels in 6 · 60 rows.
        let seen = PixelLayout(width: 150, height: 67, channels: 4, depth: 8)
        #expect(
            try Self.bound([overlay], other: .init(png: high)) >= 150 * 4 * 4 * 360 + seen.bytes)
    }

    /// What is going to fail is refused as the pipeline would.
    @Test func refusesWhatThePipelineRefuses() throws {
        let limits = PictureLimits { $0.wholePictureBytes = 1 << 20 }
        expectFailure(.tooManyPixels) {
            try Self.bound([.flip], limits: limits)
        }
        expectFailure(.filterOutside) {
            try Self.bound([.crop(.rectangle(x: 1400, y: 0, width: 200, height: 1))])
        }
    }
}

/// Lends rows of noise.
private final class NoiseStage: Stage {
    let layout: PixelLayout
    private let memory: FilterBuffer<UInt64>
    private var noise = SplitMix64(seed: 5)
    private var next = 0

    init(_ layout: PixelLayout) throws(PictureError) {
        self.layout = layout
        memory = try FilterBuffer(count: layout.rowsPerBand * layout.bytesPerRow / 8 + 1)
    }

    func nextBand() throws(PictureError) -> Band? {
        guard next < layout.height else { return nil }
        let rows = next..<min(next + layout.rowsPerBand, layout.height)
        next = rows.upperBound
        for index in 0..<memory.count { memory.start[index] = noise.next() }
        return Band(start: UnsafeMutableRawPointer(memory.start), rows: rows)
    }
}

extension PeakMemory.Source {
    /// That of a PNG.
    init(png layout: PixelLayout) {
        self.init(PNGReader.needs(layout), layout)
    }
}
