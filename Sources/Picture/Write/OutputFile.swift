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
            let cause = error as? Errno
            let fault = cause?.storageFault
            throw PictureError(
                .writeFailed, "\(name): writing the file: \(cause.map { "\($0)" } ?? "\(error)")",
                isTransient: fault == .full || fault == .scarce, fault: fault)
        }
    }

    /// The SHA-256 of all that has been written, hexadecimal.
    var sha256: String { digest.hex() }
}
