import DarkroomAnswer
import DarkroomCore
import Glibc
import SystemPackage

extension Descriptor {
    /// The next bytes; empty at the end of the file.
    package func readPiece(upTo most: Int, path: String) throws(FileError) -> [UInt8] {
        do throws(Errno) {
            return try [UInt8](unsafeUninitializedCapacity: min(Self.piece, most)) {
                buffer, count throws(Errno) in
                count = try retryingInterrupts {
                    Glibc.read(number, buffer.baseAddress, buffer.count)
                }
            }
        } catch {
            throw FileError(.read, path, error)
        }
    }
}
