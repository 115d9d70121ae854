import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool

/// A run that will not be continued, because its manifest is another one now.
struct UnfinishedRun {
    let folders: BatchFolders
    let examination: Examination
    let durably: Bool

    /// Writes its last status: what it has made is kept for a comparison, and the rest is cancelled.
    ///
    /// - Parameter format: of a manifest whose status does not tell it.
    func end(_ format: ManifestFormat) throws(RunError) {
        let recovery = Recovery(spool: folders.spool, examination: examination, durably: durably)
        let finding = try runError(of: recovery.recover(folders.id))
        guard case .unfinished(let prepared) = finding else { return }
        var last = prepared.status
        for index in last.images.indices where !last.images[index].state.isFinal {
            last.images[index].state = .cancelled
            last.images[index].error = Failure(
                code: PictureError.Code.cancelled.rawValue,
                message: "the manifest was changed before the image was made")
        }
        last.counts = Status.Counts(of: last.images)
        last.state = .cancelled
        last.waiting = nil
        last.times.started = last.times.started ?? Clock.timestamp
        last.times.finished = Clock.timestamp
        let final = last
        try runError { () throws(FileError) in
            try folders.writeEnd(final, durably: durably)
            try Receipt.finish(folders, format: final.manifest.format ?? format, durably: durably)
        }
    }
}
