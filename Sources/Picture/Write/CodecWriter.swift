import CDarkroomCodecWire
import DarkroomCore
import SystemPackage

/// The end of the pipeline for a format that a codec program writes: pulls a stage's bands, passes the rows on to the
/// child, and puts the bytes that it says into the file.
///
/// Rows and bytes lie in memory that this process and the child share: four slots for rows, four for bytes. The child
/// has the memory that `CodecEncoder.memory` has counted, from its start.
final class CodecWriter {
    private let call: CodecCall
    private let input: PictureEncoder.Input
    private let rows: EncodedRows
    private let output: CodecFile
    /// The slots for rows that this side has.
    private var free = Set(0..<UInt32(CodecCall.Bounds.slots))
    private var isOver = false
    private var chosen: ChosenQuality?
    private static let beginning = "writing the header"

    /// Writes all rows of a picture.
    ///
    /// - Throws: `codecMissing`, and `tooManyPixels` for a side that the format does not have or for a picture that needs
    ///   more memory than it may have, before anything is pulled or written.
    static func write(
        _ input: PictureEncoder.Input, _ encoder: CodecEncoder
    ) throws(PictureError) -> WrittenPicture {
        let (layout, name) = (input.stage.layout, input.name)
        try encoder.check(layout, name: name)
        let rows = EncodedRows(layout, input.options)
        let held = encoder.memory(rows.layout, layout.width * layout.height, input.options)
        try input.memory.take(held, for: encoder.purpose(name))
        defer { input.memory.giveBack(held) }
        let writer = try CodecWriter(input, rows, encoder, memory: held)
        let items = try writer.begin(encoder)
        while let band = try input.nextBand() { try writer.add(band) }
        return try writer.finish(items)
    }

    private init(
        _ input: PictureEncoder.Input, _ rows: EncodedRows, _ encoder: CodecEncoder, memory: Int
    ) throws(PictureError) {
        self.input = input
        self.rows = rows
        let layout = rows.layout
        let metadata = [input.colour.profile?.bytes, input.exif, input.xmp, input.iptc]
            .reduce(0) { $0 + ($1?.count ?? 0) }
        var limits = input.limits
        if input.options.search != nil {
            // It encodes several times, and says nothing before the last one.
            limits.codecSeconds *= QualitySearch.mostEncodings
            limits.codecSilence *= QualitySearch.mostEncodings
        }
        // While a search assembles a file, there is another one.
        let copies = input.options.search == nil ? 2 : 5
        call = try CodecCall(
            encoding: input.name, memory: memory + copies * metadata,
            rowBytes: layout.bytesPerRow, limits, checkpoint: input.checkpoint, by: encoder.program)
        // The most is an AVIF of 12 bits: it makes nearly three times as much of noise with 8 bits.
        output = try CodecFile(
            input.file, name: input.name, most: 4 * (layout.bytes + metadata) + 1 << 20,
            piece: call.slotBytes)
    }

    // MARK: The picture

    /// Says the header, the profile and the metadata.
    ///
    /// - Returns: the parts of the colour information that the file has.
    private func begin(_ encoder: CodecEncoder) throws(PictureError) -> Set<PictureColour.Item> {
        var message = darkroom_codec_message(DARKROOM_CODEC_HEADER)
        message.header = darkroom_codec_header(rows.layout)
        let items = message.header.add(input.colour, encoder.items)
        message.header.exif = UInt32(input.exif?.count ?? 0)
        message.header.xmp = UInt32(input.xmp?.count ?? 0)
        message.header.iptc = UInt32(input.iptc?.count ?? 0)
        message.options = darkroom_codec_options(input.options)
        message.options.depth = UInt32(input.options.depth(of: input.stage.layout))
        call.say(message)
        if items.contains(.profile), let profile = input.colour.profile {
            try say(profile.bytes, DARKROOM_CODEC_ICC)
        }
        if let exif = input.exif { try say(exif, DARKROOM_CODEC_EXIF) }
        if let xmp = input.xmp { try say(xmp, DARKROOM_CODEC_XMP) }
        if let iptc = input.iptc { try say(iptc, DARKROOM_CODEC_IPTC) }
        return items
    }

    private func say(_ blob: [UInt8], _ which: Int) throws(PictureError) {
        for start in stride(from: 0, to: blob.count, by: call.slotBytes) {
            let piece = blob[start..<min(blob.count, start + call.slotBytes)]
            var message = darkroom_codec_message(DARKROOM_CODEC_BLOB)
            message.bits = UInt32(which)
            message.slot = try freeSlot(Self.beginning)
            message.bytes = UInt64(piece.count)
            try call.slot(message, bytes: piece.count, Self.beginning).copyBytes(from: piece)
            call.say(message)
        }
    }

    /// Passes on a band's rows, which are copied.
    private func add(_ band: Band) throws(PictureError) {
        let most = max(1, Int(DARKROOM_CODEC_BAND) / rows.layout.bytesPerRow)
        let step = "writing rows \(band.rows.lowerBound + 1) to \(band.rows.upperBound)"
        var start = UnsafeRawPointer(band.start)
        for first in stride(from: band.rows.lowerBound, to: band.rows.upperBound, by: most) {
            let count = min(most, band.rows.upperBound - first)
            var message = darkroom_codec_message(DARKROOM_CODEC_ROWS)
            message.slot = try freeSlot(step)
            message.first = UInt32(first)
            message.count = UInt32(count)
            let slot = try call.slot(message, bytes: count * rows.layout.bytesPerRow, step)
            rows.copy(start, count: count, to: slot)
            start += count * input.stage.layout.bytesPerRow
            call.say(message)
            FaultPoint.codecRowsPassed.pass()
        }
    }

