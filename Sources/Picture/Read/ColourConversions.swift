import DarkroomCore

/// How the values of pictures are brought to another space: the ways that were prepared last, and how one is prepared.
///
/// A space with curves and a matrix is read here (`ICCProfile`), and converted by a kernel. Any other profile is read by
/// lcms2 in a confined process, whose answer is a table of numbers (`ProfileTables`). All conversions are relative
/// colorimetric; lcms2 compensates the black point.
enum ColourConversions {
    /// What is done with a picture's values.
    struct Plan: Sendable {
        /// nil if they are in the wanted space already.
        var conversion: ColourConversion?
        /// What of the file cannot be used.
        var remark: String?
        /// Whether lcms2 has read a profile for it.
        var hasTable = false

        var programs: [CodecProgram] { hasTable ? [ProfileTables.program] : [] }
    }

    /// What decides on a way. Tables of a library that was replaced are not found.
    struct Key: Equatable {
        /// Of what pictures say of their colours.
        let digests: [[UInt8]]
        /// nil for the space of another picture.
        let target: OutputProfile?
        private let replacements = CodecProgram.replacements

        init(_ digests: [UInt8]..., target: OutputProfile? = nil) {
            (self.digests, self.target) = (digests, target)
        }
    }

    /// Each has at most 216 KB.
    private static let recent = RecentValues<Key, Result<Plan, PictureError>>(most: 16)

    /// By the digests of what the overlay and the picture beneath say. Each has at most 432 KB.
    private static let recentOverlays = RecentValues<Key, Result<[Plan], PictureError>>(most: 8)

    // MARK: To the space of the result

    /// - Parameter target: not `keep`.
    static func plan(
        for reader: any PictureReader, to target: OutputProfile, _ input: PictureDecoder.Input
    ) throws(PictureError) -> Plan {
        let stated = StatedColour(reader)
        let key = Key(stated.digest, target: target)
        return try recent.value(for: key) { () throws(PictureError) in
            let (space, remark) = stated.space
            var plan = try prepare(from: space, to: target, isGray: stated.isGray, input)
            plan.remark = plan.remark ?? remark
            return plan
        }
    }

    private static func prepare(
        from source: SourceSpace, to target: OutputProfile, isGray: Bool,
        _ input: PictureDecoder.Input
    ) throws(PictureError) -> Plan {
        let space = target.space
        // Gray has the same curve in both.
        func asSRGB(_ reason: String) -> Plan {
            let isSame = isGray || space.isNearly(.sRGB)
            return Plan(
                conversion: isSame ? nil : ColourConversion(from: .sRGB, to: space),
                remark: "\(reason): its values are taken as sRGB")
        }
        switch source {
        case .rgb(let own):
            if own.isNearly(space) { return Plan() }
            guard let conversion = ColourConversion(from: own, to: space) else {
                return asSRGB("the colour space makes no sense")
            }
            return Plan(conversion: conversion)
        case .gray(let curve):
            // Both results have this curve.
            let usual = RGBSpace.sRGB.curves[0]
            return RGBSpace.isNearly(curve, usual)
                ? Plan() : Plan(conversion: ColourConversion(fromGray: curve, to: usual))
        case .profile(let bytes):
            let answer = try ProfileTables.samples(of: bytes, target.direction, input)
            var plan = self.plan(of: answer, isGray: isGray, otherwise: asSRGB)
            plan.hasTable = true
            return plan
        }
    }

    /// - Parameter otherwise: the plan for a profile that cannot be used, for this reason.
    private static func plan(
        of answer: ProfileTables.Answer, isGray: Bool, otherwise: (_ reason: String) -> Plan
    ) -> Plan {
        switch answer {
        case .unusable: return otherwise("the colour profile cannot be used")
        case .samples(let table):
            if isGray {
                guard table.count == ProfileTables.grayCount else {
                    return otherwise("the colour profile is not for gray")
                }
                // Of the three channels, which are the same, the second.
                let curve = stride(from: 1, to: table.count, by: 3).map {
                    RGBSpace.light(of: Double(table[$0]) / 65535)
                }
                return Plan(
                    conversion: ColourConversion(fromGray: curve, to: RGBSpace.sRGB.curves[0]))
            }
            guard table.count == ProfileTables.rgbCount else {
                return otherwise("the colour profile is not for RGB")
            }
            return Plan(conversion: ColourConversion(table: table, steps: ProfileTables.rgbSteps))
        }
    }

