import DarkroomCore
import SystemPackage

/// The file of a picture that a codec program encodes. Its bytes may be said again at an earlier place, as the header of
/// a TIFF, when the place of its directory is known. So the digest is calculated of the bytes in their order while they
/// come in order, and of the file at the end otherwise.
final class CodecFile {
    /// The number of bytes so far.
    private(set) var bytes = 0
    private let file: FileDescriptor
    private let name: String
    /// The place of the first byte.
    private let start: Int64
    /// How many bytes may come, with those that are said again.
    private let most: Int
    private var received = 0
    /// The memory of the child may change after it was looked at; what is written is this.
    private let copy: FilterBuffer<UInt8>
    private var digest = SHA256Digest()
    private var isInOrder = true

    /// - Parameters:
    ///   - file: written from the current offset on, and read.
    ///   - piece: how many bytes may come at once.
    init(_ file: FileDescriptor, name: String, most: Int, piece: Int) throws(PictureError) {
        self.file = file
        self.name = name
        self.most = most
        copy = try FilterBuffer(count: piece)
        do {
            start = try file.seek(offset: 0, from: .current)
        } catch {
            throw .writeFailed("\(name): writing the file", error)
        }
    }

    /// Writes bytes at a place in the file.
    ///
    /// - Returns: false if the place or the number makes no sense.
    func write(_ part: UnsafeRawBufferPointer, at place: Int) throws(PictureError) -> Bool {
        received += part.count
        guard (0...bytes).contains(place), received <= most, part.count <= copy.count else {
            return false
        }
        let copied = UnsafeMutableRawBufferPointer(start: copy.start, count: part.count)
        copied.copyMemory(from: part)
        if place < bytes { isInOrder = false }
        if isInOrder { digest.update(UnsafeRawBufferPointer(copied)) }
        do {
            _ = try file.writeAll(
                toAbsoluteOffset: start + Int64(place), UnsafeRawBufferPointer(copied))
        } catch {
            throw .writeFailed("\(name): writing the file", error)
        }
        bytes = max(bytes, place + part.count)
        return true
    }

    /// Puts the offset at the end.
    ///
    /// - Parameter checkpoint: called from time to time.
    /// - Returns: the SHA-256 of all bytes, in hexadecimal.
    func finish(_ checkpoint: () throws(PictureError) -> Void) throws(PictureError) -> String {
        if !isInOrder { try read(checkpoint) }
        do {
            try file.seek(offset: start + Int64(bytes), from: .start)
        } catch {
            throw .writeFailed("\(name): writing the file", error)
        }
        return digest.hex()
    }

    private func read(_ checkpoint: () throws(PictureError) -> Void) throws(PictureError) {
        digest = SHA256Digest()
        var place = 0
        while place < bytes {
            try checkpoint()
            let piece = UnsafeMutableRawBufferPointer(
                start: copy.start, count: min(copy.count, bytes - place))
            let count: Int
            do {
                count = try file.read(fromAbsoluteOffset: start + Int64(place), into: piece)
            } catch {
                throw .writeFailed("\(name): reading the file for its digest", error)
            }
            guard count > 0 else {
                throw PictureError(
                    .writeFailed, "\(name): reading the file for its digest: it became shorter",
                    isTransient: true)
            }
            digest.update(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(piece)[..<count]))
            place += count
        }
    }
}
