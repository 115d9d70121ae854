import DarkroomAnswer
import DarkroomConfiguration
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import Glibc
import SystemPackage

/// `darkroom verify --again`: makes all outputs anew and compares their digests with those of the status.
///
/// The manifest is divided into shards, and each is a run in a scratch folder, which is removed before the next one. So
/// the scratch space is that of one shard.
package struct Recomputation {
    /// A signal that has arrived while the files were compared.
    private struct Stopped: Error {
        let signal: CInt
    }

    /// What the status has about an image.
    private struct Recorded {
        var state: ImageState
        var output: ImageOutline.Output?
        var sourceSHA256: String?
    }

    /// The most that a shard should have.
    private static let mostImages = 1000
    private static let mostBytes = 256 << 20

    private let check: FolderCheck
    private let loaded: ConfigurationLoader.Loaded
    private let log: EventLog
    private let base: String

    /// - Parameter base: the folder at which relative sources begin; nil to take that of the run in the folder.
    package init(
        _ check: FolderCheck, _ loaded: ConfigurationLoader.Loaded, base: String, log: EventLog
    ) throws(RunError) {
        self.check = check
        self.loaded = loaded
        self.log = log
        var plan: RunPlan?
        if let folder = try? Directory(path: check.path),
            let root = try? Directory(FileName(RunFolder.spoolName), in: folder)
        {
            plan = try RunPlan.read(in: root)
        }
        if let plan, let conflict = loaded.conflict(with: plan, in: check.path) { throw conflict }
        self.base = plan?.base ?? base
    }

    /// Compares the files with the status, and then with new ones.
    ///
    /// - Parameters:
    ///   - reading: the progress of the comparison with the status.
    ///   - making: the progress of the comparison with new files.
    /// - Returns: the signal that has stopped it; nil if it is complete.
    package func run(reading: FolderCheck.Progress, making: FolderCheck.Progress) throws -> CInt? {
        FolderRun.blockSignals()
        var recorded: [ByteString: Recorded] = [:]
        var kept = KeptPictures(in: check.path)
        let hasKept = check.frame.manifest.isFolder == true
        do {
            try check.run(progress: reading) { image in
                recorded[image.name] = Recorded(
                    state: image.state, output: image.output, sourceSHA256: image.sourceSHA256)
                if hasKept, let source = image.source {
                    kept.note(ByteString(source), of: image.name)
                }
                if recorded.count.isMultiple(of: 64), let signal = FolderRun.pendingSignal {
                    throw Stopped(signal: signal)
                }
            }
        } catch let stopped as Stopped {
            return stopped.signal
        }
        if let signal = FolderRun.pendingSignal { return signal }
        let (bytes, format, manifest, hidden) = try readManifest()
        let images = manifest.images.count
        let count = min(
            Shard.mostCount,
            max(1, max(images / Self.mostImages, check.summary.bytes / Self.mostBytes)))
        let scratch = try Scratch()
        defer { scratch.remove() }
        var done = 0
        for number in 1...count {
            var job = RunJob(
                id: "again", name: "again.\(format.fileExtensions[0])", format: format,
                bytes: bytes, manifest: manifest, base: base, usesBase: false,
                folder: "\(scratch.path)/out",
                shard: ShardRequest(part: .number(number), count: count, isCountWritten: true))
            job.kept = hasKept ? kept : nil
            let status: Status
            let run = try FolderRun(job, loaded, log: log)
            let ending = try run.run { wait in
                while !wait(0.2) {
                    making(min(images, done + (run.progress?.counts.finished ?? 0)), images)
                }
            }
            switch ending {
            case .finished(let new), .unchanged(let new): status = new
            case .stopped(let signal): return signal
            case .failed(let error): throw error
            }
            for image in status.images {
                let name = ByteString(image.name)
                try compare(
                    image, recorded[name], status.versions ?? [], isHidden: hidden.contains(name))
            }
            // Some images may be in several shards.
            done = min(images, done + status.images.count)
            making(done, images)
            try scratch.empty()
        }
        return nil
    }

    private func compare(
        _ image: ImageStatus, _ recorded: Recorded?, _ versions: [PictureVersions], isHidden: Bool
    ) throws {
        guard let recorded, recorded.state == .filtered, let known = recorded.output else { return }
        func tell(_ kind: FolderFinding.Kind, _ message: String) throws {
            try check.add(
                FolderFinding(
                    kind: kind, image: image.name, file: known.file, message: message))
        }
        if isHidden {
            return try tell(
                .fails,
                "it cannot be made anew: the manifest beside the outputs has *** for a part of its URL; only the "
                    + "daemon's user and root can do it (darkroomd(8))")
        }
        guard image.state == .filtered, let output = image.output else {
            let reason = image.error.map { "\($0.message) [\($0.code)]" } ?? "no reason is known"
            return try tell(.fails, "made anew, it fails: \(reason)")
        }
        if let source = recorded.sourceSHA256, let now = image.sourceSHA256, source != now {
            return try tell(
                .sourceChanged,
                "the source has changed: its SHA-256 was \(source.prefix(16))…, and is \(now.prefix(16))…"
            )
        }
        guard output.sha256 != known.sha256 else { return }
        try tell(.otherBytes, "made anew, it has other bytes; \(reason(recorded, versions))")
    }

    /// What may explain other bytes.
    private func reason(_ recorded: Recorded, _ versions: [PictureVersions]) -> String {
        let former = check.frame.versions ?? []
        if former.isEmpty { return "the versions that made it are not known" }
        guard let present = versions.last else { return "the versions are not known" }
        let format = recorded.output?.format.flatMap(OutputFormat.init(rawValue:))
        let changes = present.deciding(format).compactMap { name, now in
            let before = former.compactMap { old in
                old.deciding(format).first { $0.name == name }?.version
            }
            let other = before.filter { $0 != now }
            return other.isEmpty
                ? nil : "\(name) was \(Words.list(other, "and")), and is \(now)"
        }
        if !changes.isEmpty { return Words.list(changes, "and") }
        return recorded.sourceSHA256 == nil
            ? "the source of this image may have changed"
            : "the source and all versions are the same"
    }

    /// The manifest that was taken. Without it, the redacted copy, with the names of the images whose sources have secrets:
    /// nothing is asked for with `***` in their places.
    private func readManifest() throws(RunError) -> (
        [UInt8], ManifestFormat, Manifest, hidden: Set<ByteString>
    ) {
        let frame = check.frame
        guard let file = frame.manifest.file, let format = frame.manifest.format else {
            throw .unusable(folder: check.path, reason: "its status names no manifest")
        }
        let exact =
            frame.manifest.redacted == nil
            ? nil : ExactManifests.read(besideAnswer: check.path, frame)
        let (bytes, found) = try runError { () throws(FileError) in
            let folder = try Directory(path: check.path)
            let bytes = if let exact { exact } else { try folder.read(FileName(file)) }
            return (bytes, try SourceRecord.read(in: folder))
        }
        guard exact != nil || SHA256Digest.hex(of: bytes) == frame.manifest.copySHA256 else {
            throw .unusable(
                folder: check.path, reason: "\(file) is not the manifest that was taken")
        }
        do {
            var manifest = try frame.manifest(
                from: bytes, format, profile: loaded.configuration.manifestLimits.profile,
                defaultFilters: loaded.configuration.defaultFilters,
                finder: .recorded(found ?? SourceRecord()))
            let isRedacted = frame.manifest.redacted != nil && exact == nil
            let hidden = isRedacted ? manifest.hideRedactedSources() : []
            return (bytes, format, manifest, hidden)
        } catch {
            throw .unusable(
                folder: check.path, reason: "its manifest would not be accepted any more")
        }
    }
}

