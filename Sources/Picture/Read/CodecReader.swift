import CDarkroomCodecWire
import DarkroomCore

/// The first stage for a picture that a codec program decodes: its rows, as the child says them.
///
/// Two steps: the header, with the profile and the camera's metadata, when this is created; the rows when the first band
/// is requested. In between, the pipeline has waited for the memory, which counts as `heldBytes`. A band lies in the
/// memory that this process and the child share; the child decodes the next ones meanwhile. CMYK becomes RGB.
final class CodecReader: PictureReader {
    let layout: PixelLayout
    let storedSize: (width: Int, height: Int)
    let divisor: Int
    let canReduce: Bool
    let colour: PictureColour
    let orientation: Orientation
    let exif: [UInt8]?
    private let stored: SourcePackets
    let metadata: SourceMetadata
    let heldBytes: Int
    let heldBytesIfReduced: Int
    let storedDepth: Int
    let format: InputFormat

    private let call: CodecCall
    private let inks: InkSource?
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
        while blobs.isMissingSome {
            try blobs.take(try call.hear(step), call)
        }
        let stored = rows.layout
        let facts = CodecFacts(
            header, blobs, isGray: stored.colourChannels == 1, hasInks: rows.isCMYK,
            page: input.page)
        storedSize = (stored.width, stored.height)
        canReduce = rows.reduces
        divisor =
            canReduce ? input.divisor(stored.width, stored.height, facts.orientation) : 1
        layout = stored.reduced(by: divisor)
        heldBytesIfReduced = Int(clamping: header.reduced_memory)
        heldBytes = divisor > 1 ? heldBytesIfReduced : Int(clamping: header.memory)
        try limits.check(
            held: heldBytes, width: rows.width, height: rows.height, place: "\(name): reading it")
        inks = rows.isCMYK ? InkSource(profile: facts.inkProfile, input) : nil
        storedDepth = Int(header.source_depth)
        colour = rows.isCMYK ? facts.colour.stating(ofInks: input.profile) : facts.colour
        exif = facts.exif
        self.stored = facts.packets
        orientation = facts.orientation
        remarks = facts.remarks
        metadata = SourceMetadata(format: format, meanings: facts.meanings)
        self.format = format
        self.call = call
        FaultPoint.codecHeaderRead.pass()
    }

    /// Whether the values are CMYK, which becomes RGB when rows are read.
    var hasInks: Bool { inks != nil }
    var programs: [CodecProgram] { [call.program] + (inks?.programs ?? []) }

    var warnings: [String] { call.warnings + remarks + (inks?.remarks ?? []) }

    func packets() throws(PictureError) -> SourcePackets { stored }

    /// The slots with rows; the child's memory is `heldBytes`.
    var needs: ReaderNeeds { Self.needs(layout) }

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
        let converter = try inks?.converter(to: layout)
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
