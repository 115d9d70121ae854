import DarkroomAnswer
import DarkroomConfiguration
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import DarkroomWork
import SystemPackage

/// `darkroom plan`: what a run would do in a folder now. Nothing is written, locked or made.
package struct RunForecast: Sendable {
    package enum Verdict: Sendable, Equatable {
        case made(MakeReason)
        /// Its result stands, although nobody can make it again now.
        case standsAlone(StandReason)
    }

    /// What becomes of an image.
    package struct Image: Sendable, Equatable {
        package let name: String
        /// Its output; nil if it has none.
        package let file: String?
        package let verdict: Verdict
    }

    /// That of the former run; otherwise that of the manifest.
    package private(set) var id: String
    package let changes: RunChanges
    /// The images that are made, and those that stand alone, in the manifest's order.
    package private(set) var images: [Image] = []
    /// The bytes of the outputs that are made, as far as the former run tells; nil if it does not.
    package private(set) var bytes: Int?
    /// The seconds that this takes, likewise; without downloads.
    package private(set) var seconds: Double?
    /// The images of the former run, and how many of them have ended; nil if it has ended.
    package private(set) var unfinished: (ended: Int, total: Int)?

    package init(
        _ job: RunJob, _ loaded: ConfigurationLoader.Loaded
    ) throws(RunError) {
        let job = loaded.noted(in: job)
        let former = try FormerRun(job)
        id = former?.status.id ?? job.id
        var comparison = ImageComparison(
            sources: job.sources, former: former?.status ?? .none(id: id),
            isSameManifest: former?.isSameManifest ?? false, retries: job.retries,
            prunes: job.prunes, readsAll: job.checks, remote: job.remote)
        comparison.settings = job.settings
        let found = try comparison.compare(job.manifest) { images throws(RunError) in
            guard let former else { return [] }
            return try OutputLook(outputs: former.outputs, removesEmpty: false)
                .missing(images, after: RunFolder.end(of: former.status), readsAll: job.checks)
        }
        // Nobody stops it; a signal ends the command.
        let result = found ?? ImageComparison.Result()
        if let former, !former.hasEnded {
            let images = former.status.images
            unfinished = (images.count { $0.state.isFinal }, images.count)
        }
        var changes = RunChanges(result)
        changes.gone = try former?.gone(job, result) ?? []
        self.changes = changes
        for (index, verdict) in result.verdicts.enumerated() {
            let image = job.manifest.images[index]
            let file = image.isPublished ? image.outputFile : nil
            switch verdict {
            case .stands: break
            case .standsAlone(let reason):
                images.append(
                    Image(name: image.name.string, file: file, verdict: .standsAlone(reason)))
            case .made(let reason):
                images.append(Image(name: image.name.string, file: file, verdict: .made(reason)))
            }
        }
        estimate(result, workers: loaded.configuration.batchSettings.filterWidth)
    }

    /// An image takes what it took before, and a new one what the others took on average.
    private mutating func estimate(_ result: ImageComparison.Result, workers: Int) {
        let known = result.former.compactMap { $0?.state == .filtered ? $0 : nil }
        guard !known.isEmpty else { return }
        func bytes(_ image: ImageStatus) -> Int { image.output?.bytes ?? 0 }
        func milliseconds(_ image: ImageStatus) -> Int { image.milliseconds.filtering }
        let count = Double(known.count)
        let average = (
            bytes: known.reduce(0) { $0 + Double(bytes($1)) } / count,
            time: known.reduce(0) { $0 + Double(milliseconds($1)) } / count
        )
        var sum = (bytes: 0.0, time: 0.0)
        for (verdict, former) in zip(result.verdicts, result.former) {
            guard case .made = verdict else { continue }
            let image = former?.state == .filtered ? former : nil
            sum.bytes += image.map { Double(bytes($0)) } ?? average.bytes
            sum.time += image.map { Double(milliseconds($0)) } ?? average.time
        }
        self.bytes = Int(min(sum.bytes, 1e15))
        seconds = sum.time / 1000 / Double(max(1, workers))
    }
}

/// What a former run has left in a folder.
private struct FormerRun {
    let outputs: Directory
    /// With the images that have ended since it was written.
    let status: Status
    /// Whether it had the same manifest, so that images whose settings were not noted have the same.
    let isSameManifest: Bool
    let hasEnded: Bool
    private let listed: [FormerOutputs.Entry]

    /// nil if no run has worked in the folder, or it has made nothing.
    init?(_ job: RunJob) throws(RunError) {
        let outputs: Directory
        do {
            outputs = try Directory(path: job.folder)
        } catch  where error.errno == .noSuchFileOrDirectory {
            return nil
        } catch {
            throw RunError(error)
        }
        try RunFolder.requireOwn(outputs)
        guard let root = try RunFolder.existingRoot(in: outputs),
            let plan = try RunPlan.read(in: root)
        else { return nil }
        let own = job.plan(nil, id: plan.id)
        if let conflict = plan.conflict(with: own, in: job.folder, isRenewed: true) {
            throw conflict
        }
        let isThere = try runError { () throws(FileError) in try outputs.exists(BatchFile.status) }
        guard isThere else { return nil }
        guard
            var status = try runError({ () throws(FileError) in try Status(in: outputs) }),
            FileName(status.id) == FileName(plan.id)
        else { throw RunError(unreadableStatusIn: outputs) }
        hasEnded = status.state.isFinal
        if !hasEnded { try Self.applyJournal(to: &status, in: root, plan.id) }
        self.outputs = outputs
        self.status = status
        isSameManifest =
            plan.conflict(with: own, in: job.folder) == nil
            && status.manifest.sha256 == SHA256Digest.hex(of: job.bytes)
            && status.recipes == job.manifest.recipeReferences
        let former = FormerOutputs()
        let isRead = try runError { () throws(FileError) in try former.read(in: root) }
        if !isRead { throw .unreadable(root.path(of: FormerOutputs.fileName)) }
        listed = former.all
    }

    private static func applyJournal(
        to status: inout Status, in root: Directory, _ id: String
    ) throws(RunError) {
        let images = try runError { () throws(FileError) in
            try ifExists { () throws(FileError) in
                try ItemJournal.read(
                    in: Directory(FileName("active") / FileName(id), in: root))
            }
        }
        for case .ended(let index, let image) in images ?? []
        where status.images.indices.contains(index) {
            status.images[index] = image
        }
    }

    /// The files that would be without an image.
    func gone(
        _ job: RunJob, _ result: ImageComparison.Result
    ) throws(RunError) -> [String] {
        var entries = Dictionary(grouping: listed, by: \.file).mapValues { Set($0) }
        var images: [ImageStatus] = []
        var gone: Set<ByteString> = []
        for (index, image) in job.manifest.images.enumerated() {
            var status = result.images[index]
            if case .made(let reason) = result.verdicts[index] {
                if reason == .gone {
                    gone.insert(image.name)
                    status.state = .failed
                } else {
                    // As if it were filtered.
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
            let name = ByteString(image.name)
            entries[ByteString(output.file), default: []].insert(
                .init(output, of: name, isGone: gone.contains(name)))
        }
        return try FormerFiles(
            entries, outputs: outputs, manifest: job.manifest, images: images,
            sources: job.sources
        ).gone.map(\.string)
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

extension Status {
    /// That of a folder in which no run has worked.
    fileprivate static func none(id: String) -> Status {
        Status(
            id: id, manifest: ManifestReference(name: "", file: nil, sha256: nil, bytes: 0),
            state: .completed, times: Times(received: ""))
    }
}
