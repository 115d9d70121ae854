import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool

extension SpoolFolder {
    /// The IDs of all batches that have an answer, in alphabetical order.
    package func batchIDs() throws(ClientError) -> [String] { try asClientError(answers.ids()) }

    package func folder(of id: String) throws(ClientError) -> Directory? {
        try asClientError(answers.answer(of: id))
    }

    package func progress(of id: String) throws(ClientError) -> BatchProgress? {
        guard let folder = try folder(of: id) else { return nil }
        return try asClientError(reading: folder.decode(BatchProgress.self, BatchFile.progress))
    }

    /// How far a batch is; nil if there is no such batch. See `Outbox.summary`.
    package func summary(
        of id: String, patience: Double = 0
    ) throws(ClientError) -> BatchProgress? {
        try asClientError(reading: answers.summary(of: id, patience: patience))
    }

    /// The status of a batch without its images, of which there may be 100,000; nil if the folder is not an answer.
    package func frame(in folder: Directory) throws(ClientError) -> Status? {
        try asClientError(reading: Outbox.frame(in: folder))
    }

    /// Whether the answer has a progress file; older versions wrote none.
    func hasProgress(_ answer: Directory) throws(ClientError) -> Bool {
        try asClientError(answer.exists(BatchFile.progress))
    }

    /// The error for an ID that does not exist, with what the user may have meant.
    package func noSuchBatch(_ id: String) -> ClientError {
        if let folder = (try? folder(of: id)) ?? nil {
            return ClientError(
                .missing, code: "no-such-batch",
                "\(folder.path.visible): it is not a batch, because it has no status.json",
                remedy: "If nobody needs the folder, remove it by hand.")
        }
        return ClientError(
            .missing, code: "no-such-batch", "\(id.visible): there is no such batch",
            remedy: waitingManifest(id) ?? suggestion(for: id)
                ?? "darkroom list --all shows the IDs of all batches.")
    }

    /// The manifest of this name may not have been taken yet.
    private func waitingManifest(_ id: String) -> String? {
        guard let names = try? inbox().names() else { return nil }
        let manifest = names.first { name in
            ManifestFormat(fileName: name.text) != nil
                && (Self.stem(name.text) == id || name.text == id)
        }
        return manifest.map {
            "Its manifest \($0.text) is still in the inbox: \(reasonForWaiting(of: $0))"
        }
    }

    private func suggestion(for id: String) -> String? {
        guard let ids = try? batchIDs() else { return nil }
        // Someone may give the name of the manifest, or the path of the answer.
        let last = id.split(separator: "/").last.map(String.init) ?? id
        let exact = [last, Self.stem(last)].first { $0 != id && ids.contains($0) }
        // To a short or a wild name, any other one is near.
        let near =
            last.count < 3 || last.contains("*") ? nil : Suggestion.nearest(to: last, among: ids)
        return (exact ?? near).map {
            "Did you mean \($0.visible)?"
        }
    }

    private static func stem(_ name: String) -> String {
        name.partsAtLastDot.map { String($0.stem) } ?? name
    }
}
