import CDarkroomShims
import Glibc
package import SystemPackage

/// The bytes of a picture that is to be read.
package enum PictureInput: Sendable {
    /// The picture begins at the file's current offset. The file must stay open while the picture is read.
    case file(FileDescriptor)
    /// All bytes of a small file, at most `mostBytes`.
    case content([UInt8])

    /// A reader reads this many bytes of a file at once, so it has room for them.
    package static let mostBytes = Int(min(DARKROOM_PNG_RAW_BYTES, DARKROOM_JPEG_RAW_BYTES))

    /// Where the next reader begins, for `rewind(to:)`.
    var offset: off_t {
        guard case .file(let file) = self else { return 0 }
        return lseek(file.rawValue, 0, SEEK_CUR)
    }

    /// Has the next reader begin at an earlier `offset`.
    func rewind(to offset: off_t) throws(PictureError) {
        guard case .file(let file) = self else { return }
        guard offset >= 0, lseek(file.rawValue, offset, SEEK_SET) == offset else {
            throw PictureError(.readFailed, "reading it again", Errno(rawValue: errno))
        }
    }

    /// Has the next reader begin at the first byte again.
    func rewind() throws(PictureError) { try rewind(to: 0) }

    /// The descriptor for the reader of the shim: -1 if the reader gets the content instead.
    var number: CInt {
        switch self {
        case .file(let file): file.rawValue
        case .content: -1
        }
    }

    /// Gives the content, if this is one, to the reader of the shim.
    func fill(_ give: (UnsafePointer<UInt8>?, Int) -> Bool) {
        guard case .content(let bytes) = self else { return }
        let fits = bytes.withUnsafeBufferPointer { give($0.baseAddress, $0.count) }
        precondition(fits, "the content of a picture is larger than a reader's buffer")
    }
}

extension InputFormat {
    /// The kind that the first bytes show. They are not consumed.
    init(of input: PictureInput, name: String) throws(PictureError) {
        switch input {
        case .file(let file): try self.init(of: file, name: name)
        case .content(let bytes): self.init(prefix: bytes.prefix(Self.prefixLength))
        }
    }
}
