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
    package struct Image: Sendable, Equatable {
        package let name: String
        /// Its output; nil if it has none.
        package let file: String?
        package let verdict: ImageVerdict
    }

    /// That of the former run; otherwise that of the manifest.
    package private(set) var id: String
    package let changes: RunChanges
    /// The images that are made, and those that stand alone, in the manifest's order.
    package private(set) var images: [Image] = []
    /// The number of all images that it is about.
    package let count: Int
    /// The bytes of the outputs that are made, as far as the former run tells; nil if it does not.
    package private(set) var bytes: Int?
    /// The seconds that this takes, without downloads; nil if the former run does not tell.
    package private(set) var seconds: Double?
    /// The images of the former run, and how many of them have ended; nil if it has ended.
    package private(set) var unfinished: (ended: Int, total: Int)?
    /// Whether that had this manifest, so that a run continues it.
    package let isSameManifest: Bool

    package init(_ job: RunJob, _ loaded: ConfigurationLoader.Loaded) throws(RunError) {
        var job = loaded.noted(in: job)
        let former = try FormerRun.find(&job)
        count = job.manifest.images.count
        id = former?.status.id ?? job.id
        let comparison = ImageComparison(
            sources: job.sources, former: former?.status ?? .none(id: id),
            isSameManifest: former?.isSameManifest ?? false, retries: job.retries,
            prunes: job.prunes && former?.isDivided != true, readsAll: job.checks,
            remote: job.remote, settings: job.settings)
        let found = try comparison.compare(job.manifest) { images throws(RunError) in
            guard let former else { return [] }
            return try OutputLook(outputs: former.outputs, removesEmpty: false)
                .missing(images, after: RunFolder.end(of: former.status), readsAll: job.checks)
        }
        // Nobody stops it; a signal ends the command.
        let result = found ?? ImageComparison.Result()
        unfinished = former?.unfinished
        isSameManifest = former?.isSameManifest ?? true
        var changes = RunChanges(result)
        // A shard does not know whether another one will have such a file.
        changes.gone = job.shard == nil ? try former?.gone(job, result) ?? [] : []
        self.changes = changes
        for (image, verdict) in zip(job.manifest.images, result.verdicts) where verdict != .stands {
            images.append(
                Image(
                    name: image.name.string, file: image.isPublished ? image.outputFile : nil,
                    verdict: verdict))
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

extension Status {
    /// That of a folder in which no run has worked.
    fileprivate static func none(id: String) -> Status {
        Status(
            id: id, manifest: ManifestReference(name: "", file: nil, sha256: nil, bytes: 0),
            state: .completed, times: Times(received: ""))
    }
}
