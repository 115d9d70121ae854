import CDarkroomShims
import DarkroomCore

/// Undoes the content coding of a body, piece by piece.
///
/// libcurl could do this, too, but it takes the end of the first gzip file for the end of the body, and does not notice
/// if the end is missing.
final class ContentDecoder {
    private let coding: OpaquePointer

    /// - Parameter name: one of `ContentCoding.readable`. nil if there is no memory.
    init?(_ name: ByteString) {
        guard let coding = darkroom_coding_new(name != "deflate") else { return nil }
        self.coding = coding
    }

    deinit { darkroom_coding_free(coding) }

    /// Whether the body may end here.
    var isWhole: Bool { darkroom_coding_is_whole(coding) }

    enum Outcome: Sendable, Equatable {
        case goesOn
        /// The receiver of the decoded bytes wants no more.
        case stopped
        case damaged
        /// There are other bytes after the end of the coded data.
        case continues
        case noMemory
    }

    /// Decodes the next piece of the body.
    ///
    /// - Parameter receive: gets the decoded bytes in pieces of at most 64 KiB; returns whether it wants more.
    func decode(
        _ piece: UnsafeRawBufferPointer, receive: (UnsafeRawBufferPointer) -> Bool
    ) -> Outcome {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64 << 10) { room in
            var rest = piece[...]
            while true {
                let input = UnsafeRawBufferPointer(rebasing: rest)
                var (taken, made) = (0, 0)
                let result = darkroom_coding_run(
                    coding, input.baseAddress?.assumingMemoryBound(to: UInt8.self), input.count,
                    &taken, room.baseAddress, room.count, &made)
                rest = rest.dropFirst(taken)
                let output = UnsafeRawBufferPointer(start: room.baseAddress, count: made)
                if made > 0, !receive(output) { return .stopped }
                switch result {
                case DARKROOM_CODING_MORE: return .goesOn
                case DARKROOM_CODING_ROOM: continue
                case DARKROOM_CODING_SURPLUS: return .continues
                case DARKROOM_CODING_MEMORY: return .noMemory
                default: return .damaged
                }
            }
        }
    }
}
