import DarkroomPicture

/// One filter over all colours of a depth, with and without alpha.
struct Check: Sendable {
    let definition: Definition
    let colours: Colours

    /// What is wrong, or nil.
    func problem() -> String? {
        do {
            let opaque = try FilterStage.make(
                definition.filter, upstream: ColourStage(colours, alpha: false),
                context: StageContext(limits: PictureLimits()))
            let transparent = try FilterStage.make(
                definition.filter, upstream: ColourStage(colours, alpha: true),
                context: StageContext(limits: PictureLimits()))
            guard transparent.layout.channels == opaque.layout.channels + 1 else {
                return "with alpha it has \(transparent.layout.channels) channels"
            }
            return try compare(opaque, transparent)
        } catch {
            return "\(error)"
        }
    }

    /// Pulls both stages band by band; colour filters keep the bands of their source.
    private func compare(_ opaque: any Stage, _ transparent: any Stage) throws -> String? {
        var next = 0
        while let band = try opaque.nextBand() {
            guard let other = try transparent.nextBand(), other.rows == band.rows,
                band.rows.lowerBound == next
            else { return "the bands are not those of the source" }
            next = band.rows.upperBound
            let problem =
                colours.depth == 8
                ? compare(band, other, opaque.layout, UInt8.self)
                : compare(band, other, opaque.layout, UInt16.self)
            if let problem { return problem }
        }
        let surplus = try transparent.nextBand()
        return next == colours.height && surplus == nil ? nil : "it ends after \(next) rows"
    }

    @inline(__always)
    private func compare<Sample: FixedWidthInteger & BitwiseCopyable>(
        _ band: Band, _ withAlpha: Band, _ layout: PixelLayout, _: Sample.Type
    ) -> String? {
        let channels = layout.channels
        let plain = band.start.assumingMemoryBound(to: Sample.self)
        let other = withAlpha.start.assumingMemoryBound(to: Sample.self)
        let first = band.rows.lowerBound * layout.width
        let max = colours.max
        for pixel in 0..<band.rows.count * layout.width {
            let (r, g, b) = colours[first + pixel]
            for c in 0..<channels {
                let expected = definition.sample(c, r, g, b, max: max)
                let found = Int(plain[pixel * channels + c])
                let foundWithAlpha = Int(other[pixel * (channels + 1) + c])
                if found != expected || foundWithAlpha != expected {
                    return "channel \(c) of \((r, g, b)) becomes \(found), with alpha"
                        + " \(foundWithAlpha), and not \(expected)"
                }
            }
            let alpha = Int(other[pixel * (channels + 1) + channels])
            if alpha != colours.alpha(first + pixel) {
                return "the alpha of \((r, g, b)) becomes \(alpha)"
            }
        }
        return nil
    }
}
