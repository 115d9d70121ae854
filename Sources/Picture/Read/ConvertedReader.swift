/// A picture whose values are brought to another space as they are read: after the reduced decoding, before the first
/// filter.
final class ConvertedReader: PictureReader {
    let base: any PictureReader
    let conversion: ColourConversion?
    /// Those of the base, except the colour.
    let facts: PictureFacts
    private let remark: String?
    private let conversionPrograms: [CodecProgram]
    /// Whether rows are colours, and not indices of a palette.
    private var areColours = true

    /// The reader itself, if its values are kept.
    ///
    /// - Parameter input: that of the reader.
    static func around(
        _ reader: any PictureReader, _ profile: OutputProfile, _ input: PictureDecoder.Input
    ) throws(PictureError) -> any PictureReader {
        guard profile != .keep else { return reader }
        let plan = try ColourConversions.plan(for: reader, to: profile, input)
        return ConvertedReader(reader, plan, profile)
    }

    private init(
        _ base: any PictureReader, _ plan: ColourConversions.Plan, _ profile: OutputProfile
    ) {
        self.base = base
        conversion = plan.conversion
        remark = plan.remark
        conversionPrograms = plan.programs
        var facts = base.facts
        facts.colour = facts.colour.stating(profile, isGray: base.layout.isGray)
        self.facts = facts
    }

    var stored: any PictureReader { base }
    var layout: PixelLayout { base.layout }
    var warnings: [String] { base.warnings + (remark.map { [$0] } ?? []) }
    var metadata: SourceMetadata { base.metadata }
    var programs: [CodecProgram] { base.programs + conversionPrograms }
    var canBeReadAhead: Bool { base.canBeReadAhead }

    func packets() throws(PictureError) -> SourcePackets { try base.packets() }

    /// Before the first band: the rows will be indices, which no conversion may change.
    func leaveIndices() { areColours = false }

    func drain() throws(PictureError) { try base.drain() }

    func nextBand() throws(PictureError) -> Band? {
        guard let band = try base.nextBand() else { return nil }
        if areColours {
            conversion?.apply(band.start, pixels: band.rows.count * layout.width, layout)
        }
        return band
    }
}
