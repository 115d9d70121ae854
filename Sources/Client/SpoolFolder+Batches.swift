import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Foundation
import Glibc
import SystemPackage

extension SpoolFolder {
    /// The folder of a batch in the outbox; nil if there is no such batch.
    package func folder(of id: String) throws(ClientError) -> Directory? {
        guard !id.isEmpty, !id.hasPrefix("."), !id.contains("/"), !id.contains("\0") else {
            return nil
        }
        let outbox = try outbox()
        do throws(FileError) {
            return try Directory(FileName(id), in: outbox)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels,
                .fileNameTooLong:
                return nil
            default: throw ClientError(error)
            }
        }
    }

    /// How far a batch is; nil if there is no such batch.
    ///
    /// `progress.json` is written just after `status.json`. It is missing in the answers of older versions, and at first
    /// if a batch has few images. So the status decides if it is newer. It may have 36 MB, so somebody who looks twice a
    /// second may wait for the progress file instead.
    ///
    /// - Parameter patience: the seconds in which a newer status is not read yet, unless the batch has ended according
    ///   to its progress file.
    package func summary(
        of id: String, patience: Double = 0
    ) throws(ClientError) -> BatchProgress? {
        guard let folder = try folder(of: id) else { return nil }
        var progress = try? decode(BatchProgress.self, BatchProgress.fileName, in: folder)
        // An ID that is too long for the file is the name of the folder alone.
        progress?.id = id
        guard let status = try? folder.information(of: "status.json") else { return nil }
        if let progress, let file = try? folder.information(of: BatchProgress.fileName) {
            guard status.isNewer(than: file) else { return progress }
            let age = Clock.wall - Double(status.st_mtim.tv_sec)
            if age < patience, !progress.state.isFinal { return progress }
        }
        if progress == nil, status.length <= Self.smallStatus,
            let whole = (try? Status(in: folder)) ?? nil
        {
            var batch = BatchProgress(of: whole)
            batch.written = whole.written ?? batch.written
            return batch
        }
        guard let frame = try frame(in: folder) else { return nil }
        var batch = BatchProgress(olderAnswer: frame)
        batch.outputBytes = progress?.outputBytes ?? 0
        return batch
    }

    /// A status of at most this many bytes takes little time to read with its images, which have the sizes of the
    /// outputs.
    private static let smallStatus = 64 << 10

    /// The status of a batch without its images, of which there may be 100,000; nil if the folder is not an answer.
    package func frame(in folder: Directory) throws(ClientError) -> Status? {
        let status: Status?
        do throws(FileError) {
            status = try Status(frameIn: folder)
        } catch {
            if error.errno == .noSuchFileOrDirectory { return nil }
            throw ClientError(error)
        }
        guard let status else {
            throw ClientError(unreadableStatusIn: folder)
        }
        return status
    }

    /// Whether the answer has a progress file; older versions wrote none.
    func hasProgress(_ answer: Directory) throws(ClientError) -> Bool {
        do throws(FileError) {
            return try answer.exists(BatchProgress.fileName)
        } catch {
            throw ClientError(error)
        }
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
