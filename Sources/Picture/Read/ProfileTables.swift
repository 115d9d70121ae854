/// What lcms2 makes of a profile, in a confined process: `Sources/CodecICC` says the order of the numbers.
enum ProfileTables {
    /// The pages of darkroom-codec-icc.
    enum Direction: Int {
        case toSRGB = 1
        case toP3, fromSRGB
    }

    enum Answer {
        case samples([UInt16])
        /// The profile is broken, or for a kind of values that no picture has.
        case unusable
    }

    static let rgbSteps = 33
    static let rgbCount = 33 * 33 * 33 * 3
    static let grayCount = 4096 * 3
    /// The processor time for a profile: usual ones need 0.03 seconds.
    private static let mostSeconds = 10
    /// The tables that the program makes, by their sides: for RGB, CMYK and gray.
    private static let sides = [[1089, 33], [289, 289], [4096, 1]]

    static let program = CodecProgram("icc")

    /// - Throws: what does not come from the profile: a missing program, a lack of memory.
    static func samples(
        of profile: [UInt8], _ direction: Direction, _ input: PictureDecoder.Input,
        by program: CodecProgram = program
    ) throws(PictureError) -> Answer {
        do throws(PictureError) {
            return .samples(try table(of: profile, direction, input, program))
        } catch {
            switch error.kind {
            case .pictureDamaged, .pictureTruncated, .unsupportedFormat, .tooManyPixels:
                return .unusable
            case .codecCrashed:
                if error.isTransient { throw error }
                return .unusable
            // Also too much time: on another machine, it could be enough.
            default: throw error
            }
        }
    }

    private static func table(
        of profile: [UInt8], _ direction: Direction, _ input: PictureDecoder.Input,
        _ program: CodecProgram
    ) throws(PictureError) -> [UInt16] {
        var limits = PictureLimits()
        limits.codecSeconds = min(mostSeconds, input.limits.codecSeconds)
        limits.codecSilence = input.limits.codecSilence
        let reader = try CodecReader(
            PictureDecoder.Input(
                .content(profile), name: "\(input.name): the colour profile", limits: limits,
                page: direction.rawValue, checkpoint: input.checkpoint),
            .unknown, by: program)
        let layout = reader.layout
        guard layout.channels == 3, layout.depth == 16, !reader.facts.isCMYK,
            sides.contains([layout.width, layout.height])
        else {
            throw PictureError(
                .codecCrashed,
                "\(input.name): the colour profile: the program's table makes no sense")
        }
        var samples: [UInt16] = []
        samples.reserveCapacity(reader.layout.bytes / 2)
        while let band = try reader.nextBand() {
            let count = band.rows.count * reader.layout.width * reader.layout.channels
            let row = UnsafeBufferPointer(
                start: band.start.assumingMemoryBound(to: UInt16.self), count: count)
            samples.append(contentsOf: row)
        }
        return samples
    }
}
