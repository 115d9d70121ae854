import CDarkroomCodecWire
import DarkroomCore
import Glibc
import SystemPackage

/// The descriptor of a source, for the child.
struct CodecSource: ~Copyable {
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
            throw .outOfMemory(name, "copying it: \(Errno(rawValue: errno))")
        }
        let copy = Descriptor(owning: number)
        guard pwrite(number, bytes, bytes.count, 0) == bytes.count else {
            throw .outOfMemory(name, "copying it: \(Errno(rawValue: errno))")
        }
        return copy
    }
}
