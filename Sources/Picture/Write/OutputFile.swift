import DarkroomCore
import SystemPackage

/// What a writer has written.
package struct WrittenPicture: Sendable, Equatable {
    package var bytes: Int
    /// Hexadecimal.
    package var sha256: String
    /// What was written of the colour given.
    package var items: Set<PNGColour.Item>
}

/// A picture's file on its way out: every write is checked, and the bytes are hashed and counted.
struct OutputFile: ~Copyable {
    /// What has been written so far.
    private(set) var bytes = 0
    private var digest = SHA256Digest()
    private let file: FileDescriptor
    private let name: String

    /// - Parameters:
    ///   - file: Where to write, from the current offset on. It is neither synchronised nor closed.
    ///   - name: What messages call the file.
    init(_ file: FileDescriptor, name: String) {
        self.file = file
        self.name = name
    }

    mutating func write(_ part: UnsafeRawBufferPointer) throws(PictureError) {
        digest.update(part)
        do {
            bytes += try file.writeAll(part)
        } catch {
            let place = "\(name): writing the file"
            throw (error as? Errno).map { PictureError(.writeFailed, place, $0) }
                ?? PictureError(.writeFailed, "\(place): \(error)")
        }
    }

    /// The SHA-256 of all that has been written, hexadecimal.
    var sha256: String { digest.hex() }
}
