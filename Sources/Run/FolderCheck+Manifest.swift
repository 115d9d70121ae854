import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import SystemPackage

/// The comparison of the status with what else describes the batch: the manifest, what its patterns meant, and the
/// progress.
extension FolderCheck {
    /// What the manifest says about an image.
    struct Expected: Sendable {
        let output: ExpectedOutput
        let isPublished: Bool
        /// As the status shows it; nil if it is made from another image.
        let source: String?
    }

    /// The images of the manifest; nil if there is no manifest whose images these could be.
    func expectedImages() throws -> [Expected]? {
        // Nobody has accepted a rejected manifest, and a shard has some of the images only.
        guard frame.state != .rejected, frame.shards?.number == nil,
            let file = frame.manifest.file, let format = frame.manifest.format,
            let bytes = try? folder.read(FileName(file)),
            SHA256Digest.hex(of: bytes) == frame.manifest.copySHA256
        else { return nil }
        do {
            let manifest = try frame.manifest(from: bytes, format, finder: .none)
            let found = try checkSources(of: manifest)
            try comparePriority(with: manifest)
            if !manifest.hasUnknownSources { return Self.expected(manifest) }
            guard let found else { return nil }
            if let whole = try? frame.manifest(from: bytes, format, finder: .recorded(found)) {
                return Self.expected(whole)
            }
            try tell(
                .differs, in: BatchFile.sources.text,
                manifest.unknownSources > 0
                    ? "it lacks what a pattern of the manifest means"
                    : "it lacks the pages of the manifest's sources")
            return nil
        } catch let rejection as ManifestRejection {
            try tell(
                .unreadable, in: file,
                "this version of darkroom would not accept it: \(rejection.problems[0].message)")
            return nil
        }
    }

    private static func expected(_ manifest: Manifest) -> [Expected] {
        manifest.images.map {
            Expected(
                output: ExpectedOutput($0), isPublished: $0.isPublished, source: $0.source?.shown)
        }
    }

    private func comparePriority(with manifest: Manifest) throws {
        guard frame.priority != manifest.priority else { return }
        try tell(
            .differs,
            "its priority must be \(manifest.priority.rawValue), and is \(frame.priority.rawValue)")
    }

    /// Compares the ID of the status with that of the run in the folder. The answer of a daemon has no plan.
    func compareID() throws {
        guard let (plan, _) = RunPlan.find(in: folder), FileName(plan.id) != FileName(frame.id)
        else { return }
        try tell(.differs, "its ID must be \(plan.id), and is \(frame.id)")
    }

    /// Compares `sources.json` with the patterns of the manifest, and with its sources whose pages were counted.
    ///
    /// - Returns: what they meant; nil if nobody knows.
    private func checkSources(of manifest: Manifest) throws -> SourceRecord? {
        let name = BatchFile.sources
        let isUsed = manifest.hasUnknownSources
        guard try runError(of: folder.exists(name)) else {
            if isUsed {
                try tell(
                    .missing, in: name.text,
                    manifest.unknownSources > 0
                        ? "the manifest has patterns or folders"
                        : "the manifest has images of all pages of its sources")
            }
            return nil
        }
        guard isUsed else {
            try tell(.extra, in: name.text, "the manifest has no pattern and no folder")
            return nil
        }
        guard let found = try? SourceRecord.read(in: folder) else {
            try tell(.differs, in: name.text, "it is not what darkroom writes")
            return nil
        }
        for entry in found.patterns {
            let pattern = try? SourcePattern(entry.pattern)
            guard let stranger = entry.files.first(where: { pattern?.canMean($0) != true }) else {
                continue
            }
            try tell(
                .differs, in: name.text,
                "‘\(stranger.string)’ is not a file of ‘\(entry.pattern.string)’")
            return nil
        }
        return found
    }

    /// Compares the images of the status with those of the manifest, from the place `start` on.
    ///
    /// - Returns: false if they differ so that a further comparison says nothing.
    func compare(_ images: [ImageOutline], from start: Int, _ expected: [Expected]) throws -> Bool {
        for (index, image) in images.enumerated() {
            guard start + index < expected.count else {
                try tell(.differs, "the manifest has no such image", image: image.name)
                return false
            }
            let expected = expected[start + index]
            guard image.name == expected.output.name else {
                try tell(
                    .differs, "the manifest has ‘\(expected.output.name.string)’ in its place",
                    image: image.name)
                return false
            }
            // The status does not have the password in an address.
            if image.source != expected.source {
                try tell(
                    .differs,
                    "its source must be \(expected.source ?? "none"), and is \(image.source ?? "none")",
                    image: image.name)
            }
            guard image.state == .filtered else { continue }
            if let format = image.output?.format, format != expected.output.format.rawValue {
                try tell(
                    .differs,
                    "the format of its output must be \(expected.output.format.rawValue), and is \(format)",
                    image: image.name)
            }
            let file = image.output.map { ByteString($0.file) }
            let path = image.output.map(expected.output.path) ?? expected.output.shown
            if file == (expected.isPublished ? ByteString(path) : nil) { continue }
            try tell(
                .differs,
                expected.isPublished
                    ? "its output must be \(path), and is \(file?.string ?? "none")"
                    : "it is not published, and has the output \(file?.string ?? "none")",
                image: image.name)
        }
        return true
    }

    /// Compares the sums of the status with its images.
    func compareCounts(_ counts: Status.Counts, _ expected: [Expected]?) throws {
        if counts.total != frame.counts.total {
            try tell(
                .differs,
                "its counts say \(Words.count(frame.counts.total, "image")), and it has \(counts.total)"
            )
        } else if !frame.counts.agree(with: counts) {
            try tell(.differs, "its counts are not those of its images")
        } else if let state = finalState(counts), state != frame.state {
            try tell(
                .differs,
                "its state must be \(state.rawValue), and is \(frame.state.rawValue)")
        }
        if let expected, expected.count > counts.total {
            try tell(
                .differs,
                "it has \(Words.count(counts.total, "image")), and the manifest \(expected.count)")
        }
    }

    /// The state of a batch whose images have all ended; nil if that is not known.
    private func finalState(_ counts: Status.Counts) -> BatchState? {
        guard counts.total > 0, counts.finished == counts.total else { return nil }
        // A cancelled batch whose folder was removed from the spool has both, and is not called cancelled.
        let isRemoved = frame.state == .completedWithErrors && counts.failed > 0
        return isRemoved ? .completedWithErrors : counts.finalState
    }

    /// Compares `progress.json` with the status. It may be missing: nobody relies on it.
    func checkProgress() throws {
        let name = BatchProgress.fileName
        guard try runError(of: folder.exists(name)) else { return }
        guard let bytes = try? folder.read(name, upTo: BatchProgress.capacity),
            let progress = BatchProgress(decoding: bytes)
        else { return try tell(.differs, in: name.text, "it is not what darkroom writes") }
        guard progress.state == frame.state, progress.counts == frame.counts,
            progress.id.isEmpty || FileName(progress.id) == FileName(frame.id),
            progress.outputBytes == summary.bytes
        else { return try tell(.differs, in: name.text, "it does not say what status.json says") }
    }

    private func tell(
        _ kind: FolderFinding.Kind, in file: String = BatchFile.status.text, _ message: String,
        image: ByteString? = nil
    ) throws {
        try add(FolderFinding(kind: kind, image: image?.string, file: file, message: message))
    }
}
