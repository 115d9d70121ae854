import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import SystemPackage

/// What a former run has left in a folder.
struct FormerRun {
    let outputs: Directory
    /// With the images that have ended since it was written.
    let status: Status
    /// Whether it had the same manifest, so that images whose settings were not noted have the same.
    let isSameManifest: Bool
    /// How many of its images have ended, and how many there are; nil if all have.
    let unfinished: (ended: Int, total: Int)?
    /// Whether shards have worked in the folder.
    let isDivided: Bool
    private let listed: FormerOutputs

    /// nil if no run has worked in the folder, or it has made nothing.
    ///
    /// - Parameter job: gets the part of its manifest that it is about.
    static func find(_ job: inout RunJob) throws(RunError) -> FormerRun? {
        let outputs: Directory
        do {
            outputs = try Directory(path: job.folder)
        } catch  where error.errno == .noSuchFileOrDirectory {
            _ = try job.takePart(nil)
            return nil
        } catch {
            throw RunError(error)
        }
        try RunFolder.requireOwn(outputs)
        guard let root = try RunFolder.existingRoot(in: outputs),
            let plan = try RunPlan.read(in: root)
        else {
            _ = try job.takePart(nil)
            return nil
        }
        if let shards = plan.shards {
            return try FormerRun(&job, outputs: outputs, plan, shards, in: root)
        }
        if job.shard != nil { _ = try job.takePart(nil) }
        return try FormerRun(job, outputs: outputs, plan, in: root)
    }

    private init?(
        _ job: RunJob, outputs: Directory, _ plan: RunPlan, in root: Directory
    ) throws(RunError) {
        let own = job.plan(job.shard?.shards, id: plan.id)
        try plan.requireComparable(with: own, in: job.folder)
        let isThere = try runError(of: outputs.exists(BatchFile.status))
        guard isThere else { return nil }
        guard
            var status = try runError(of: Status(in: outputs)),
            FileName(status.id) == FileName(plan.id)
        else { throw RunError(unreadableStatusIn: outputs) }
        isDivided = false
        if status.state.isFinal {
            unfinished = nil
        } else {
            for case .ended(let index, let image) in try Self.journal(in: root, plan.id)
            where status.images.indices.contains(index) {
                status.images[index] = image
            }
            unfinished = (status.images.count { $0.state.isFinal }, status.images.count)
        }
        self.outputs = outputs
        self.status = status
        isSameManifest =
            plan.conflict(with: own, in: job.folder) == nil
            && status.manifest.sha256 == SHA256Digest.hex(of: job.bytes)
            && status.recipes == job.manifest.recipeReferences
        let former = FormerOutputs()
        try former.require(in: root)
        listed = former
    }

    private static func journal(
        in root: Directory, _ id: String
    ) throws(RunError) -> [JournalRecord] {
        let active = FileName("active") / FileName(id)
        return try runError(
            of: ignoringMissing(ItemJournal.read(in: Directory(active, in: root)))) ?? []
    }

    /// What shards have left in a folder; nil if they have made nothing.
    private init?(
        _ job: inout RunJob, outputs: Directory, _ plan: RunPlan, _ shards: RunPlan.Shards,
        in root: Directory
    ) throws(RunError) {
        let own = job.plan(job.shard?.shards ?? shards, id: plan.id)
        try plan.requireComparable(with: own, in: job.folder, isCountMeant: false)
        let revision = try RunRevision(plan, in: root)
        let next = try job.shard?.next(after: shards, of: revision, outputs, in: job.folder)
        let isCountMeant = job.shard?.isCountWritten ?? false
        let whole = try job.takePart(next ?? shards)
        var former = FormerImages(of: job.manifest, in: whole, notesAll: true)
        // What a status says of a source is newer than what the lists say.
        let listed = FormerOutputs()
        try listed.require(in: root)
        for shard in try revision.shards() { try listed.require(in: revision.folder(of: shard)) }
        for entry in listed.all { former.noteFile(entry) }
        var counts = (ended: 0, total: 0)
        for place in try revision.formerStatuses(outputs) { _ = try former.read(place) }
        for shard in try revision.shards() {
            let folder = try revision.folder(of: shard)
            let frame = try former.read(revision.status(of: shard))
            let journal = try Self.journal(in: folder, plan.id)
            let ended: [ImageStatus] = journal.compactMap {
                if case .ended(_, let image) = $0, image.state.isFinal { image } else { nil }
            }
            if let frame {
                counts.total += frame.counts.total
                counts.ended += frame.state.isFinal ? frame.counts.total : ended.count
                if !frame.state.isFinal { former.read(ended) }
            }
        }
        former.end(whole)
        guard let status = former.status(of: job.manifest, id: plan.id, shards: nil) else {
            return nil
        }
        self.outputs = outputs
        self.status = status
        self.listed = former.outputs
        isDivided = true
        isSameManifest = plan.conflict(with: own, in: job.folder, isCountMeant: isCountMeant) == nil
        unfinished = counts.ended < counts.total ? counts : nil
    }

    /// The files that would be without an image.
    func gone(_ job: RunJob, _ result: ImageComparison.Result) throws(RunError) -> [String] {
        let entries = FormerOutputs()
        for entry in listed.all { entries.add(entry) }
        var images: [ImageStatus] = []
        var gone: Set<ByteString> = []
        for (index, image) in job.manifest.images.enumerated() {
            var status = result.images[index]
            if case .made(let reason) = result.verdicts[index] {
                if reason == .gone {
                    gone.insert(image.name)
                    status.state = .failed
                } else {
                    status.state = .filtered
                    status.output = image.isPublished ? .expected(image) : nil
                    // A path that is not known yet may be that of the former output.
                    if !image.isFileKnown { status.output = result.former[index]?.output }
                }
            }
            images.append(status)
        }
        for image in status.images {
            guard let output = image.output else { continue }
            entries.add(.init(output, of: image, isGone: gone.contains(ByteString(image.name))))
        }
        return try FormerFiles(
            entries.byFile, outputs: outputs, manifest: job.manifest,
            results: images.map(FormerFiles.Result.init), sources: job.sources
        ).gone.map(\.string)
    }
}

extension RunJob {
    /// Leaves only the images of its shard in its manifest.
    ///
    /// - Parameter shards: how the manifest is divided; nil if no plan tells it.
    /// - Returns: the whole manifest.
    fileprivate mutating func takePart(_ shards: RunPlan.Shards?) throws(RunError) -> Manifest {
        let whole = manifest
        guard let shard else { return whole }
        guard let shards = shards ?? shard.shards else { throw .noCount(in: folder) }
        manifest = try whole.part(RunParts.shard(shard, shards))
        return whole
    }
}

extension ImageStatus.Output {
    /// That of an image that is not made yet. Only the name of the file counts.
    fileprivate static func expected(_ image: Manifest.Image) -> Self {
        .init(
            file: image.outputFile, format: image.output.format, sha256: "", bytes: 0, width: 0,
            height: 0, depth: 8, channels: 3)
    }
}
