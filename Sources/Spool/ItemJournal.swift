import DarkroomCore
import Foundation
import SystemPackage

/// One line of a batch's journal.
package enum JournalRecord: Sendable, Equatable {
    /// The image with this index has ended as the status says. The last record of an image counts.
    ///
    /// For a filtered image the record is a decision written ahead: its output lies complete under
    /// `active/ID/output-INDEX`, or already under its own name in the outbox. Whoever reads the journal
    /// finishes the rename.
    ///
    /// The status of an image in a batch that was taken up again may also say `new`: it is to be done again,
    /// and has had so many attempts.
    case ended(index: Int, ImageStatus)
    /// Someone cancelled the batch; so an older version wrote it.
    case cancelled
    /// A control file gave the batch a command.
    case commanded(ControlRecord)
    /// The batch had finished and is done again in part; the first record of such a journal.
    case reopened(Reopened)
    /// The process died while it filtered the image with this index, the how-manieth time and why. A
    /// record with the number of another one is the same crash.
    case crashed(index: Int, number: Int, CrashCause)
}

/// `active/ID/journal`: which of a batch's images have ended, and how. A restart does again only what is
/// not in it (Exim's journal of finished recipients is the model).
///
/// One JSON object a line, appended and synced in groups. A torn line is one that was never acknowledged; it
/// is passed over.
package enum ItemJournal {
    package static let fileName: FileName = "journal"

    /// Appends records to the journal in the batch's folder and, with `durably`, waits for the disk.
    package static func append(
        _ records: [JournalRecord], in folder: Directory, durably: Bool
    ) throws(FileError) {
        let encoder = encoder
        var bytes: [UInt8] = []
        for record in records { encode(record, encoder, onto: &bytes) }
        let file = try folder.append(to: fileName)
        let path = folder.path(of: fileName)
        let length = try file.length(path: path)
        // Half a line may be left of an append that failed, if it could not be taken back then either.
        let last = length > 0 ? try file.byte(at: length - 1, path: path) : nil
        if let last, last != UInt8(ascii: "\n") { bytes.insert(UInt8(ascii: "\n"), at: 0) }
        FaultPoint.publishJournalTorn.pass {
            // All but the newline and a little before it.
            try? file.write(bytes.dropLast(4), path: path)
        }
        do {
            try file.write(bytes, path: path)
        } catch {
            // A full disk may have taken half a line. Should this fail, the next append begins a line of its own.
            try? file.truncate(to: length, path: path)
            throw error
        }
        FaultPoint.publishJournalWritten.pass()
        if durably {
            try file.sync(path: path)
            // The first lines are no use in a file whose name is lost.
            if length == 0 { try folder.sync() }
        }
        FaultPoint.publishJournalSynced.pass()
        try file.close(path: path)
    }

    /// Writes a journal where there is none, piece by piece, for the records of 100,000 images take a good deal of
    /// memory together.
    static func begin(
        in folder: Directory, with records: some Sequence<JournalRecord>, durably: Bool
    ) throws(FileError) {
        let encoder = encoder
        try folder.write(to: fileName, durably: durably) { write throws(FileError) in
            var bytes: [UInt8] = []
            for record in records {
                encode(record, encoder, onto: &bytes)
                guard bytes.count >= piece else { continue }
                try write(bytes)
                bytes.removeAll(keepingCapacity: true)
            }
            try write(bytes)
        }
    }

    /// How much of a journal is written at once, in bytes; longer by less than a line.
    private static let piece = 64 << 10

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return encoder
    }

    private static func encode(
        _ record: JournalRecord, _ encoder: JSONEncoder, onto bytes: inout [UInt8]
    ) {
        // Plain values of strings and integers: there is nothing that could fail to encode.
        guard let line = try? encoder.encode(record) else { return }
        bytes.append(contentsOf: line)
        bytes.append(UInt8(ascii: "\n"))
    }

    /// The records in the order they were written; none where there is no journal.
    package static func read(in folder: Directory) throws(FileError) -> [JournalRecord] {
        var records: [JournalRecord] = []
        try read(in: folder) { records.append($0) }
        return records
    }

    /// Hands on the records in the order they were written, one by one: those of 100,000 images take a good
    /// deal of memory together.
    static func read(
        in folder: Directory, _ take: (JournalRecord) throws(FileError) -> Void
    ) throws(FileError) {
        let file: Descriptor
        do {
            file = try folder.open(fileName)
        } catch  where error.errno == .noSuchFileOrDirectory {
            return
        }
        let decoder = JSONDecoder()
        try file.readLines(path: folder.path(of: fileName)) { line throws(FileError) in
            if let record = try? decoder.decode(JournalRecord.self, from: Data(line)) {
                try take(record)
            }
        }
    }

    /// The first record, without reading the rest; nil where there is none that is whole.
    package static func first(in folder: Directory) throws(FileError) -> JournalRecord? {
        let bytes: [UInt8]
        do {
            bytes = try folder.read(fileName, upTo: 64 << 10)
        } catch  where error.errno == .noSuchFileOrDirectory {
            return nil
        }
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        return try? JSONDecoder().decode(JournalRecord.self, from: Data(bytes[..<end]))
    }

    /// Cuts off a torn last line, so that what is appended next begins a line of its own.
    package static func mend(in folder: Directory) throws(FileError) {
        let file: Descriptor
        do {
            file = try folder.open(fileName)
        } catch  where error.errno == .noSuchFileOrDirectory {
            return
        }
        let path = folder.path(of: fileName)
        let length = try file.length(path: path)
        guard length > 0, try file.byte(at: length - 1, path: path) != UInt8(ascii: "\n")
        else { return }
        let bytes = try file.readAll(upTo: .max - 1, path: path)
        let whole = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let name: FileName = "journal.new"
        try folder.write(Array(bytes[..<whole]), to: name, replacing: true, durably: true)
        FaultPoint.recoveryJournalWritten.pass()
        try folder.rename(name, to: folder, as: fileName, replacing: true)
        FaultPoint.recoveryJournalMended.pass()
        // Else a power cut might bring the old file back, without what is appended to this one.
        try folder.sync()
    }
}

extension JournalRecord: Codable {
    private enum CodingKeys: String, CodingKey {
        case image, status, cancelled, reopened, crash, cause
        case commanded = "steered"
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let number = try container.decodeIfPresent(Int.self, forKey: .crash) {
            self = .crashed(
                index: try container.decode(Int.self, forKey: .image), number: number,
                try container.decode(CrashCause.self, forKey: .cause))
        } else if let index = try container.decodeIfPresent(Int.self, forKey: .image) {
            self = .ended(
                index: index, try container.decode(ImageStatus.self, forKey: .status))
        } else if let command = try container.decodeIfPresent(
            ControlRecord.self, forKey: .commanded)
        {
            self = .commanded(command)
        } else if let reopened = try container.decodeIfPresent(Reopened.self, forKey: .reopened) {
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
