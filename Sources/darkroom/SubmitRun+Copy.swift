import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import DarkroomSpool
import SystemPackage

/// `--copy`: pictures are sent along with their manifest.
extension SubmitRun {
    /// The folder of a manifest's file; the current folder for standard input.
    static func folder(of path: String) -> String {
        let folder = FilePath(path).removingLastComponent().string
        return folder.isEmpty ? "." : folder
    }

    /// The pictures that are sent along; nil if none are.
    func sources(of item: Prepared) throws(ClientError) -> SentSources? {
        guard command.copy else { return nil }
        _ = try folderName(of: item)
        let sources = try SentSources(
            of: item.manifest, beside: item.base, limit: queue?.limits.sourceBytes)
        return sources.items.isEmpty ? nil : sources
    }

    private func folderName(of item: Prepared) throws(ClientError) -> String {
        try SubmissionName.ofFolder(item.stem, isChosen: command.name != nil)
    }

    /// Drops a manifest, with the pictures that are sent along.
    func submission(of item: Prepared, _ sources: SentSources?) throws(ClientError) -> Submission {
        guard let sources else {
            return try Submission(
                StagedFile(item.bytes, in: folder), stem: item.stem,
                ending: ".\(item.format.fileExtensions[0])", isHeld: command.hold, in: folder)
        }
        let staged = try Interruption.postponed { () throws(ClientError) in
            let staged = try StagedFolder(in: folder, daemon: queue?.daemon.uid)
            do throws(ClientError) {
                try collect(item, sources, in: staged)
            } catch {
                staged.remove()
                throw error
            }
            return staged
        }
        return try Submission(staged, stem: folderName(of: item), isHeld: command.hold, in: folder)
    }

    private func collect(
        _ item: Prepared, _ sources: SentSources, in staged: StagedFolder
    ) throws(ClientError) {
        try staged.write(
            item.bytes, to: FileName("\(FolderJob.stem).\(item.format.fileExtensions[0])"))
        let progress = ProgressLine()
        defer { progress.clear() }
        let pictures = Words.count(sources.items.count, "picture")
        let total = HumanText.bytes(Double(sources.bytes))
        var done = 0
        try sources.send(into: staged) { bytes in
            done += bytes
            progress.show("Copying \(pictures): \(HumanText.bytes(Double(done))) of \(total)")
            return !Interruption.isPending
        }
        if Interruption.isPending { throw SentSources.interrupted }
    }
}
