import DarkroomAnswer
import DarkroomCore
import Foundation
import SystemPackage

/// `active/ID/journal`: the ended images of a batch, and their results. A restart repeats only images that are not in
/// it (the model is Exim's journal of finished recipients).
///
/// It has one JSON object per line. Lines are appended and synced in groups. An incomplete line was never confirmed and
/// is ignored.
package enum ItemJournal {
    package static let fileName: FileName = "journal"

    /// Appends records to the journal in the batch's folder and, with `durably`, waits until they are on the disk.
    package static func append(
        _ records: [JournalRecord], in folder: Directory, durably: Bool
    ) throws(FileError) {
        let path = folder.path(of: fileName)
        try append(records, to: folder.append(to: fileName), path, durably) {
            () throws(FileError) in try folder.sync()
        }
    }

    /// The same for a batch whose folder need not be open.
    package static func append(
        _ records: [JournalRecord], of folders: BatchFolders, durably: Bool
    ) throws(FileError) {
        let (active, name) = (folders.spool.active, folders.pathInActive(fileName))
        try append(records, to: active.append(to: name), active.path(of: name), durably) {
            () throws(FileError) in try folders.active().sync()
        }
    }

    private static func append(
        _ records: [JournalRecord], to file: consuming Descriptor, _ path: String, _ durably: Bool,
        syncFolder: () throws(FileError) -> Void
    ) throws(FileError) {
        let lines = JSONLines()
        var bytes: [UInt8] = []
        for record in records { append(record, lines, to: &bytes) }
        let isFirst = try file.append(lines: bytes, path: path, torn: .publishJournalTorn)
        FaultPoint.publishJournalWritten.pass()
        if durably {
            try file.sync(path: path)
            // The first lines are lost if the file's name is not on the disk.
            if isFirst { try syncFolder() }
        }
        FaultPoint.publishJournalSynced.pass()
        try file.close(path: path)
    }

    /// Waits until records that were not appended durably are on the disk.
    package static func sync(in folder: Directory) throws(FileError) {
        try folder.open(fileName).sync(path: folder.path(of: fileName))
        try folder.sync()
    }

    /// Writes a new journal.
    package static func begin(
        in folder: Directory, with records: some Sequence<JournalRecord>, durably: Bool
    ) throws(FileError) {
        let lines = JSONLines()
        try folder.writeLines(of: records, to: fileName, durably: durably) {
            append($0, lines, to: &$1)
        }
    }

    /// Writes the journal of a finished batch that begins again, with the present results of its images.
    package static func begin(
        in folder: Directory, reopening record: ReopenedRecord, _ images: [ImageStatus],
        durably: Bool
    ) throws(FileError) {
        let records = (-1..<images.count).lazy.map { index in
            index < 0 ? JournalRecord.reopened(record) : .ended(index: index, images[index])
        }
        try begin(in: folder, with: records, durably: durably)
    }

    private static func append(
        _ record: JournalRecord, _ lines: JSONLines, to bytes: inout [UInt8]
    ) {
        // The most frequent record, in the form of the others.
        if case .ended(let index, let status) = record {
            var writer = JSONWriter()
            writer.add("image", index)
            writer.add("status", status) { $1.write(&$0) }
            bytes += writer.text()
            return
        }
        lines.append(record, to: &bytes)
    }

    /// The records in their order; empty if there is no journal.
    package static func read(in folder: Directory) throws(FileError) -> [JournalRecord] {
        var records: [JournalRecord] = []
        try read(in: folder) { records.append($0) }
        return records
    }

    /// Passes on the records one by one, in their order, because those of 100,000 images together take much memory.
    static func read(
        in folder: Directory, _ take: (JournalRecord) throws(FileError) -> Void
    ) throws(FileError) {
        guard let file = try folder.openIfExists(fileName) else { return }
        let decoder = JSONDecoder()
        try file.readLines(path: folder.path(of: fileName)) { line throws(FileError) in
            if let record = try? decoder.decode(JournalRecord.self, from: Data(line)) {
                try take(record)
            }
        }
    }

    /// The first record, without reading the others; nil if there is no complete one.
    package static func first(in folder: Directory) throws(FileError) -> JournalRecord? {
        let bytes = try ignoringMissing(folder.read(fileName, upTo: 64 << 10))
        guard let bytes, let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        return try? JSONDecoder().decode(JournalRecord.self, from: Data(bytes[..<end]))
    }

    /// Removes an incomplete last line, so that the next append begins a new line.
    package static func mend(in folder: Directory) throws(FileError) {
        guard let file = try folder.openIfExists(fileName) else { return }
        let path = folder.path(of: fileName)
        let length = try file.length(path: path)
        guard length > 0, try file.byte(at: length - 1, path: path) != UInt8(ascii: "\n")
        else { return }
        let whole = try file.lastLine(before: length, path: path)
        let journal = try folder.append(to: fileName)
        try journal.truncate(to: whole, path: path)
        FaultPoint.recoveryJournalMended.pass()
        // Otherwise, after a power cut, the incomplete line could be back in the middle of later records.
        try journal.sync(path: path)
    }
}
