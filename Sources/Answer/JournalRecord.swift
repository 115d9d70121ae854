import DarkroomCore

/// One line of a batch's journal.
package enum JournalRecord: Sendable, Equatable {
    /// The image with this index has ended with this status. The last record of an image counts.
    ///
    /// The record of a filtered image is written before its output is renamed: the output is complete in
    /// `active/ID/output-INDEX`, or already in the outbox under its own name. Code that reads the journal completes the
    /// rename.
    ///
    /// In a reopened batch, the status may also be `new`: the image must be repeated, and it has had this number of
    /// attempts.
    case ended(index: Int, ImageStatus)
    /// The image with this index is filtered, and its output is to be delivered: `active/ID/output-INDEX` is complete.
    /// It has not ended. The last record of an image counts.
    case delivering(index: Int, UndeliveredImage)
    /// The original of the picture with this source moves next as this promises; nil takes the promise back. The last
    /// record of a picture counts.
    case moving(source: String, OriginalPromise?)
    /// Someone cancelled the batch; an older version wrote this record.
    case cancelled
    /// A control file gave a command to the batch.
    case commanded(ControlRecord)
    /// The batch had finished and a part of it is repeated; the first record of such a journal.
    case reopened(ReopenedRecord)
    /// The process ended while it filtered the image with this index; the number of the crash and its cause. Two
    /// records with the same number mean the same crash.
    case crashed(index: Int, number: Int, CrashCause)
}

extension JournalRecord: Codable {
    private enum CodingKeys: String, CodingKey {
        case image, status, delivering, original, moving, cancelled, commanded, reopened, crash,
            cause
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let number = try container.decodeIfPresent(Int.self, forKey: .crash) {
            self = .crashed(
                index: try container.decode(Int.self, forKey: .image), number: number,
                try container.decode(CrashCause.self, forKey: .cause))
        } else if let image = try container.decodeIfPresent(
            UndeliveredImage.self, forKey: .delivering)
        {
            self = .delivering(index: try container.decode(Int.self, forKey: .image), image)
        } else if let source = try container.decodeIfPresent(String.self, forKey: .original) {
            self = .moving(
                source: source,
                try container.decodeIfPresent(OriginalPromise.self, forKey: .moving))
        } else if let index = try container.decodeIfPresent(Int.self, forKey: .image) {
            self = .ended(
                index: index, try container.decode(ImageStatus.self, forKey: .status))
        } else if let command = try container.decodeIfPresent(
            ControlRecord.self, forKey: .commanded)
        {
            self = .commanded(command)
        } else if let reopened = try container.decodeIfPresent(
            ReopenedRecord.self, forKey: .reopened)
        {
            self = .reopened(reopened)
        } else {
            _ = try container.decode(Bool.self, forKey: .cancelled)
            self = .cancelled
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .ended(let index, let status):
            try container.encode(index, forKey: .image)
            try container.encode(status, forKey: .status)
        case .delivering(let index, let image):
            try container.encode(index, forKey: .image)
            try container.encode(image, forKey: .delivering)
        case .moving(let source, let promise):
            try container.encode(source, forKey: .original)
            try container.encodeIfPresent(promise, forKey: .moving)
        case .cancelled:
            try container.encode(true, forKey: .cancelled)
        case .commanded(let command):
            try container.encode(command, forKey: .commanded)
        case .reopened(let reopened):
            try container.encode(reopened, forKey: .reopened)
        case .crashed(let index, let number, let cause):
            try container.encode(index, forKey: .image)
            try container.encode(number, forKey: .crash)
            try container.encode(cause, forKey: .cause)
        }
    }
}
