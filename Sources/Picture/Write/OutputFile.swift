import DarkroomCore
import SystemPackage

/// The result of a writer.
package struct WrittenPicture: Sendable, Equatable {
    package var bytes: Int
    /// Hexadecimal.
    package var sha256: String
    /// The items of the given colour information that were written.
    package var items: Set<PictureColour.Item>
    /// What is dropped because of the program that writes the format.
    package var remarks: [String] = []
    /// nil if the quality was given.
    package var chosen: ChosenQuality?
}

/// A picture's file while it is written. Every write is checked, and the bytes are counted and hashed. Small parts
/// can be written together, so that a small PNG is one write.
struct OutputFile: ~Copyable {
    /// The number of bytes so far.
    private(set) var bytes = 0
    /// Parts that are not in the file yet.
    private var pending: [UInt8] = []
    private var digest = SHA256Digest()
    private let file: FileDescriptor
    private let name: String

    /// - Parameters:
    ///   - file: written from the current offset on. It is neither synced nor closed.
    ///   - name: the name of the file in messages.
    init(_ file: FileDescriptor, name: String) {
        self.file = file
        self.name = name
    }

    /// In bytes. A part of this size is written by itself.
    static let piece = 64 << 10

    /// Writes a part at once.
    mutating func write(_ part: UnsafeRawBufferPointer) throws(PictureError) {
        try flush()
        count(part)
        try put(part)
    }

    /// Writes a part, at the latest in `flush`.
    mutating func add(_ part: UnsafeRawBufferPointer) throws(PictureError) {
        guard part.count < Self.piece else { return try write(part) }
        if pending.count + part.count > Self.piece { try flush() }
        count(part)
        pending.append(contentsOf: part)
    }

    /// Writes the parts that are not in the file yet. Call this at the end.
    mutating func flush() throws(PictureError) {
        guard !pending.isEmpty else { return }
        defer { pending.removeAll(keepingCapacity: true) }
        try pending.withUnsafeBufferPointer { bytes throws(PictureError) in
            try put(UnsafeRawBufferPointer(bytes))
        }
    }

    private mutating func count(_ part: UnsafeRawBufferPointer) {
        digest.update(part)
        bytes += part.count
    }

    private func put(_ part: UnsafeRawBufferPointer) throws(PictureError) {
        do {
            _ = try file.writeAll(part)
        } catch {
            throw .writeFailed("\(name): writing the file", error)
        }
    }

    /// The SHA-256 of all bytes, in hexadecimal.
    var sha256: String { digest.hex() }
}
