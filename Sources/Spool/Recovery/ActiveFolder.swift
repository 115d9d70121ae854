import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import Glibc

/// The content of `active`: the folders of batches, and everything else.
package struct ActiveFolder {
    private(set) var ids: [String] = []
    /// The IDs whose folders a claim has created but not filled.
    package private(set) var empty: [String] = []
    /// Folders of Darkroom that were incomplete when a daemon ended.
    package private(set) var unfinished: [FileName] = []
    /// Entries that Darkroom has not created, and what they are.
    package private(set) var foreign: [(name: FileName, what: String)] = []

    package init(of spool: Spool) throws(FileError) {
        for name in try spool.active.names() {
            guard let information = try spool.active.information(of: name) else { continue }
            if !information.isFolder {
                foreign.append((name, "it is not a folder, so it does not belong to Darkroom"))
            } else if name.bytes.starts(with: Reopening.prefix.utf8) {
                unfinished.append(name)
            } else if Expired.isOne(name) || EndedFolders.isOne(name) || name == Spool.controlFolder
            {
                // The housekeeper removes expired and ended folders, which may be large; the intake handles control
                // files.
            } else if name.bytes.first == UInt8(ascii: ".") {
                foreign.append(
                    (name, "IDs do not begin with a dot, so it does not belong to Darkroom"))
            } else if let id = String(validating: name.bytes, as: UTF8.self) {
                try add(id, spool)
            } else {
                foreign.append((name, "IDs are UTF-8, so it does not belong to Darkroom"))
            }
        }
        ids.sort { ByteString($0) < ByteString($1) }
    }

    private mutating func add(_ id: String, _ spool: Spool) throws(FileError) {
        let files: [FileName]
        do {
            files = try Directory(FileName(id), in: spool.active).names()
        } catch  where error.storageFailure == nil {
            // A problem of one folder must not prevent the start.
            return foreign.append((FileName(id), "it cannot be used: \(error.message)"))
        }
        // A folder with a manifest is a batch, whatever else it contains. So is a batch that waits for its last status.
        if files.contains(where: Self.isManifest) { return ids.append(id) }
        if files.contains(where: SubmittedFile.isPlace), try Self.holdsSubmitted(id, spool) {
            return ids.append(id)
        }
        let isAnswered = try BatchFolders(spool: spool, id: id).isAnswered()
        if let stranger = files.first(where: { !Self.isScrap($0) }) {
            if isAnswered, try Self.isUnfinished(id, spool) { return ids.append(id) }
            let what =
                "it contains no manifest, but \(stranger.text), which does not belong to Darkroom"
            return foreign.append((FileName(id), what))
        }
        ids.append(id)
        if !isAnswered { empty.append(id) }
    }

    /// Whether the claim has already moved the file.
    private static func holdsSubmitted(_ id: String, _ spool: Spool) throws(FileError) -> Bool {
        do {
            return try SubmittedFile(in: BatchFolders(spool: spool, id: id).active()) != nil
        } catch  where error.storageFailure == nil {
            return false
        }
    }

    private static func isUnfinished(_ id: String, _ spool: Spool) throws(FileError) -> Bool {
        let folders = BatchFolders(spool: spool, id: id)
        do {
            return try Status(frameIn: folders.outbox()).map { !$0.state.isFinal } ?? false
        } catch  where error.storageFailure == nil {
            return false
        }
    }

    /// The manifest, or the receipt that contains a rejected one.
    private static func isManifest(_ name: FileName) -> Bool {
        name == BatchFile.receipt || ManifestFormat.allCases.map(BatchFile.manifest).contains(name)
    }

    /// Other names that Darkroom uses in `active/ID`.
    private static func isScrap(_ name: FileName) -> Bool {
        BatchFile.isScratch(name) || SubmittedFile.isPlace(name) || Directory.isRemainder(name)
            || [
                BatchFile.newStatus, BatchFile.newProgress, BatchFile.sources, ItemJournal.fileName,
                "journal.new", BatchFile.picturesGone, BatchFile.newManifest, BatchFile.newSources,
                BatchFile.page,
                BatchFile.formerPage, BatchFile.pageAttempts, BatchFile.previews,
            ].contains(name)
    }
}
