import Foundation
import Glibc

/// One line of a batch's journal.
package enum JournalRecord: Sendable, Equatable {
    /// The image with this index has ended as the status says. The last record of an image counts.
    ///
    /// For a filtered image the record is a decision written ahead: its output lies complete under
    /// `active/ID/output-INDEX`, or already under its own name in the outbox. Whoever reads the journal
    /// finishes the rename.
    case ended(index: Int, ImageStatus)
    /// Someone cancelled the batch.
    case cancelled
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
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        var bytes: [UInt8] = []
        for record in records {
            // Plain values of strings and integers: there is nothing that could fail to encode.
            guard let line = try? encoder.encode(record) else { continue }
            bytes.append(contentsOf: line)
            bytes.append(UInt8(ascii: "\n"))
        }
        let file = try folder.append(to: fileName)
        let length = lseek(file.number, 0, SEEK_END)
        do {
            try file.write(bytes, path: folder.path(of: fileName))
        } catch {
            // A full disk may have taken half a line: what is appended next must begin its own.
            _ = ftruncate(file.number, length)
            throw error
        }
        if durably { try file.sync(path: folder.path(of: fileName)) }
    }

    /// The records in the order they were written; none where there is no journal.
    package static func read(in folder: Directory) throws(FileError) -> [JournalRecord] {
        let bytes: [UInt8]
        do {
            bytes = try folder.read(fileName)
        } catch  where error.errno == .noSuchFileOrDirectory {
            return []
        }
        let decoder = JSONDecoder()
        var records: [JournalRecord] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            if let record = try? decoder.decode(JournalRecord.self, from: Data(rest[..<end])) {
                records.append(record)
            }
            rest = rest[(end + 1)...]
        }
        return records
    }

    /// Cuts off a torn last line, so that what is appended next begins a line of its own.
    package static func mend(in folder: Directory) throws(FileError) {
        let bytes: [UInt8]
        do {
            bytes = try folder.read(fileName)
        } catch  where error.errno == .noSuchFileOrDirectory {
            return
        }
        guard let last = bytes.last, last != UInt8(ascii: "\n") else { return }
        let whole = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let name: FileName = "journal.new"
        try folder.write(Array(bytes[..<whole]), to: name, replacing: true, durably: true)
        try folder.rename(name, to: folder, as: fileName, replacing: true)
    }
}

extension JournalRecord: Codable {
    private enum CodingKeys: String, CodingKey {
        case image, status, cancelled
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let index = try container.decodeIfPresent(Int.self, forKey: .image) {
            self = .ended(
                index: index, try container.decode(ImageStatus.self, forKey: .status))
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
        }
    }
}
