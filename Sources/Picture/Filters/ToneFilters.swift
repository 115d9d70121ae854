import CDarkroomPixels

extension ColourFilters {
    /// v becomes v^(1/γ), with v from 0 to 1. Above 1 the middle tones become brighter, below 1 darker. 0 and 1 stay.
    static func gamma(_ gamma: Double, _ upstream: any Stage) throws(PictureError) -> any Stage {
        if gamma == 1 { return upstream }
        let depth = upstream.layout.depth
        let table = try SampleTable(depth: depth) {
            darkroom_power_table($0, Int32(depth), 1 / gamma)
        }
        return mapped(.colour, by: table, upstream)
    }

    /// n levels, with v from 0 to 1: k is v·(n − 1), rounded, and v becomes k / (n − 1).
    static func posterize(_ levels: Int, _ upstream: any Stage) throws(PictureError) -> any Stage {
        let depth = upstream.layout.depth
        if levels == 1 << depth { return upstream }
        let table = try SampleTable(depth: depth) {
            darkroom_level_table($0, Int32(depth), UInt32(levels))
        }
        return mapped(.colour, by: table, upstream)
    }

    /// White if Y = 0.2126·R + 0.7152·G + 0.0722·B, not rounded, is at least `level` of full scale, else black. The
    /// result is a gray picture.
    static func threshold(_ level: Double, _ upstream: any Stage) -> any Stage {
        let input = upstream.layout
        let layout = input.with(channels: input.hasAlpha ? 2 : 1)
        // Y is compared in integer ten thousandths of a sample. A level such as 0.1 has no exact binary form. A value
        // up to a thousandth above an integer counts as that integer.
        let least = UInt32((level * layout.fullScale * 10_000 - 0.001).rounded(.up))
        return InPlaceStage(upstream, layout: layout) { band in
            darkroom_threshold(
                band.start, band.start, band.rows.count * input.width, Int32(input.channels),
                Int32(input.depth), least)
        }
    }
}

/// Darkens towards the corners; see `Filter.Vignette` for the formula.
enum VignetteFilter {
    static func make(
        _ vignette: Filter.Vignette, _ upstream: any Stage
    ) throws(PictureError) -> any Stage {
        if vignette.amount == 0 { return upstream }
        let layout = upstream.layout
        let factors = try FilterBuffer<Double>(count: layout.width)
        // width² + height²
        let size = Double(layout.width * layout.width + layout.height * layout.height)
        return InPlaceStage(upstream) { band in
            for row in band.rows {
                // Twice the distances from the centre, as integers.
                let (x, y) = (Double(layout.width - 1), Double(2 * row + 1 - layout.height))
                if ((x * x + y * y) / size).squareRoot() <= vignette.radius { continue }
                darkroom_vignette_row(
                    factors.start, layout.width, y, size, vignette.amount, vignette.radius,
                    vignette.softness)
                darkroom_scale_row(
                    band.start + (row - band.rows.lowerBound) * layout.bytesPerRow, layout.width,
                    Int32(layout.channels), Int32(layout.depth), factors.start)
            }
        }
    }
}

/// Lays the picture over a colour: with α from 0 to 1, v becomes α·v + (1 − α)·colour, and alpha is removed. A gray
/// picture becomes RGB if the colour is not gray.
enum FlattenFilter {
    static func make(_ colour: Colour, _ upstream: any Stage) throws(PictureError) -> any Stage {
        guard upstream.layout.hasAlpha else { return upstream }
        let isGray = upstream.layout.isGray && colour.isGray
        let stage = isGray ? upstream : try upstream.expanded(toChannels: 4)
        let input = stage.layout
        let pixel = colour.pixel(isGray: isGray, hasAlpha: false, depth: input.depth)
        return InPlaceStage(stage, layout: input.with(channels: input.channels - 1)) { band in
            darkroom_flatten(
                band.start, band.start, band.rows.count * input.width, Int32(input.channels),
                Int32(input.depth), pixel)
        }
    }
}

extension Stage {
    /// The same pixels with more channels: gray as RGB, and new alpha as opaque unless another value is given.
    func expanded(
        toChannels channels: Int, alpha: UInt16 = .max
    ) throws(PictureError) -> any Stage {
        if layout.channels == channels { return self }
        let input = layout
        return try RowStage(self, layout: input.with(channels: channels)) { from, to in
            darkroom_expand(
                from, Int32(input.channels), to, Int32(channels), input.width, Int32(input.depth),
                alpha)
        }
    }
}
