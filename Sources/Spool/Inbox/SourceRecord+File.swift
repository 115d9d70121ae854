import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import SystemPackage

/// The file `sources.json`: what the patterns and folders of a manifest meant when it was taken, and how many pages its
/// sources had.
///
/// It is written to `active/ID` before the copy of the manifest, and copied into the receipt. From then on it counts,
/// and no folder is looked into again: a restart reads it in `active/ID`, a retry in the outbox. The shards of a run share
/// one.
extension SourceRecord {
    private struct File: VersionedFile, Encodable {
        var schemaVersion = 1
        let sources: [FoundSources]
        var pages: [FoundPages]?
    }

    package func encoded() -> [UInt8] { JSONFile.text(of: File(sources: patterns, pages: pages)) }

    /// What a folder has; nil without a readable file.
    package static func read(in folder: Directory) throws(FileError) -> SourceRecord? {
        let bytes = try ignoringMissing(folder.read(BatchFile.sources))
        return bytes.flatMap { SourceRecord(decoding: $0) }
    }

    /// nil if it is not what Darkroom writes.
    package init?(decoding bytes: [UInt8]) {
        guard let file = File(decoding: bytes), file.pages?.allSatisfy(\.isPossible) ?? true
        else { return nil }
        self.init(file.sources, pages: file.pages)
    }

    /// What the answer of a batch has. Whoever may write into the folder of a run could name any file of its user there, so
    /// such a list counts only if each file is in the folder of its pattern.
    static func read(inAnswerOf folders: BatchFolders) throws(FileError) -> SourceRecord? {
        let found = try read(in: folders.outbox())
        guard folders.spool.run != nil, let found else { return found }
        return found.patterns.allSatisfy { $0.stranger == nil } ? found : nil
    }
}
