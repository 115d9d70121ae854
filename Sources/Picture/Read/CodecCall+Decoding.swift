import CDarkroomCodecWire
import DarkroomCore
import Glibc
import SystemPackage

extension CodecCall {
    /// Begins to decode a picture.
    convenience init(
        decoding input: PictureDecoder.Input, by program: CodecProgram
    ) throws(PictureError) {
        let source = try CodecSource(input.picture, name: input.name)
        guard source.offset >= 0 else {
            throw PictureError(.readFailed, "\(input.name): reading it", .badFileDescriptor)
        }
        var order = darkroom_codec_message(DARKROOM_CODEC_DECODE)
        order.offset = UInt64(source.offset)
        order.count = UInt32(clamping: input.page ?? 1)
        order.fill(input.limits)
        try self.init(order, [source.number], input.name, input.limits, input.checkpoint, program)
        withExtendedLifetime(source) {}
    }
}

/// The descriptor of a source, for the child.
private struct CodecSource: ~Copyable {
    /// Where the picture begins.
    let offset: off_t
    private let file: CInt
    /// A copy of content that has no file.
    private let copy: Descriptor?

    init(_ picture: PictureInput, name: String) throws(PictureError) {
        offset = picture.offset
        file = picture.number
        copy =
            switch picture {
            case .file: nil
            case .content(let bytes): try Self.copy(bytes, name: name)
            }
    }

    /// For the lifetime of this value.
    var number: CInt {
        switch copy {
        case .some(let copy): copy.number
        case .none: file
        }
    }

    private static func copy(_ bytes: [UInt8], name: String) throws(PictureError) -> Descriptor {
        let number = darkroom_codec_memory(bytes.count)
        guard number >= 0 else {
            throw CodecCall.noFile(name, "copying it", Errno(rawValue: errno))
        }
        let copy = Descriptor(owning: number)
        guard pwrite(number, bytes, bytes.count, 0) == bytes.count else {
            throw .outOfMemory(name, "copying it: \(Errno(rawValue: errno))")
        }
        return copy
    }
}