    // MARK: To the space of another picture

    /// The ways, one after the other, by which the values of an overlay become those of the space of the picture beneath.
    static func plans(
        for reader: any PictureReader, on beneath: StatedColour, _ input: PictureDecoder.Input
    ) throws(PictureError) -> [Plan] {
        let stated = StatedColour(reader)
        let key = Key(stated.digest, beneath.digest)
        return try recentOverlays.value(for: key) { () throws(PictureError) in
            try overlayPlans(for: reader, stated, on: beneath, input)
        }
    }

    private static func overlayPlans(
        for reader: any PictureReader, _ stated: StatedColour, on beneath: StatedColour,
        _ input: PictureDecoder.Input
    ) throws(PictureError) -> [Plan] {
        // Gray with a colour between gets RGB, and with it sRGB's curve.
        let isColour = !stated.isGray && beneath.isGray
        let target = isColour ? StatedColour.nothing.space.space : beneath.space.space
        let (source, remark) = stated.space
        if source == target { return [] }
        switch (source, target) {
        case (.rgb(let own), .rgb(let other)):
            if own.isNearly(other) { return [] }
            // To a space with sRGB's curve there is an exact way.
            let isExact = zip(other.curves, RGBSpace.sRGB.curves).allSatisfy(RGBSpace.isNearly)
            let exact = isExact ? ColourConversion(from: own, to: other) : nil
            return [Plan(conversion: exact ?? table(own, other))]
        case (.gray(let own), .gray(let other)):
            return RGBSpace.isNearly(own, other)
                ? [] : [Plan(conversion: ColourConversion(fromGray: own, to: other))]
        default: break
        }
        // By way of sRGB.
        var first = try plan(for: reader, to: .srgb, input)
        first.remark = first.remark ?? remark
        switch target {
        case .rgb(let other):
            if other.isNearly(.sRGB) { return [first] }
            guard !stated.isGray else {
                let values = ColourConversion(
                    fromGray: RGBSpace.sRGB.curves[0], to: other.curves[1])
                return [first, Plan(conversion: values)]
            }
            return [first, Plan(conversion: table(.sRGB, other))]
        case .gray(let other):
            return [
                first,
                Plan(conversion: ColourConversion(fromGray: RGBSpace.sRGB.curves[0], to: other)),
            ]
        case .profile(let bytes):
            // Of gray, the neutral colours of a profile for RGB are as good as sRGB's.
            if stated.isGray { return [first] }
            guard
                case .samples(let samples) = try ProfileTables.samples(of: bytes, .fromSRGB, input),
                samples.count == ProfileTables.rgbCount
            else {
                let remark =
                    "it is laid over with the values of sRGB, because the colour profile of the"
                    + " picture beneath leads from its values to colours only"
                return [first, Plan(remark: remark, hasTable: true)]
            }
            let conversion = ColourConversion(table: samples, steps: ProfileTables.rgbSteps)
            return [first, Plan(conversion: conversion, hasTable: true)]
        }
    }

    /// From one space to another one, with any curves.
    private static func table(_ source: RGBSpace, _ target: RGBSpace) -> ColourConversion? {
        guard let back = target.matrix.inverse else { return nil }
        let matrix = back * source.matrix
        let steps = ProfileTables.rgbSteps
        let knots = source.curves.map { curve in
            (0..<steps).map { curve.interpolated(at: Double($0) / Double(steps - 1)) }
        }
        var table: [UInt16] = []
        table.reserveCapacity(ProfileTables.rgbCount)
        for red in knots[0] {
            for green in knots[1] {
                for blue in knots[2] {
                    for (curve, light) in zip(target.curves, matrix * [red, green, blue]) {
                        let value = curve.value(ofLight: min(1, max(0, light)))
                        table.append(UInt16((value * 65535).rounded()))
                    }
                }
            }
        }
        return ColourConversion(table: table, steps: steps)
    }
}
