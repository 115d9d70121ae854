import CDarkroomPixels

/// The filters that use only one pixel at a time.
///
/// A filter that changes nothing, because of its amount or because the picture is gray, has no stage: these functions
/// then return the upstream.
enum ColourFilters {
    static func sepia(_ intensity: Double, _ upstream: any Stage) throws(PictureError) -> any Stage
    {
        if intensity == 0 { return upstream }
        let matrix = ColourMatrix.sepia(intensity)
        return upstream.layout.isGray
            ? try tinted(matrix.grayFactors, upstream) : recoloured(matrix, upstream)
    }

    /// A full grayscale of RGB gives a gray picture. A partial one stays RGB.
    static func grayscale(_ amount: Double, _ upstream: any Stage) -> any Stage {
        if amount == 0 || upstream.layout.isGray { return upstream }
        let matrix = ColourMatrix.grayscale(amount)
        if amount < 1 { return recoloured(matrix, upstream) }
        return luma(Array(matrix.coefficients[0..<3]) + [0], upstream)
    }

    /// The rows of saturate's matrix have a sum of 1, so gray stays the same.
    static func saturate(_ amount: Double, _ upstream: any Stage) -> any Stage {
        if amount == 1 || upstream.layout.isGray { return upstream }
        return recoloured(.saturate(amount), upstream)
    }

    /// The rows of hueRotate's matrix have a sum of 1 for every angle, so gray stays the same.
    static func hueRotate(_ degrees: Double, _ upstream: any Stage) -> any Stage {
        if degrees.remainder(dividingBy: 360) == 0 || upstream.layout.isGray { return upstream }
        return recoloured(.hueRotate(degrees), upstream)
    }

    /// Black and white with low contrast: M = 0.85·Y + 0.075, with Y = 0.2126·R + 0.7152·G + 0.0722·B, all on
    /// gamma-encoded values from 0 to 1, rounded once.
    ///
    /// Y is grayscale's luminance (Rec. 709). The linear function compresses it around the middle to 85 %, as contrast
    /// 0.85 would: black becomes 19 of 255 and white 236, near video's range from 16 (black) to 235 (white). Nothing is
    /// clipped. The result is a gray picture.
    static func mono(_ upstream: any Stage) throws(PictureError) -> any Stage {
        let (contrast, black) = (0.85, 0.075)
        let offset = black * upstream.layout.fullScale
        if upstream.layout.isGray {
            return try mapped(.colour, scale: contrast, offset: offset, upstream)
        }
        let weights = ColourMatrix.grayscale(1).coefficients[0..<3].map { contrast * $0 }
        return luma(weights + [offset], upstream)
    }

    static func invert(_ amount: Double, _ upstream: any Stage) throws(PictureError) -> any Stage {
        if amount == 0 { return upstream }
        return try mapped(
            .colour, scale: 1 - 2 * amount, offset: amount * upstream.layout.fullScale, upstream)
    }

    static func brightness(_ amount: Double, _ upstream: any Stage) throws(PictureError)
        -> any Stage
    {
        if amount == 1 { return upstream }
        return try mapped(.colour, scale: amount, offset: 0, upstream)
    }

    static func contrast(_ amount: Double, _ upstream: any Stage) throws(PictureError) -> any Stage
    {
        if amount == 1 { return upstream }
        let offset = (0.5 - 0.5 * amount) * upstream.layout.fullScale
        return try mapped(.colour, scale: amount, offset: offset, upstream)
    }

    /// Adds alpha to a picture without alpha, unless `amount` is 1.
    static func opacity(_ amount: Double, _ upstream: any Stage) throws(PictureError) -> any Stage {
        if amount == 1 { return upstream }
        if upstream.layout.hasAlpha {
            return try mapped(.alpha, scale: amount, offset: 0, upstream)
        }
        let input = upstream.layout
        let table = try SampleTable(depth: input.depth, scale: amount, offset: 0)
        return try upstream.expanded(
            toChannels: input.channels + 1, alpha: table[Int(input.fullScale)])
    }

    private static func recoloured(_ matrix: ColourMatrix, _ upstream: any Stage) -> any Stage {
        let layout = upstream.layout
        return InPlaceStage(upstream) { band in
            darkroom_matrix(
                band.start, band.rows.count * layout.width, Int32(layout.channels),
                Int32(layout.depth),
                matrix.coefficients)
        }
    }

    /// - Parameter weights: the weights of red, green and blue, and an offset on the scale of the samples.
    private static func luma(_ weights: [Double], _ upstream: any Stage) -> any Stage {
        let input = upstream.layout
        return InPlaceStage(upstream, layout: input.with(channels: input.channels - 2)) { band in
            darkroom_luma(
                band.start, band.start, band.rows.count * input.width, Int32(input.channels),
                Int32(input.depth), weights)
        }
    }

    private static func tinted(
        _ factors: [Double], _ upstream: any Stage
    ) throws(PictureError) -> any Stage {
        let input = upstream.layout
        let layout = input.with(channels: input.channels + 2)
        return try RowStage(upstream, layout: layout) { from, to in
            darkroom_tint(from, to, input.width, Int32(input.channels), Int32(input.depth), factors)
        }
    }

    enum Part {
        case colour, alpha
    }

    /// Replaces each sample v of a part by scale·v + offset.
    private static func mapped(
        _ part: Part, scale: Double, offset: Double, _ upstream: any Stage
    ) throws(PictureError) -> any Stage {
        let layout = upstream.layout
        let table = try SampleTable(depth: layout.depth, scale: scale, offset: offset)
        return mapped(part, by: table, upstream)
    }

    static func mapped(_ part: Part, by table: SampleTable, _ upstream: any Stage) -> any Stage {
        let layout = upstream.layout
        let first = part == .alpha ? layout.colourChannels : 0
        let count = part == .alpha ? 1 : layout.colourChannels
        return InPlaceStage(upstream) { band in
            darkroom_map(
                band.start, band.rows.count * layout.width, Int32(layout.channels),
                Int32(layout.depth),
                Int32(first), Int32(count), table.samples)
        }
    }
}

/// The result for each sample v.
final class SampleTable {
    private let memory: FilterBuffer<UInt8>
    private let depth: Int

    /// - Parameter fill: writes the samples, in the order of v.
    init(depth: Int, fill: (UnsafeMutableRawPointer) -> Void) throws(PictureError) {
        self.depth = depth
        memory = try FilterBuffer(count: (1 << depth) * depth / 8)
        fill(memory.start)
    }

    /// scale·v + offset
    convenience init(depth: Int, scale: Double, offset: Double) throws(PictureError) {
        try self.init(depth: depth) {
            darkroom_affine_table($0, Int32(depth), scale, offset)
        }
    }

    var samples: UnsafeRawPointer { UnsafeRawPointer(memory.start) }

    subscript(sample: Int) -> UInt16 {
        depth == 8
            ? UInt16(memory.start[sample])
            : samples.load(fromByteOffset: 2 * sample, as: UInt16.self)
    }
}
