import CDarkroomCodecWire
import DarkroomCore
import Glibc
import SystemPackage

extension CodecCall {
    /// Begins to decode a picture. Content that has no file gets one in memory, for the child.
    convenience init(
        decoding input: PictureDecoder.Input, by program: CodecProgram
    ) throws(PictureError) {
        switch input.picture {
        case .file(let file):
            try self.init(decoding: input, file.rawValue, by: program)
        case .content(let bytes):
            let copy = try Self.copy(bytes, name: input.name)
            try self.init(decoding: input, copy.number, by: program)
            withExtendedLifetime(copy) {}
        }
    }

    private convenience init(
        decoding input: PictureDecoder.Input, _ source: CInt, by program: CodecProgram
    ) throws(PictureError) {
        let offset = input.picture.offset
        guard offset >= 0 else {
            throw PictureError(.readFailed, "\(input.name): reading it", .badFileDescriptor)
        }
        var order = darkroom_codec_message(DARKROOM_CODEC_DECODE)
        order.offset = UInt64(offset)
        order.count = UInt32(clamping: input.page ?? 1)
        order.fill(input.limits)
        try self.init(order, [source], input.name, input.limits, input.checkpoint, program)
    }

    private static func copy(_ bytes: [UInt8], name: String) throws(PictureError) -> Descriptor {
        let number = darkroom_codec_memory(bytes.count)
        guard number >= 0 else { throw noFile(name, "copying it", Errno(rawValue: errno)) }
        let copy = Descriptor(owning: number)
        guard pwrite(number, bytes, bytes.count, 0) == bytes.count else {
            throw .outOfMemory(name, "copying it: \(Errno(rawValue: errno))")
        }
        return copy
    }
}
