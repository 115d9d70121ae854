import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Glibc
import Synchronization
import SystemPackage

/// A run that begins in a new folder, or with nothing to do.
extension RunFolder {
    /// Copies the manifest, and writes the first status.
    func begin() throws(FileError) -> PreparedBatch {
        // A power cut after the first output must not leave an output without its journal.
        let name = FileName(job.id)
        if try spool.active.exists(name) { try spool.ended.remove(name) }
        try spool.active.makeDirectory(name, mode: 0o700)
        FaultPoint.claimFolderMade.pass()
        let active = try folders.active()
        let copy = BatchFile.manifest(job.format)
        let reading = ManifestReading(job.bytes, accepted: job.manifest)
        try reading.copyRecord(to: active, durably: durably)
        if try folders.shareManifest(copy, of: job.bytes, in: active) {
            FaultPoint.claimCopied.pass()
        } else {
            try reading.copy(to: active, job.format, durably: durably)
            if durably { try active.open(copy).sync(path: active.path(of: copy)) }
        }
        if durably {
            try active.sync()
            FaultPoint.claimFolderSynced.pass()
            try spool.active.sync()
            FaultPoint.claimActiveSynced.pass()
            try spool.root.sync()
            try outputs.sync()
        }
        let claimed = ClaimedManifest(
            folders: folders, name: job.name, format: job.format, received: Clock.timestamp,
            reading: reading, uid: geteuid())
        let status = Receipt.status(of: claimed)
        // It can be written again from the manifest.
        try Receipt.issue(
            status, manifest: job.bytes, ManifestCopy(of: claimed), in: folders, durably: false)
        return PreparedBatch(id: folders.id, manifest: job.manifest, status: status)
    }

    /// Ends a shard without images. No other manifest is empty.
    func endEmpty(_ prepared: PreparedBatch) throws(RunError) -> Finding {
        var status = prepared.status
        status.state = .completed
        status.times.started = Clock.timestamp
        status.times.finished = status.times.started
        let last = status
        try runError { () throws(FileError) in
            try folders.writeEnd(last, durably: durably)
            try Receipt.finish(folders, format: job.format, durably: durably)
        }
        return .finished(last)
    }
}
