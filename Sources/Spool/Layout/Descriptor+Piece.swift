import DarkroomAnswer
import DarkroomCore
import Glibc
import SystemPackage

extension Descriptor {
    /// The next bytes; empty at the end of the file.
    package func readPiece(upTo most: Int, path: String) throws(FileError) -> [UInt8] {
        var failure: Errno?
        let piece = [UInt8](unsafeUninitializedCapacity: min(256 << 10, most)) { buffer, count in
            do throws(Errno) {
                count = try retryingInterrupts {
                    Glibc.read(number, buffer.baseAddress, buffer.count)
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw FileError(.read, path, failure) }
        return piece
    }
}
