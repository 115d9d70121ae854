import CDarkroomCodecWire
import DarkroomCore

/// The first stage for a picture that a codec program decodes: its rows, as the child says them.
///
/// Two steps: the header, with the profile and the camera's metadata, when this is created; the rows when the first band
/// is requested. In between, the pipeline has waited for the memory, which counts as `heldBytes`. A band lies in the
/// memory that this process and the child share; the child decodes the next ones meanwhile. CMYK becomes RGB.
final class CodecReader: PictureReader {
    let layout: PixelLayout
    let facts: PictureFacts
    let metadata: SourceMetadata
    private let found: SourcePackets

    private let call: CodecCall
    private let cmyk: CMYKSource?
    private let remarks: [String]
    private var nextRow = 0
    /// The slot that is lent; nil if none is.
    private var lent: UInt32?
    private var hasBegun = false
    private var isFinished = false

    init(
        _ input: PictureDecoder.Input, _ format: InputFormat, by program: CodecProgram
    ) throws(PictureError) {
        let (name, limits) = (input.name, input.limits)
        let step = "reading the header"
        let call = try CodecCall(decoding: input, by: program)
        let message = try call.hear(step)
        let header = message.header
        guard message.isA(DARKROOM_CODEC_HEADER), let rows = CodecRows(header),
            rows.bytesPerRow <= call.slotBytes
        else { throw call.nonsense(step) }
        try limits.check(width: rows.width, height: rows.height, place: "\(name): \(step)")
        var blobs = CodecBlobs(header, most: limits.ancillaryBytes)
        while blobs.isMissingSome { try blobs.take(try call.hear(step), call) }
        let stored = rows.layout
        let told = CodecFacts(
            header, blobs, isGray: stored.colourChannels == 1, isCMYK: rows.isCMYK,
            page: input.page)
        let divisor =
            rows.reduces ? input.divisor(stored.width, stored.height, told.orientation) : 1
        layout = stored.reduced(by: divisor)
        var facts = PictureFacts(format, layout, Self.needs(layout))
        facts.storedSize = (stored.width, stored.height)
        facts.storedDepth = Int(header.source_depth)
        (facts.divisor, facts.canReduce) = (divisor, rows.reduces)
        facts.heldBytes = Int(clamping: divisor > 1 ? header.reduced_memory : header.memory)
        facts.heldBytesIfReduced = Int(clamping: header.reduced_memory)
        try limits.check(
            held: facts.heldBytes, width: rows.width, height: rows.height,
            place: "\(name): reading it")
        facts.isCMYK = rows.isCMYK
        facts.colour = rows.isCMYK ? told.colour.stating(ofCMYK: input.profile) : told.colour
        (facts.orientation, facts.exif) = (told.orientation, told.exif)
        self.facts = facts
        cmyk = rows.isCMYK ? CMYKSource(profile: told.cmykProfile, input) : nil
        found = told.packets
        remarks = told.remarks
        metadata = SourceMetadata(format: format, meanings: told.meanings)
        self.call = call
        FaultPoint.codecHeaderRead.pass()
    }

    var programs: [CodecProgram] { [call.program] + (cmyk?.programs ?? []) }

    var warnings: [String] { call.warnings + remarks + (cmyk?.remarks ?? []) }

    func packets() throws(PictureError) -> SourcePackets { found }

    /// The slots with rows; the child's memory is `heldBytes`.
    static func needs(_ layout: PixelLayout) -> ReaderNeeds {
        // A slot may have a row more than a band has.
        let rows = max(1, Int(DARKROOM_CODEC_BAND) / layout.bytesPerRow + 1)
        return ReaderNeeds(
            rowsPerBand: min(rows, layout.height),
            bytes: (CodecCall.Bounds.slots + 1) * rows * layout.bytesPerRow * 4 / 3 + 1 << 20)
    }

    func nextBand() throws(PictureError) -> Band? {
        if let slot = lent { call.free(slot: slot) }
        lent = nil
        if !hasBegun { call.go(memory: heldBytes + CodecCall.Bounds.spare, divisor: divisor) }
        hasBegun = true
        let step = "reading row \(nextRow + 1) of \(layout.height)"
        if nextRow == layout.height {
            if !isFinished {
                guard try call.hear("reading the end").isA(DARKROOM_CODEC_END) else {
                    throw call.nonsense("reading the end")
                }
                call.finish()
                FaultPoint.codecEnded.pass()
            }
            isFinished = true
            return nil
        }
        let message = try call.hear(step)
        let (first, count) = (Int(message.first), Int(message.count))
        guard message.isA(DARKROOM_CODEC_ROWS), first == nextRow, count > 0,
            count <= layout.height - nextRow
        else { throw call.nonsense(step) }
        let converter = try cmyk?.converter(to: layout)
        let stored = converter?.bytesPerRow ?? layout.bytesPerRow
        let bytes = try call.slot(message, bytes: count * stored, step)
        guard let start = bytes.baseAddress else { throw call.nonsense(step) }
        FaultPoint.codecRowsRead.pass()
        nextRow += count
        lent = message.slot
        let rows = first..<nextRow
        converter?.convert(start, rows: count)
        return Band(start: start, rows: rows)
    }
}
