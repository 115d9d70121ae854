import DarkroomCore

/// One line of a batch's journal (`ItemJournal`), for example:
///
///     {"commanded":{"action":"hold","file":"…","time":"2026-11-30T08:00:00.000Z","uid":1000}}
///     {"image":3,"status":{"attempts":1,…,"name":"beach","state":"failed"}}
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
    /// The members of all kinds of records.
    private struct Form: Codable {
        var image: Int?
        var status: ImageStatus?
        var delivering: UndeliveredImage?
        var original: String?
        var moving: OriginalPromise?
        var cancelled: Bool?
        var commanded: ControlRecord?
        var reopened: ReopenedRecord?
        var crash: Int?
        var cause: CrashCause?
    }

    package init(from decoder: any Decoder) throws {
        let form = try Form(from: decoder)
        let fault = DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath, debugDescription: "no record of a journal"))
        if let number = form.crash {
            guard let index = form.image, let cause = form.cause else { throw fault }
            self = .crashed(index: index, number: number, cause)
        } else if let image = form.delivering {
            guard let index = form.image else { throw fault }
            self = .delivering(index: index, image)
        } else if let source = form.original {
            self = .moving(source: source, form.moving)
        } else if let index = form.image {
            guard let status = form.status else { throw fault }
            self = .ended(index: index, status)
        } else if let command = form.commanded {
            self = .commanded(command)
        } else if let reopened = form.reopened {
            self = .reopened(reopened)
        } else if form.cancelled != nil {
            self = .cancelled
        } else {
            throw fault
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var form = Form()
        switch self {
        case .ended(let index, let status): (form.image, form.status) = (index, status)
        case .delivering(let index, let image): (form.image, form.delivering) = (index, image)
        case .moving(let source, let promise): (form.original, form.moving) = (source, promise)
        case .cancelled: form.cancelled = true
        case .commanded(let command): form.commanded = command
        case .reopened(let reopened): form.reopened = reopened
        case .crashed(let index, let number, let cause):
            (form.image, form.crash, form.cause) = (index, number, cause)
        }
        try form.encode(to: encoder)
    }
}
