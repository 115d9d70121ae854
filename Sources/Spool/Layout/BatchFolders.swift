import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import SystemPackage

/// The names of the files in a batch's two folders, `active/ID` and `outbox/ID`.
package enum BatchFile {
    package static let status = Status.fileName
    /// The status file before it is renamed into the outbox.
    package static let newStatus: FileName = "status.new"
    /// The sums of the status, see `BatchProgress`.
    package static let progress = BatchProgress.fileName
    /// The progress file before it is renamed into the outbox.
    static let newProgress: FileName = "progress.new"
    /// The folder of the receipt before it becomes `outbox/ID`.
    package static let receipt: FileName = "receipt"
    /// The copy of the manifest before it is renamed into the folder of a run.
    package static let newManifest: FileName = "manifest.new"
    package static let newSources: FileName = "sources.new"

    /// `sizes.json` before it is renamed into the outbox.
    static let newSizes: FileName = "sizes.new"

    /// What the patterns of the manifest mean, in both folders; only for a manifest with patterns.
    package static let sources: FileName = "sources.json"

    /// The folder of the pictures which came with the manifest, in the outbox, if they are kept.
    package static let originals = FileName(KeptPictures.folderName)

    /// Shows that the pictures which came with the manifest are gone; the batch was reopened.
    static let picturesGone: FileName = "pictures-gone"

    /// The small copies for the page while the batch is in work; see `PreviewLog`.
    package static let previews: FileName = "previews"
    /// The page of the batch, in both folders; see `AnswerPage`.
    package static let page: FileName = "page"
    /// An earlier page that was taken out of the outbox.
    static let formerPage: FileName = "page.old"
    /// One byte for each time that the page was begun.
    static let pageAttempts: FileName = "page.attempts"

    package static func manifest(_ format: ManifestFormat) -> FileName {
        FileName("manifest.\(format.rawValue)")
    }

    /// A scratch file for downloaded bytes.
    package static func source(_ slot: Int) -> FileName { "source-\(slot)" }

    /// The output of the image with this index before it is published.
    package static func output(_ index: Int) -> FileName { "output-\(index)" }

    /// The output of an image that is filtered again only for its pixels; it is not published.
    package static func outputAgain(_ index: Int) -> FileName { "again-\(index)" }

    /// The pixels of the image with this index, for other images that are made from it; see `HandOverTable`.
    package static func pixels(_ index: Int) -> FileName { "pixels-\(index)" }

    package static func newPixels(_ index: Int) -> FileName { "pixels-\(index).new" }

    /// The index of the image with these pixels; nil for any other name.
    static func index(ofPixels name: FileName) -> Int? {
        guard name.text.hasPrefix("pixels-"), let index = Int(name.text.dropFirst("pixels-".count))
        else { return nil }
        return pixels(index) == name ? index : nil
    }

    /// Whether files with this name contain downloaded bytes, or pictures that are not published.
    static func isScratch(_ name: FileName) -> Bool {
        ["source-", "output-", "again-", "pixels-"].contains { name.text.hasPrefix($0) }
    }
}

/// The folders of a batch in the spool. They are opened for each use, so that the number of open files does not grow
/// with the number of batches.
package struct BatchFolders: Sendable {
    package let spool: Spool
    package let id: String

    package init(spool: Spool, id: String) {
        self.spool = spool
        self.id = id
    }

    package func active() throws(FileError) -> Directory {
        try Directory(FileName(id), in: spool.active)
    }

    /// Removes the downloaded bytes of a batch that is not in work any more. What cannot be removed now is removed when
    /// the batch is read again, or together with its folder.
    package func dropDownloads() {
        guard let active = try? active(), let names = try? active.names() else { return }
        for name in names where name.text.hasPrefix("source-") { try? active.remove(name) }
    }

    /// The path of a file of `active/ID` from `active`.
    package func pathInActive(_ name: FileName) -> FileName { FileName(id) / name }

    /// The path of a file of the answer from `spool.outbox`, which is the answer itself in a run.
    func pathInOutbox(_ name: FileName) -> FileName {
        spool.run == nil ? FileName(id) / name : name
    }

    /// The part of the manifest that a run works on; nil for the whole.
    package var shard: Shard? { spool.run?.part?.shard }

    /// Gives the copy of the manifest that all shards share another name in `folder`, which only this shard has. A
    /// manifest may have 64 MiB, and there may be a thousand shards. If somebody has written into the shared copy, the
    /// other names show that too, so a name with another content is given anew.
    ///
    /// - Returns: false if there is no such copy with this content, or if the file system has no links. Then the caller
    ///   writes a copy.
    package func shareManifest(
        _ name: FileName, of bytes: [UInt8], in folder: Directory
    ) throws(FileError) -> Bool {
        guard let shared = spool.run?.part?.shared else { return false }
        if try folder.exists(name) {
            if try folder.holds(bytes, as: name) { return true }
            try folder.remove(name)
        }
        guard try shared.holds(bytes, as: name) else { return false }
        do {
            try shared.link(name, to: folder, as: name)
            return true
        } catch {
            return false
        }
    }

    /// What has become of the pictures that came with the manifest.
    package enum Pictures {
        case none
        case here(Directory, owner: UInt32)
        case gone
    }

    package func pictures() throws(FileError) -> Pictures {
        let active = try active()
        if let (folder, owner) = try SubmittedFile.inFolder(of: active)?.pictures() {
            return .here(folder, owner: owner)
        }
        // A crash may have come between their way into the answer and the last status.
        if let (folder, owner) = try originals() { return .here(folder, owner: owner) }
        return try active.exists(BatchFile.picturesGone) ? .gone : .none
    }

    /// The folder of the answer: `outbox/ID`, or that of a run.
    package func outbox() throws(FileError) -> Directory {
        if let run = spool.run { return run.answer }
        return try Directory(FileName(id), in: spool.outbox)
    }

    /// The folder of the outputs, which is the same for a daemon's batch.
    package func outputs() throws(FileError) -> Directory {
        if let run = spool.run { return run.outputs }
        return try outbox()
    }

    func isAnswered() throws(FileError) -> Bool {
        if let run = spool.run { return try run.answer.exists(BatchFile.status) }
        return try spool.outbox.exists(FileName(id))
    }

    /// Whether the folder of the answer contains a file, also if there is no such folder.
    func holdsAnswer(_ name: FileName) throws(FileError) -> Bool {
        try spool.outbox.exists(pathInOutbox(name))
    }

    /// Whether the folder of the outputs contains a file, also if there is no such folder.
    func holdsOutput(_ name: FileName) throws(FileError) -> Bool {
        if let run = spool.run { return try run.outputs.exists(name) }
        return try holdsAnswer(name)
    }

    /// The folder of the outputs, like `restoredOutbox()`.
    package func restoredOutputs() throws(FileError) -> Directory {
        if let run = spool.run { return run.outputs }
        return try restoredOutbox()
    }

    /// The folder of the answer. `outbox/ID` is created again if someone has removed it.
    func restoredOutbox() throws(FileError) -> Directory {
        do {
            return try outbox()
        } catch  where error.errno == .noSuchFileOrDirectory {
            do throws(FileError) {
                try spool.outbox.makeDirectory(FileName(id))
            } catch  where error.errno == .noSuchFileOrDirectory {
                // Nothing can be created in a folder that was removed, although it is still open.
                throw FileError(.lost, spool.outbox.path, error.errno)
            }
            return try outbox()
        }
    }
}
