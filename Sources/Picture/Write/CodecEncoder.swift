import CDarkroomCodecWire
import DarkroomCore

/// How a codec program writes a format: what its files can have, and the memory that its child needs.
struct CodecEncoder: Sendable {
    let format: OutputFormat
    let program: CodecProgram
    /// The maximum side, in pixels; nil if the format has no bound below that of `PictureLimits`.
    var largestSide: Int?
    /// The parts of the colour information that a file can have.
    var items: Set<PictureColour.Item> = [.profile]
    /// The memory of the child beyond what it had at its start, in bytes. `layout` has the rows as they are sent.
    let memory: @Sendable (_ layout: PixelLayout, _ pixels: Int, OutputOptions) -> Int

    static let webp = CodecEncoder(
        format: .webp, program: CodecFormat.webp, largestSide: 16_383,
        memory: EncoderMemory.webp)
    static let avif = CodecEncoder(
        format: .avif, program: CodecFormat.heif, largestSide: 65_536,
        items: [.profile, .codePoints], memory: EncoderMemory.avif)
    static let tiff = CodecEncoder(
        format: .tiff, program: CodecFormat.tiff, items: [.profile, .density],
        memory: { layout, _, _ in EncoderMemory.tiff(layout) })
    static let jpegXL = CodecEncoder(
        format: .jpegXL, program: CodecFormat.jxl, memory: EncoderMemory.jpegXL)

    /// Refuses what is known before a row is pulled: a program that is not installed, and a side that is too long.
    func check(_ layout: PixelLayout, name: String) throws(PictureError) {
        if program.path == nil { throw program.missing("write").naming(name, or: []) }
        if let largestSide { try format.check(layout, largestSide: largestSide, name: name) }
    }

    func needs(_ picture: PictureEncoder.Expected) throws(PictureError) -> WriterNeeds {
        var layout = picture.layout
        if picture.mostPixels != nil, let largestSide {
            layout.width = min(layout.width, largestSide)
            layout.height = min(layout.height, largestSide)
        }
        try check(layout, name: picture.name)
        let sent = EncodedRows(layout, picture.options).layout
        let slot = CodecCall.Bounds.slotBytes(row: sent.bytesPerRow)
        return WriterNeeds(
            // The slots of both sides, and a copy of one.
            bytes: (2 * CodecCall.Bounds.slots + 1) * slot + 1 << 20,
            heldBytes: memory(
                sent, picture.mostPixels ?? layout.width * layout.height, picture.options),
            purpose: purpose(picture.name))
    }

    func purpose(_ name: String) -> String { "\(name): writing \(format.title)" }
}

extension OutputFormat {
    /// Refuses a picture with a side that a file of this format cannot have.
    func check(_ layout: PixelLayout, largestSide: Int, name: String) throws(PictureError) {
        if max(layout.width, layout.height) <= largestSide { return }
        throw PictureError(
            .tooManyPixels,
            "\(name): writing the header: \(layout.width) × \(layout.height) pixels; a side of"
                + " \(self == .avif ? "an" : "a") \(title) may have at most \(largestSide)")
    }
}

/// The rows of a picture as an encoder gets them: with 8 bits if its format has no more.
struct EncodedRows {
    let layout: PixelLayout
    private let isRounded: Bool

    init(_ layout: PixelLayout, _ options: OutputOptions) {
        var layout = layout
        isRounded = layout.depth == 16 && options.depth(of: layout) == 8
        if isRounded { layout.depth = 8 }
        self.layout = layout
    }

    /// Copies rows, and rounds 16 bits to 8.
    func copy(_ rows: UnsafeRawPointer, count: Int, to target: UnsafeMutableRawBufferPointer) {
        guard isRounded else {
            target.copyMemory(
                from: UnsafeRawBufferPointer(start: rows, count: count * layout.bytesPerRow))
            return
        }
        let samples = rows.assumingMemoryBound(to: UInt16.self)
        for index in 0..<count * layout.bytesPerRow {
            // The nearest of 255 parts of 65535.
            target[index] = UInt8((UInt32(samples[index]) * 255 + 32_895) >> 16)
        }
    }
}
