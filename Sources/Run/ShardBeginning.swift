import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool

/// The beginning of a shard in a folder with former results: it takes those of its images for its own, as if it had ended
/// a run with them. Then it is run again, and compares (`RunFolder.renew`).
///
/// | step                                            | after a kill                                   |
/// |-------------------------------------------------|------------------------------------------------|
/// | the former statuses read                        | nothing was done                               |
/// | its `former.json`: files that it may replace    | the same again                                 |
/// | `status.new` written                            | written over                                   |
/// | renamed to `status.json`                        | the table of `RunFolder`: finished             |
///
/// This status names no manifest, so a merge does not take it for an answer.
struct ShardBeginning {
    let revision: RunRevision
    let outputs: Directory
    let shard: Shard
    let folders: BatchFolders
    let durably: Bool

    static let newStatus: FileName = "status.new"

    /// - Parameters:
    ///   - part: the manifest of this shard.
    ///   - manifest: that of all shards.
    func takeFormer(of part: Manifest, in manifest: Manifest) throws(RunError) {
        let root = folders.spool.root
        guard try !isBegun(root), !folders.spool.isReadOnly else { return }
        let statuses = try revision.formerStatuses(outputs)
        if statuses.isEmpty { return }
        var former = FormerImages(of: part, in: manifest)
        // What a status says of a source is newer than what the list says.
        let listed = FormerOutputs()
        try listed.require(in: revision.root)
        for entry in listed.all { former.noteFile(entry) }
        for place in statuses { try former.read(place) }
        former.end(manifest)
        let shards = Status.Shards(count: shard.count, number: shard.number)
        let status = former.status(of: part, id: folders.id, shards: shards)
        try runError { () throws(FileError) in
            try former.outputs.write(in: root, durably: durably)
            guard let status else { return }
            try root.write(to: Self.newStatus, replacing: true, durably: durably) {
                write throws(FileError) in
                try status.writtenNow.encode { piece throws(FileError) in try write(piece) }
            }
            try root.rename(Self.newStatus, to: root, as: BatchFile.status, replacing: true)
            if durably { try root.sync() }
            FaultPoint.formerTaken.pass()
        }
    }

    /// Whether the shard has an answer, or has lost it and has a journal.
    private func isBegun(_ root: Directory) throws(RunError) -> Bool {
        try runError { () throws(FileError) in
            if try root.exists(BatchFile.status) { return true }
            return try folders.hasJournal()
        }
    }
}

extension Status {
    /// Whether it is what `ShardBeginning` has written, and nothing was compared with it.
    var isOfFormerRun: Bool { manifest.sha256 == nil }
}
