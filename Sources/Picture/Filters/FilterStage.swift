/// Makes the stages of filters. This is the one place that says which filter is done by which stage.
package enum FilterStage {
    /// The stage that applies `filter` to what `upstream` lends.
    ///
    /// Its bands depend on the upstream's pixels only, not on how they are cut into bands. A filter that
    /// would change nothing is no stage: `upstream` itself is returned.
    ///
    /// Reading begins when the first band is asked for, but for `trim`, which must have seen the picture to
    /// know its own size.
    ///
    /// - Throws: `tooManyPixels` where the result would exceed the limits, and `filterOutside` where a
    ///   rectangle does not lie within the picture, before any memory is taken; `tooManyPixels` where
    ///   the filter would have to hold more than the picture's budget has left; `outOfMemory`.
    package static func make(
        _ filter: Filter, upstream: any Stage, context: StageContext
    ) throws(PictureError) -> any Stage {
        switch filter {
        case .sepia(let intensity): try ColourFilters.sepia(intensity, upstream)
        case .mono: try ColourFilters.mono(upstream)
        case .grayscale(let amount): ColourFilters.grayscale(amount, upstream)
        case .invert(let amount): try ColourFilters.invert(amount, upstream)
        case .brightness(let amount): try ColourFilters.brightness(amount, upstream)
        case .contrast(let amount): try ColourFilters.contrast(amount, upstream)
        case .saturate(let amount): ColourFilters.saturate(amount, upstream)
        case .hueRotate(let angle): ColourFilters.hueRotate(angle, upstream)
        case .opacity(let amount): try ColourFilters.opacity(amount, upstream)
        case .gamma(let gamma): try ColourFilters.gamma(gamma, upstream)
        case .threshold(let level): ColourFilters.threshold(level, upstream)
        case .posterize(let levels): try ColourFilters.posterize(levels, upstream)
        case .vignette(let vignette): try VignetteStage.make(vignette, upstream)
        case .flatten(let colour): try FlattenFilter.make(colour, upstream)
        case .overlay(let overlay): try OverlayStage(overlay, upstream, context)
        case .resize(let resize): try ResizeFilter.make(resize, upstream, context)
        case .crop(let crop): try CropStage.make(crop, upstream)
        case .trim(let tolerance): try TrimFilter.make(tolerance, upstream, context.memory)
        case .pad(let pad): try PadStage.make(pad, upstream, context.limits)
        case .rotate(let rotation): try TurnStage(.rotate(rotation), upstream, context.memory)
        case .flip: try TurnStage(.flip, upstream, context.memory)
        case .flop: FlopFilter.make(upstream)
        case .blur(let sigma): try BlurStage(sigma: sigma, upstream, context.memory)
        case .sharpen(let sigma, let amount, let threshold):
            try SharpenStage(
                sigma: sigma, amount: amount, threshold: threshold, upstream, context.memory)
        }
    }

    /// The stages of several filters, the first next to `upstream`.
    package static func chain(
        _ filters: [Filter], upstream: any Stage, context: StageContext
    ) throws(PictureError) -> any Stage {
        var stage = upstream
        for filter in filters {
            stage = try make(filter, upstream: stage, context: context)
        }
        return stage
    }
}