    private func finish(_ items: Set<PictureColour.Item>) throws(PictureError) -> WrittenPicture {
        let step = "writing the end"
        call.say(darkroom_codec_message(DARKROOM_CODEC_END))
        while !isOver { try hear(step, isComplete: true) }
        call.finish()
        FaultPoint.codecEnded.pass()
        let sha256 = try output.finish { () throws(PictureError) in
            try call.checkCancellation(step)
        }
        return WrittenPicture(
            bytes: output.bytes, sha256: sha256,
            items: call.lacksProfile ? items.subtracting([.profile]) : items,
            remarks: call.warnings, chosen: chosen)
    }

    // MARK: What the child says

    /// A slot for rows that this side has, as soon as there is one.
    private func freeSlot(_ step: String) throws(PictureError) -> UInt32 {
        while true {
            if let slot = free.popFirst() { return slot }
            try hear(step)
        }
    }

    /// Takes one message: a slot that is free again, bytes of the file, or the end.
    ///
    /// - Parameter isComplete: whether all rows have been said, so that the end may come.
    private func hear(_ step: String, isComplete: Bool = false) throws(PictureError) {
        let message: darkroom_codec_message
        do throws(PictureError) {
            message = try call.hear(step)
        } catch {
            guard error.kind == .tooManyBytes else { throw error }
            let options = input.options
            guard let search = options.search, search.maxBytes != nil,
                let smallest = call.smallest
            else { throw call.nonsense(step) }
            throw search.failure(input.name, highest: options.quality, smallest: smallest)
        }
        if message.isA(DARKROOM_CODEC_FREE) {
            guard message.slot < UInt32(CodecCall.Bounds.slots),
                free.insert(message.slot).inserted
            else { throw call.nonsense(step) }
        } else if message.isA(DARKROOM_CODEC_BYTES) {
            // A child that always has something to say must not keep a cancellation waiting.
            try call.checkCancellation(step)
            let isTaken = try output.write(
                call.encoded(message, step), at: Int(clamping: message.offset))
            guard isTaken else { throw call.nonsense(step) }
            FaultPoint.codecBytesWritten.pass()
            call.free(slot: message.slot)
        } else if message.isA(DARKROOM_CODEC_END), isComplete, output.bytes > 0,
            free.count == CodecCall.Bounds.slots
        {
            if let search = input.options.search { chosen = try choice(message, search, step) }
            isOver = true
        } else {
            throw call.nonsense(step)
        }
    }

    /// What the child has chosen, if it makes sense.
    private func choice(
        _ message: darkroom_codec_message, _ search: QualitySearch, _ step: String
    ) throws(PictureError) -> ChosenQuality {
        let (quality, similarity) = (message.options.quality, message.options.similarity)
        guard quality > 0, quality <= UInt32(input.options.quality), (0...1).contains(similarity),
            output.bytes <= search.maxBytes ?? .max
        else { throw call.nonsense(step) }
        return ChosenQuality(quality, similarity: similarity, search)
    }
}

extension darkroom_codec_header {
    fileprivate init(_ layout: PixelLayout) {
        self.init()
        width = UInt32(layout.width)
        height = UInt32(layout.height)
        colour = (layout.colourChannels == 1 ? DARKROOM_CODEC_GRAY : DARKROOM_CODEC_RGB).rawValue
        channels = UInt32(layout.channels)
        depth = UInt32(layout.depth)
        source_depth = depth
        (orientation, page, pages) = (1, 1, 1)
        // Unknown.
        cicp = (2, 2, 2, 2)
    }

    /// Adds the parts of the colour information that the format takes.
    ///
    /// - Returns: those that there are.
    fileprivate mutating func add(
        _ colour: PictureColour, _ items: Set<PictureColour.Item>
    ) -> Set<PictureColour.Item> {
        var added: Set<PictureColour.Item> = []
        if items.contains(.profile), let profile = colour.profile {
            icc = UInt32(profile.bytes.count)
            added.insert(.profile)
        }
        if items.contains(.density), let density = colour.density, density.unit == 1 {
            (pixels_x, pixels_y) = (density.x, density.y)
            added.insert(.density)
        }
        if items.contains(.codePoints), let points = colour.codePoints, points.count == 4 {
            cicp = (UInt32(points[0]), UInt32(points[1]), 0, 1)
            added.insert(.codePoints)
        }
        return added
    }
}

extension darkroom_codec_options {
    fileprivate init(_ options: OutputOptions) {
        self.init()
        quality = UInt32(options.quality)
        lossless = options.lossless ? 1 : 0
        most_bytes = options.search?.mostBytes ?? 0
        similarity = options.search?.similarity ?? 0
        let usual = options.format.defaultEffort
        effort = UInt32(
            OutputOption.effort.formats.contains(options.format) ? options.effort : usual)
        chroma = options.chroma == .full ? 444 : 420
        compression =
            switch options.tiffCompression {
            case .none: 0
            case .deflate: 1
            case .lzw: 2
            }
    }
}
