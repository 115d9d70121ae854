import DarkroomClient
import DarkroomConfiguration
import DarkroomCore
import DarkroomManifest
import DarkroomRun
import Foundation

/// The steps of `darkroom run` before anything is written: its manifest is read or made, and checked.
struct RunPreparation {
    private let command: RunArguments
    private let shardText: String?
    private let rules: ManifestRules
    private let loaded: ConfigurationLoader.Loaded

    /// - Parameter loaded: the configuration, which gets the headers of the command line.
    static func job(
        _ command: RunArguments, shard: String?, _ loaded: inout ConfigurationLoader.Loaded
    ) throws -> RunJob {
        let job = try RunPreparation(
            command: command, shardText: shard, rules: loaded.manifestRules, loaded: loaded
        ).job()
        loaded.configuration.downloads.headers = try command.headers.adding(
            to: loaded.configuration.downloads.headers, for: job.manifest,
            isOthers: !command.isOfPictures)
        return job
    }

    private func job() throws -> RunJob {
        let manifests = command.files.filter(ManifestArgument.isManifest)
        guard let path = manifests.first else { return try pictures() }
        guard command.files.count == 1 else {
            let shown = FileName(path).text
            throw ClientError(
                .usage, code: "mixed-files",
                manifests.count > 1
                    ? "several manifests; each needs a run and a folder of its own"
                    : "\(shown) is a manifest, and other files are pictures. Run them separately.")
        }
        try command.pictures.refuse(
            list: command.list.list, remedy: ManifestArgument.hasItsOwn(path))
        let file = try ManifestFile(path: path, limits: rules.limits)
        let stem = file.fileName.map { SubmissionName.of($0) } ?? "manifest"
        return try job(file, id: stem, name: file.fileName?.text, base: SubmitRun.folder(of: path))
    }

    private func pictures() throws -> RunJob {
        // The results of pictures that are gone stand.
        let job = try command.pictures.job(
            .init(
                files: command.files, list: command.list.list, results: command.output,
                mayBeGone: !command.retry && RunFolder.hasEnded(in: command.output),
                ignored: loaded.configuration.ignoredNames),
            priority: nil, nil)
        let stem = job.title ?? SubmissionName.of(job.pictures)
        return try self.job(
            ManifestFile(try job.manifest(), shown: stem), id: stem, name: nil, base: ".")
    }

    /// - Parameter name: the name of the manifest's file; nil if it has none.
    private func job(
        _ file: ManifestFile, id: String, name: String?, base: String
    ) throws -> RunJob {
        let base = Self.absolute(base)
        let folder = Self.trimmed(command.output)
        let finder = loaded.runSettings(base: base).localSources.finder()
        let shard = try shard()
        let hasEnded = shard.map { RunFolder.hasEnded($0, in: folder) } ?? true
        let knowing = hasEnded ? finder.recalling : finder.knowing
        let manifest = try file.manifest(
            rules, finder: RunFolder.countedPages(in: folder).map(knowing) ?? finder)
        guard shard == nil || manifest.found.patterns.isEmpty else {
            throw ClientError(
                .usage, code: "pattern-in-shards",
                "\(file.shown): it names pictures by a pattern or a folder, and each shard would look for itself",
                remedy: "Name the pictures one by one: darkroom make writes such a manifest.")
        }
        try ResultConflict.refuse(manifest, base: base, folder: folder)
        var job = RunJob(
            id: id, name: name ?? "\(id).\(file.format.fileExtensions[0])",
            format: file.format, bytes: file.bytes, manifest: manifest,
            base: base, usesBase: !manifest.relativePaths.isEmpty,
            folder: folder, retries: command.retry, shard: shard)
        job.isOfPictures = command.isOfPictures
        job.checks = command.check
        job.prunes = command.prune
        job.hasCountedAgain = shard != nil && hasEnded
        return job
    }

    private func shard() throws(ClientError) -> ShardRequest? {
        guard let text = shardText else { return nil }
        let environment = ProcessInfo.processInfo.environment
        do {
            return try ShardRequest(text) { environment[$0] }
        } catch {
            throw ClientError(.usage, code: error.code, error.message)
        }
    }

    private static func absolute(_ folder: String) -> String {
        let here = FileManager.default.currentDirectoryPath
        if folder == "." { return here }
        return folder.utf8.first == UInt8(ascii: "/") ? folder : "\(here)/\(folder)"
    }

    /// The path without slashes at its end, for messages.
    static func trimmed(_ path: String) -> String {
        var path = path[...]
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        return String(path)
    }
}
