import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import Glibc
import SystemPackage

/// `darkroom merge`: proves that each image of the manifest has one answer and each output its digest, and writes the
/// whole status, as one run would have written it.
///
/// The images of each shard's status are in the manifest's order, and the assignment tells which shard has the next image.
/// So all statuses are read once, side by side, and the text of each image is copied to the whole status. Of the images,
/// only the names and formats of the manifest are in memory.
///
/// | step                                    | after a crash                                               |
/// |-----------------------------------------|-------------------------------------------------------------|
/// | `.darkroom` locked                      | the kernel releases the lock                                |
/// | statuses read, outputs read             | nothing to do                                               |
/// | `.darkroom/status.new` written, synced  | the next merge writes over it                               |
/// | `.darkroom/former.json`: outputs of     | the next merge finds them again, and writes over it         |
/// | former statuses that this one has not   |                                                             |
/// | copy of the manifest, `sources.json`,   | the same                                                    |
/// | `sizes.json`, `progress.json`           |                                                             |
/// | renamed to `status.json`                | a merge does all of this again                              |
/// | the former statuses of the revision and | a merge does all of this again                              |
/// | what others have left removed           |                                                             |
/// | with `--prune`: outputs removed that no | `former.json` still lists them; a file that is gone leaves  |
/// | image has, `former.json` written anew   | the list                                                    |
///
/// Several shards may have a copy of the same image (`ShardAssignment`). Their answers must agree. The whole status has that
/// of the first of them, and counts it once.
///
/// A merge beside running shards is safe: it takes final statuses only, and a status that is replaced meanwhile ends it.
/// With `--prune`, no shard may work, and none begins before the end (`PlanLock`): it could get such a file as its output.
///
/// A whole status that is there already is replaced, also by one of another manifest (`RunRevision`). An image that was
/// filtered according to it, and has failed since then, is told: its former output stays if it is there, and no status
/// names it any more.
package struct ShardMerge {
    let outputs: Directory
    let root: Directory
    let revision: RunRevision
    let shards: RunPlan.Shards
    let check: OutputCheck
    /// Whether outputs are removed that no image has any more.
    let prunes: Bool
    /// Held as long as this exists.
    private let lock: LockedFolder
    /// Held as long as this exists, if outputs may be removed.
    private let planLock: PlanLock?

    var plan: RunPlan { revision.plan }
    /// What the shards share, and their folders.
    var shared: Directory { revision.folder }

    /// How often an image counts as progress.
    static let chunk = 1024
    static let newStatus: FileName = "status.new"
    static let newSizes: FileName = "sizes.new"

    /// - Parameters:
    ///   - readsOutputs: whether the outputs' digests are computed; otherwise their lengths are compared.
    ///   - prunes: whether outputs are removed that no image has any more.
    package init(_ path: String, readsOutputs: Bool, prunes: Bool = false) throws(RunError) {
        outputs = try runError(of: Directory(path: path))
        guard let root = try RunFolder.existingRoot(in: outputs),
            let known = try RunPlan.read(in: root)
        else { throw .noRun(path) }
        self.root = root
        if known.shards == nil { throw .notDivided(path) }
        self.prunes = prunes
        check = OutputCheck(outputs: outputs, readsContent: readsOutputs)
        lock = try LockedFolder(root, of: path)
        planLock = prunes ? try PlanLock(.exclusive, root, of: path) : nil
        // It may have been replaced before the folder was locked.
        guard let plan = try RunPlan.read(in: root) else { throw .noRun(path) }
        guard let shards = plan.shards else { throw .notDivided(path) }
        self.shards = shards
        revision = try RunRevision(plan, in: root)
        if prunes { try revision.requireRest(of: path) }
    }

    /// - Parameter progress: receives the number of images that have been looked at, and of all.
    package func run(
        progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) throws(RunError) -> MergeReport {
        var report = try prove(progress)
        for index in report.missing.indices {
            report.missing[index].isInWork = isInWork(report.missing[index].shard)
        }
        return report
    }

    private func isInWork(_ number: Int) -> Bool {
        guard let shard = Shard(number, of: shards.count),
            let folder = try? Directory(RunParts.name(of: shard), in: shared)
        else { return false }
        return SpoolLock.isHeld(folder)
    }

    private func prove(_ progress: (Int, Int) -> Void) throws(RunError) -> MergeReport {
        var report = MergeReport(plan, shards, folder: outputs.path)
        let streams = try streams(&report)
        guard report.isWhole else { return report }
        var status = Status(wholeOf: streams.map(\.frame))
        let bytes = try readManifest()
        var work = try work(streams, bytes, status)
        status.counts.subtract(Self.counts(ofCopiesIn: work))
        let total = status.counts.total
        guard total == work.expected.count else {
            report.add(
                "the shards have \(total) images, and the manifest has \(work.expected.count)",
                in: 0)
            return report
        }
        let record = work.record
        try requireOwnAnswer(record)
        let outputBytes = try write(&status, &work, &report) { progress($0, total) }
        guard report.isWhole else {
            try runError(of: root.remove(Self.newStatus))
            try removeNewSizes()
            return report
        }
        let former = try formerOutputs(&work)
        try publish(status, manifest: bytes, record, outputBytes: outputBytes)
        try removeFormerStatuses()
        report.status = status
        try settle(former, bytes, status, &report)
        return report
    }

    // MARK: The manifest

    /// The copy that the shards share.
    private func readManifest() throws(RunError) -> [UInt8] {
        let name = BatchFile.manifest(try format())
        let bytes: [UInt8]
        do {
            bytes = try shared.read(name)
        } catch  where error.errno == .noSuchFileOrDirectory {
            throw .unusable(
                folder: outputs.path,
                reason: "\(shared.path(of: name)) is gone; run any shard again, which writes it")
        } catch {
            throw RunError(error)
        }
        guard SHA256Digest.hex(of: bytes) == plan.sha256 else {
            throw .copyChanged(shared.path(of: name))
        }
        return bytes
    }

    private func format() throws(RunError) -> ManifestFormat {
        guard let format = plan.format.flatMap({ ManifestFormat(rawValue: $0) }) else {
            throw .unreadable(root.path(of: RunPlan.fileName))
        }
        return format
    }

    func manifest(_ bytes: [UInt8], of status: Status) throws(RunError) -> Manifest {
        let manifest: Manifest
        let record = try RunParts.settled(in: shared)
        let format = try format()
        do throws(ManifestRejection) {
            manifest = try status.manifest(
                from: bytes, format, finder: record.map { .recorded($0) } ?? .none)
        } catch {
            throw .unusable(
                folder: outputs.path, reason: "its manifest would not be accepted any more")
        }
        guard !manifest.hasUnknownSources else {
            throw .unusable(
                folder: outputs.path,
                reason:
                    "\(shared.path(of: BatchFile.sources)) is gone; run any shard again, which writes it"
            )
        }
        return manifest
    }

    private func work(
        _ streams: [StatusStream], _ bytes: [UInt8], _ status: Status
    ) throws(RunError) -> Work {
        let manifest = try manifest(bytes, of: status)
        let assignment = ShardAssignment(of: manifest, count: shards.count)
        let expected = manifest.images.enumerated().map { index, image in
            Expected(
                output: ExpectedOutput(image), isPublished: image.isPublished,
                shard: Int32(assignment[index]))
        }
        let copies = assignment.copied.map { ($0, assignment.copies(of: $0)) }
        var work = Work(
            streams: streams, expected: expected, copies: Dictionary(uniqueKeysWithValues: copies),
            former: former())
        work.record = manifest.found.isEmpty ? nil : manifest.found
        if manifest.images.contains(where: { $0.variantOf != nil || $0.file != nil }) {
            work.sizes = ResultSizes(id: plan.id)
        }
        return work
    }

    /// How the copies of images have ended, which the sums of the shards' statuses count too. It reads the statuses up to
    /// the last copy, which is usually near the beginning.
    private static func counts(ofCopiesIn work: Work) -> Status.Counts {
        var counts = Status.Counts()
        guard let last = work.copies.keys.max() else { return counts }
        var streams = work.streams
        for place in 0...last {
            // What is wrong is found when the images are compared.
            _ = try? streams[Int(work.expected[place].shard) - 1].next()
            for shard in work.copies[place] ?? [] {
                guard let text = try? streams[shard - 1].next(),
                    let copy = ImageOutline(text)
                else { continue }
                counts.total += 1
                counts.count(copy.state, isWarned: copy.isWarned)
            }
        }
        return counts
    }

    // MARK: The answer

    /// Refuses to replace a status or a progress that no merge of this run has written.
    private func requireOwnAnswer(_ record: SourceRecord?) throws(RunError) {
        if former() != nil { return }
        if let record {
            // A merge that was killed has left its own without a status.
            let isOther = try runError { () throws(FileError) -> Bool in
                guard try outputs.exists(BatchFile.sources) else { return false }
                let found = try SourceRecord.read(in: outputs)
                // It may be that of an earlier revision, whose merge was killed.
                return plan.revision == nil || found == nil ? found != record : false
            }
            if isOther { throw .inTheWay(outputs.path(of: BatchFile.sources)) }
        }
        for name in [BatchFile.status, BatchFile.progress] {
            let exists = try runError(of: outputs.exists(name))
            // A merge that was killed has left its progress without a status.
            guard exists, name != BatchFile.progress || !isOwnProgress() else { continue }
            throw .inTheWay(outputs.path(of: name))
        }
    }

    private func isOwnProgress() -> Bool {
        guard let bytes = try? outputs.read(BatchFile.progress, upTo: BatchProgress.capacity),
            let progress = BatchProgress(decoding: bytes)
        else { return false }
        // A long ID is left out.
        return progress.id.isEmpty || FileName(progress.id) == FileName(plan.id)
    }

    /// Puts the copy of the manifest into the folder, also over that of an earlier revision. The file of somebody else
    /// stays, and ends the merge.
    private func putManifest(_ bytes: [UInt8], as name: FileName) throws(RunError) {
        let former = former()
        let isFormer = try runError { () throws(FileError) -> Bool in
            guard plan.copies != nil, let sha256 = try outputs.sha256(of: name) else {
                return false
            }
            return sha256 != plan.sha256
                && (plan.copies?.contains(sha256) == true
                    || former?.frame.manifest.copySHA256 == sha256)
        }
        if !isFormer,
            try outputs.requireCopy(of: bytes, as: name, isBegun: former != nil)
        {
            return
        }
        try runError { () throws(FileError) in
            if !isFormer {
                do {
                    return try shared.link(name, to: outputs, as: name)
                } catch {
                    // Not all file systems have links.
                }
            }
            let new = BatchFile.newManifest
            try root.write(sparsely: bytes, to: new, replacing: true, durably: false)
            // The shards have decided who may read it.
            let mode = try shared.information(of: name)?.st_mode ?? 0
            if mode & 0o077 == 0 { try root.close(new, durably: false) }
            try root.rename(new, to: outputs, as: name, replacing: isFormer)
        }
    }

    private func publish(
        _ status: Status, manifest bytes: [UInt8], _ record: SourceRecord?, outputBytes: Int
    ) throws(RunError) {
        let name = BatchFile.manifest(try format())
        let progress = BatchProgress(of: status, outputBytes: outputBytes)
        try putManifest(bytes, as: name)
        try runError { () throws(FileError) in
            if let record {
                try root.write(
                    record.encoded(), to: BatchFile.newSources, replacing: true, durably: false)
                try root.rename(
                    BatchFile.newSources, to: outputs, as: BatchFile.sources, replacing: true)
            } else if former() != nil {
                try ignoringMissing(outputs.remove(BatchFile.sources))
            }
            let new: FileName = "progress.new"
            try root.write(progress.encoded(), to: new, replacing: true, durably: false)
            try root.rename(new, to: outputs, as: BatchFile.progress, replacing: true)
            if try root.exists(Self.newSizes) {
                try root.rename(
                    Self.newSizes, to: outputs, as: ResultSizes.fileName, replacing: true)
            } else {
                try ResultSizes.removeOwn(in: outputs, id: plan.id)
            }
            try root.rename(Self.newStatus, to: outputs, as: BatchFile.status, replacing: true)
            FaultPoint.mergeMoved.pass()
            try outputs.sync()
        }
    }
}
