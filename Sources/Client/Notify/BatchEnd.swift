import DarkroomAnswer
import DarkroomCore

/// The end of a batch, as the files of its answer show it. A batch that is repeated ends once more.
package struct BatchEnd: Sendable, Equatable {
    /// Distinguishes the ends of one ID: those before and after a retry, and those of batches that had the same name.
    package struct Key: Sendable, Equatable, Codable {
        /// When the batch ended, in the format of the status.
        package var finished: String
        package var retries: Int?
        /// The submitted file.
        package var identity: String?
    }

    package let id: String
    package let key: Key
    package let progress: BatchProgress

    /// nil if the batch has not ended.
    package init?(_ progress: BatchProgress) {
        guard progress.state.isFinal else { return nil }
        id = progress.id
        key = Key(
            finished: progress.times.finished ?? progress.written, retries: progress.retries,
            identity: progress.identity)
        self.progress = progress
    }

    /// A text that is the same for every call for this end, and for no other end.
    package var identifier: String {
        let text = "\(id)\0\(key.finished)\0\(key.retries ?? 0)\0\(key.identity ?? "")"
        return "end_" + SHA256Digest.hex(of: text.utf8).prefix(32)
    }

    /// The order of calls: by the time of the end, then by the bytes of the ID.
    package static func isBefore(_ a: BatchEnd, _ b: BatchEnd) -> Bool {
        let times = (ByteString(a.key.finished), ByteString(b.key.finished))
        return times.0 == times.1 ? ByteString(a.id) < ByteString(b.id) : times.0 < times.1
    }
}
