/// Creates the stages of filters. Only this type decides which stage implements which filter.
package enum FilterStage {
    /// The stage that applies `filter` to the bands of `upstream`.
    ///
    /// Its pixels depend only on the upstream's pixels, not on the sizes of the bands. For a filter that changes
    /// nothing there is no stage: `upstream` itself is returned.
    ///
    /// Reading begins with the request for the first band, except for `trim`, which must read the picture to know its
    /// own size.
    ///
    /// - Throws: before any memory is allocated, `tooManyPixels` if the result would exceed the limits, and
    ///   `filterOutside` if a rectangle is not within the picture; `tooManyPixels` if the filter needs more memory than
    ///   is left of the picture's budget; `outOfMemory`.
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
        case .vignette(let vignette): try VignetteFilter.make(vignette, upstream)
        case .flatten(let colour): try FlattenFilter.make(colour, upstream)
        case .overlay(let overlay): try OverlayFilter.make(overlay, upstream, context)
        case .resize(let resize): try ResizeFilter.make(resize, upstream, context)
        case .crop(let crop): try CropStage.make(crop, upstream)
        case .trim(let tolerance): try TrimFilter.make(tolerance, upstream, context.memory)
        case .pad(let pad): try PadFilter.make(pad, upstream, context.limits)
        case .rotate(let rotation): try TurnStage(.rotate(rotation), upstream, context.memory)
        case .flip: try TurnStage(.flip, upstream, context.memory)
        case .flop: FlopFilter.make(upstream)
        case .blur(let sigma): try BlurFilters.blur(sigma: sigma, upstream, context.memory)
        case .sharpen(let sigma, let amount, let threshold):
            try BlurFilters.sharpen(
                sigma: sigma, amount: amount, threshold: threshold, upstream, context.memory)
        }
    }

    /// The stages of several filters. The first one is next to `upstream`.
    package static func chain(
        _ filters: [Filter], upstream: any Stage, context: StageContext
    ) throws(PictureError) -> any Stage {
        var stage = upstream
        for filter in filters { stage = try make(filter, upstream: stage, context: context) }
        return stage
    }
}
