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
    /// The CRC-32 of all bytes.
    private(set) var crc32: UInt32 = 0
    /// The number of bytes that an earlier attempt has left.
    private(set) var resumedFrom: Int64 = 0

    init() {}

    /// The body that an earlier attempt has left in `output`; nil if it is not there any more.
    init?(of partial: PartialBody, in output: TransferOutput) {
        let wanted = min(Int(partial.bytes), TransferReport.prefixLength)
        var prefix = [UInt8](repeating: 0, count: wanted)
        var last: UInt8 = 0
        guard partial.bytes > 0,
            pread(output.descriptor.number, &prefix, wanted, 0) == wanted,
            pread(output.descriptor.number, &last, 1, off_t(partial.bytes - 1)) == 1
        else { return nil }
        self.prefix = prefix
        bytes = partial.bytes
        crc32 = partial.crc32
        resumedFrom = partial.bytes
    }

    /// Appends a piece to the output.
    mutating func take(
        _ piece: UnsafeRawBufferPointer, output: TransferOutput
    ) throws(Errno) {
        try Self.write(piece, to: output.descriptor.number, at: bytes)
        if prefix.count < TransferReport.prefixLength {
            prefix += piece.prefix(TransferReport.prefixLength - prefix.count)
        }
        crc32 = darkroom_crc32(
            crc32, piece.baseAddress?.assumingMemoryBound(to: UInt8.self), piece.count)
        bytes += Int64(piece.count)
    }

    /// Begins again with an empty output.
    mutating func clear(_ output: TransferOutput) throws(Errno) {
        if bytes > 0 {
            _ = try retryingInterrupts { ftruncate(output.descriptor.number, 0) }
        }
        self = ArrivingBody()
    }

    private static func write(
        _ piece: UnsafeRawBufferPointer, to descriptor: CInt, at offset: Int64
    ) throws(Errno) {
        var rest = piece[...]
        while !rest.isEmpty {
            let buffer = UnsafeRawBufferPointer(rebasing: rest)
            let place = off_t(offset) + off_t(piece.count - rest.count)
            let written = try retryingInterrupts {
                pwrite(descriptor, buffer.baseAddress, buffer.count, place)
            }
            // This never happens with a file. An endless loop would block all other transfers.
            if written == 0 { throw .ioError }
            rest = rest.dropFirst(written)
        }
    }
}
