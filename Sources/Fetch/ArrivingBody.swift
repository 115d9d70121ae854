import CDarkroomDeflate
import DarkroomCore
import Glibc
import SystemPackage

/// A body that is arriving: the part in the output, and what is known about it.
struct ArrivingBody {
    /// The number of bytes in the output, including those of an earlier attempt.
    private(set) var bytes: Int64 = 0
    /// The first bytes, at most `TransferReport.prefixLength`.
    private(set) var prefix: [UInt8] = []
    private(set) var crc32: UInt32 = 0
    /// The number of bytes that an earlier attempt has left.
    private(set) var resumedFrom: Int64 = 0

    init() {}

    /// The body that an earlier attempt has left in `output`; nil if it is not there any more.
    init?(of partial: PartialBody, in output: TransferOutput) {
        let wanted = min(Int(partial.bytes), TransferReport.prefixLength)
        guard partial.bytes > 0,
            let prefix = try? output.descriptor.read(wanted, at: 0, path: output.name),
            prefix.count == wanted,
            (try? output.descriptor.byte(at: Int(partial.bytes) - 1, path: output.name)) != nil
        else { return nil }
        self.prefix = prefix
        bytes = partial.bytes
        crc32 = partial.crc32
        resumedFrom = partial.bytes
    }

    mutating func take(_ piece: UnsafeRawBufferPointer, output: TransferOutput) throws(Errno) {
        try output.descriptor.write(piece, at: Int(bytes))
        if prefix.count < TransferReport.prefixLength {
            prefix += piece.prefix(TransferReport.prefixLength - prefix.count)
        }
        crc32 = darkroom_crc32(
            crc32, piece.baseAddress?.assumingMemoryBound(to: UInt8.self), piece.count)
        bytes += Int64(piece.count)
    }

    mutating func clear(_ output: TransferOutput) throws(Errno) {
        if bytes > 0 { _ = try retryingInterrupts { ftruncate(output.descriptor.number, 0) } }
        self = ArrivingBody()
    }
}
