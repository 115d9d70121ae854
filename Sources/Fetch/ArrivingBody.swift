import CDarkroomDeflate
import DarkroomCore
import Glibc
import SystemPackage

/// A body as it arrives: what there is of it in the output, and what is told of that.
struct ArrivingBody {
    /// How many bytes are in the output, those of an earlier attempt included.
    private(set) var bytes: Int64 = 0
    /// The first ones, `TransferReport.prefixLength` at most.
    private(set) var prefix: [UInt8] = []
    /// Of all of them.
    private(set) var crc32: UInt32 = 0
    /// How many of them an earlier attempt has left.
    private(set) var resumedFrom: Int64 = 0

    init() {}

    /// What an earlier attempt has left in `output`; nil if it is not there any more.
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

    /// Writes a piece behind what there is.
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

    /// Begins anew, with nothing in the output.
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
            // Never of a file; and never a reason to hold up every other transfer.
            if written == 0 { throw .ioError }
            rest = rest.dropFirst(written)
        }
    }
}
