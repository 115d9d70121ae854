import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomSpool
import Dispatch
import SystemPackage

/// Batches for which there was no room in memory. They are read again from their folders when their turn has come.
extension Scheduler {
    func prepareLater(_ key: BatchKey, _ folders: BatchFolders) {
        preparation.async { [self] in prepare(key, folders) }
    }

    private func prepare(_ key: BatchKey, _ folders: BatchFolders) {
        let settings = settings
        let recovery = Recovery(
            spool: spool, examination: settings.examination.asking(stopped),
            durably: settings.isDurable)
        do {
            let finding = try recovery.recover(folders.id)
            storage.writeSucceeded()
            switch finding {
            case .unfinished(let prepared): return advance { $0.prepared(key, prepared) }
            case .rejected(let status, _): log.rejected(status)
            case .removed(let status): log.batchRemoved(status)
            case .empty, .putBack, .finished: break
            }
        } catch  where error.errno == .canceled {
            // The daemon stops. The next start reads the batch.
            return storage.probeInconclusive()
        } catch  where error.storageFailure != nil {
            storage.writeRefused(error, batch: folders.id)
            return waitForStorage(key, folders)
        } catch {
            storage.probeInconclusive()
            log.storageFailed(error, batch: folders.id)
        }
        advance { $0.preparationFailed(key) }
        cancellations.drop(key)
    }
}
