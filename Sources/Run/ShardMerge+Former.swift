import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomSpool

/// The outputs that former runs have left, which no image of the whole status has.
extension ShardMerge {
    /// Lists them before the status is replaced: those of the status that is replaced, of the former statuses of the
    /// revision, and of the lists that the shards and earlier merges have.
    ///
    /// - Returns: the list, which is in the folder now.
    func formerOutputs(_ work: inout Work) throws(RunError) -> FormerOutputs {
        let before = FormerOutputs()
        try before.require(in: root)
        var known = before.all + work.formerOutputs
        work.formerOutputs = []
        // What was not beside an image of the manifest.
        while true {
            var texts: [ArraySlice<UInt8>] = []
            while texts.count < Self.chunk, let text = work.nextFormer() { texts.append(text) }
            if texts.isEmpty { break }
            known += concurrentMap(texts) { ImageOutline($0)?.entry }.compactMap(\.self)
        }
        let former = FormerOutputs()
        func add(_ entries: [FormerOutputs.Entry]) {
            for entry in entries where !work.files.contains(entry.file.hashValue) {
                former.add(entry)
            }
        }
        add(known)
        for place in try revision.formerStatuses(outputs) where place.folder.path != outputs.path {
            _ = try place.read { images in add(images.compactMap(\.image.entry)) }
        }
        // What they say of the sources is the newest.
        for shard in try revision.shards() {
            let own = FormerOutputs()
            try own.require(in: revision.folder(of: shard))
            add(own.all)
        }
        if former.byFile != before.byFile {
            try runError(of: former.write(in: root, durably: true))
        }
        return former
    }

    /// Removes the former statuses of the revision: each shard has an answer now. And what is left of other revisions.
    func removeFormerStatuses() throws(RunError) {
        try revision.removeFormer()
        FaultPoint.mergeSettled.pass()
        try revision.removeOthers()
    }

    /// Finds out which of the files are there, and removes those that no image has if that is wanted.
    func settle(
        _ former: FormerOutputs, _ bytes: [UInt8], _ status: Status, _ report: inout MergeReport
    ) throws(RunError) {
        let before = former.byFile
        if before.isEmpty { return }
        var lost: [ByteString] = []
        for file in before.keys {
            let found = try runError(of: outputs.information(ofOutput: file.string))
            if found == nil { lost.append(file) }
        }
        try former.settle(lost, in: outputs, removesFolders: prunes)
        if !former.isEmpty { try judge(former, bytes, status, &report) }
        if former.byFile != before { try runError(of: former.write(in: root, durably: false)) }
    }

    private func judge(
        _ former: FormerOutputs, _ bytes: [UInt8], _ status: Status, _ report: inout MergeReport
    ) throws(RunError) {
        let manifest = try manifest(bytes, of: status)
        var results: [FormerFiles.Result] = []
        results.reserveCapacity(manifest.images.count)
        _ = try StatusPlace(folder: outputs, name: BatchFile.status).read { images in
            results += images.map { FormerFiles.Result($0.image) }
        }
        let sources =
            plan.roots.map { LocalSources(roots: $0) }
            ?? LocalSources(relativeTo: plan.base ?? "/", maximumBytes: .max)
        let found = try FormerFiles(
            former.byFile, outputs: outputs, manifest: manifest, results: results,
            sources: sources)
        try former.settle(found.settled, in: outputs, removesFolders: prunes)
        report.stale = found.stale.map(\.string)
        report.away = found.away.map(\.string)
        report.gone = found.gone.map(\.string)
        guard prunes, !found.gone.isEmpty else { return }
        guard Self.hasSource(manifest, sources) else {
            report.keepsAll = true
            return
        }
        report.removed = try former.prune(found.gone, in: outputs)
        report.gone = []
    }

    /// Whether a source of the manifest is there, or none of them is a file. If all are gone at once, their file system is
    /// probably not mounted, and whoever has made the manifest may have seen too little.
    private static func hasSource(_ manifest: Manifest, _ sources: LocalSources) -> Bool {
        var hasLocal = false
        for image in manifest.images {
            guard let path = image.source?.localPath else { continue }
            if case .file = sources.presence(of: path) { return true }
            hasLocal = true
        }
        return !hasLocal
    }
}
