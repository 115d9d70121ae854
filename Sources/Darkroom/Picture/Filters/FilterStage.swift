/// Makes the stages of filters. This is the one place that says which filter is done by which stage.
package enum FilterStage {
    /// The stage that applies `filter` to what `upstream` lends.
    ///
    /// Its bands depend on the upstream's pixels only, not on how they are cut into bands. A filter that
    /// would change nothing is no stage: `upstream` itself is returned.
    ///
    /// - Throws: `tooManyPixels` where the result would exceed `limits`, and `filterOutside` where a
    ///   rectangle does not lie within the picture, before any memory is taken; `outOfMemory`.
    package static func make(
        _ filter: Filter, upstream: any Stage, limits: PictureLimits
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
        case .resize(let resize): try ResizeFilter.make(resize, upstream, limits)
        case .crop(let crop): try CropStage.make(crop, upstream)
        case .rotate(let rotation): try TurnStage(.rotate(rotation), upstream, limits)
        case .flip: try TurnStage(.flip, upstream, limits)
        case .flop: FlopFilter.make(upstream)
        case .blur(let sigma): try BlurStage(sigma: sigma, upstream)
        case .sharpen(let sigma, let amount, let threshold):
            try SharpenStage(sigma: sigma, amount: amount, threshold: threshold, upstream)
        }
    }

    /// The stages of several filters, the first next to `upstream`.
    package static func chain(
        _ filters: [Filter], upstream: any Stage, limits: PictureLimits
    ) throws(PictureError) -> any Stage {
        var stage = upstream
        for filter in filters {
            stage = try make(filter, upstream: stage, limits: limits)
        }
        return stage
    }

    /// The bytes a filter holds because it needs the whole picture at once; 0 for one that works in
    /// bands. `layout` is that of the filter's input.
    package static func wholePictureBytes(_ filter: Filter, layout: PixelLayout) -> Int {
        switch filter {
        case .rotate, .flip: layout.bytesPerRow * layout.height
        case .sepia, .mono, .grayscale, .invert, .brightness, .contrast, .saturate, .hueRotate,
            .opacity, .resize, .crop, .flop, .blur, .sharpen:
            0
        }
    }
}
