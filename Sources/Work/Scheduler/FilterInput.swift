import DarkroomCore
import DarkroomPicture
import SystemPackage

/// The picture that a filter reads. A small one is read at once, in one call of the system instead of about seven.
enum FilterInput: ~Copyable {
    /// At the file's beginning.
    case file(Descriptor)
    case content([UInt8])

    /// - Parameters:
    ///   - bytes: the length of the file; nil to find it out.
    ///   - path: the name of the file in messages.
    init(_ file: consuming Descriptor, bytes: Int? = nil, path: String) throws {
        let content: [UInt8]?
        let bytes = try bytes ?? file.length(path: path)
        do {
            content = try Self.content(of: file, bytes: bytes)
        } catch {
            throw PictureError(
                .readFailed, "\(path): reading the file: \(error)", isTransient: true)
        }
        // If the length has changed, the reader of the picture finds out what is wrong.
        if let content {
            self = .content(content)
        } else {
            self = .file(file)
        }
    }

    /// All bytes of a small file; nil for a large one, and for one whose length has changed.
    static func content(
        of file: borrowing Descriptor, bytes: Int
    ) throws(Errno) -> [UInt8]? {
        bytes <= PictureInput.mostBytes ? try file.content(ofLength: bytes) : nil
    }

    var picture: PictureInput {
        switch self {
        case .file(let file): .file(file.file)
        case .content(let bytes): .content(bytes)
        }
    }

    /// The hexadecimal SHA-256 of the whole file.
    ///
    /// - Parameter path: its name in messages.
    func sha256(path: String) throws(FileError) -> String {
        switch self {
        case .file(let file): try file.sha256(path: path)
        case .content(let bytes): SHA256Digest.hex(of: bytes)
        }
    }
}
