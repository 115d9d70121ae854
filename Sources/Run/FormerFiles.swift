import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomSpool
import Glibc

/// The files of former outputs: what is without an image, and what only waits for it.
struct FormerFiles {
    /// The files of images that are gone, sorted.
    private(set) var gone: [ByteString] = []
    /// The files of images that fail now and may be made again, sorted.
    private(set) var stale: [ByteString] = []
    /// The files of images that have left the manifest because a file system is not mounted, sorted: a folder that is named on
    /// the command line has fewer pictures without it.
    private(set) var away: [ByteString] = []
    /// The files that are not there any more, or that something else has now.
    private(set) var settled: [ByteString] = []

    /// What has become of an image.
    struct Result {
        let isFiltered: Bool
        let file: ByteString?

        init(_ image: ImageStatus) {
            isFiltered = image.state == .filtered
            file = image.output.map { ByteString($0.file) }
        }

        init(_ image: ImageOutline) {
            isFiltered = image.state == .filtered
            file = image.output.map { ByteString($0.file) }
        }
    }

    init(
        _ entries: [ByteString: Set<FormerOutputs.Entry>], outputs: Directory,
        manifest: Manifest, results: [Result], sources: LocalSources
    ) throws(RunError) {
        let kept = Set(results.compactMap(\.file))
        var failed: Set<ByteString> = []
        var failedFiles: Set<ByteString> = []
        for (image, result) in zip(manifest.images, results) where !result.isFiltered {
            failed.insert(image.name)
            failedFiles.insert(ByteString(image.outputFile))
        }
        var found: [(file: ByteString, information: stat)] = []
        for file in entries.keys.sorted() {
            let information = try runError(
                of: kept.contains(file) ? nil : outputs.information(ofOutput: file.string))
            if let information {
                found.append((file, information))
            } else {
                settled.append(file)
            }
        }
        if found.isEmpty { return }
        let inUse = try FilesInUse(kept, in: outputs, manifest, sources)
        for (file, information) in found {
            if inUse.contains(information) {
                settled.append(file)
                continue
            }
            let waits = entries[file]?.contains { entry in
                entry.isGone != true
                    && (entry.image.map(failed.contains) ?? false || failedFiles.contains(file))
            }
            if waits == true {
                stale.append(file)
            } else if entries[file]?.contains(where: { $0.isAway(from: sources) }) == true {
                away.append(file)
            } else {
                gone.append(file)
            }
        }
    }
}

extension FormerOutputs.Entry {
    /// Whether the source of the image cannot be looked for. What was gone for sure is not: that has been decided.
    fileprivate func isAway(from sources: LocalSources) -> Bool {
        guard isGone != true, let path = source?.string else { return false }
        return switch sources.presence(of: path) {
        case .file: false
        case .gone: sources.mayBeUnmounted(path, formerly: sourceIdentity)
        case .unknown: true
        }
    }
}

/// The files that nothing removes, whatever name leads to them: the outputs of the images, and their sources.
private struct FilesInUse {
    private var files: Set<FolderIdentity> = []

    init(
        _ names: Set<ByteString>, in outputs: Directory, _ manifest: Manifest,
        _ sources: LocalSources
    ) throws(RunError) {
        for name in names {
            let information = try runError(of: outputs.information(ofOutput: name.string))
            if let information { files.insert(FolderIdentity(information)) }
        }
        for image in manifest.images {
            guard let path = image.source?.localPath,
                case .file(let information) = sources.presence(of: path)
            else { continue }
            files.insert(FolderIdentity(information))
        }
    }

    func contains(_ information: stat) -> Bool { files.contains(FolderIdentity(information)) }
}