/// A folder for files that are compared and then removed. It is locked (`StagedFolders`), so that the next one finds what
/// a killed process has left, and others of this user are left alone.
private struct Scratch {
    let path: String
    private let parent: Directory
    private let name: FileName
    /// Holds the lock.
    private let folder: Directory

    init() throws(RunError) {
        let place = UnnamedFile.folder
        let parent = try runError(of: Directory(path: place))
        // What cannot be listed does not prevent the work.
        _ = try? StagedFolders.removeLeftovers(in: parent, of: geteuid())
        let (name, folder) = try runError(of: StagedFolders.make(in: parent))
        self.parent = parent
        self.name = name
        self.folder = folder
        path = "\(place)/\(name.text)"
    }

    func empty() throws(RunError) { try runError(of: folder.removeTree("out")) }

    func remove() { try? parent.removeTree(name) }
}

extension Manifest {
    /// Gives the images whose sources have `***` for a secret a source that ends at once, and returns their names.
    fileprivate mutating func hideRedactedSources() -> Set<ByteString> {
        var names: Set<ByteString> = []
        for index in images.indices {
            guard let source = images[index].source,
                RedactedURL.hasReplacement(source.text.string)
            else { continue }
            names.insert(images[index].name)
            images[index].origin = .source("redacted:")
        }
        return names
    }
}
