import DarkroomAnswer
import DarkroomCore
import Glibc
import SystemPackage

extension Descriptor {
    /// The next bytes, at most `Descriptor.piece` of them; none at the end of the file.
    package func readPiece(upTo most: Int = .max, path: String) throws(FileError) -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: min(Self.piece, most)) {
            buffer, count throws(FileError) in
            count = try retryingInterrupts(.read, path) {
                Glibc.read(number, buffer.baseAddress, buffer.count)
            }
        }
    }

    /// Copies the first `length` bytes of this file into an empty one; fewer if `stop` is set meanwhile.
    ///
    /// Whoever has a file open may make it longer meanwhile, by a hole of any size. So nothing is read beyond the length
    /// that it had, and holes become holes.
    ///
    /// - Parameter place: the path of the copy, which an error has that is not about this file.
    /// - Returns: the SHA-256 of what was copied, in hexadecimal.
    package func copySparsely(
        upTo length: Int, path: String, to copy: borrowing Descriptor, _ place: String,
        stop: CancellationFlag
    ) throws(FileError) -> String {
        var digest = SHA256Digest()
        var (done, written) = (0, 0)
        while done < length, !stop.isSet {
            let piece = try readPiece(upTo: length - done, path: path)
            if piece.isEmpty { break }
            digest.update(piece)
            let end = try copy.write(sparsely: piece, at: done, path: place)
            if end > done { written = end }
            done += piece.count
        }
        if written < done { try copy.truncate(to: done, path: place) }
        return digest.hex()
    }
}
