import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomManifest
import DarkroomPage
import DarkroomSpool
import Dispatch
import SystemPackage

/// The page of a batch, between its last image and its last status.
extension Scheduler {
    /// Whether a batch gets a page. `darkroom run` makes none.
    ///
    /// - Parameter wish: what its manifest says; nil for nothing.
    func makesPage(_ wish: Bool?) -> Bool { spool.run == nil && wish ?? settings.makesPages }

    /// Makes the page of an ended batch if it gets one, puts the originals of a hot folder into its answer, and has its
    /// last status written.
    func finish(_ key: BatchKey, _ folders: BatchFolders) {
        let (wish, isFolder, isRepeated) = board.withLock { board in
            let batch = board.batches[key]
            return (
                batch?.manifest.wantsPage, batch?.status.manifest.isFolder == true,
                (batch?.status.retries ?? 0) > 0
            )
        }
        let page = makesPage(wish) ? ended(key) : nil
        if page == nil, isRepeated { withdrawFormerPage(of: folders) }
        guard page != nil || isFolder, let snapshot = snapshot(of: key) else {
            return commitEnd(key, folders)
        }
        running.enter()
        queues.addPage(images: snapshot.status.images.count) { [self] in
            if answerOriginals(snapshot), page.map({ make($0.1, of: $0.0) }) ?? true {
                commitEnd(key, folders)
            }
            running.leave()
        }
    }

    private func commitEnd(_ key: BatchKey, _ folders: BatchFolders) {
        statusKeeper.handOver(key) { [self] in
            committer.commit(Committer.End(key: key, folders: folders, source: self))
        }
    }

    /// A batch that was repeated may have a page of its former end.
    private func withdrawFormerPage(of folders: BatchFolders) {
        guard spool.run == nil else { return }
        do {
            try AnswerPage(of: folders).withdrawFormer()
        } catch {
            log.pageFailed(Failure(error), batch: folders.id)
        }
    }

    /// Without the originals, the batch ends all the same. The station of the hot folder tries it again.
    ///
    /// - Returns: false if the daemon stops meanwhile. Then it is done after the next start.
    private func answerOriginals(_ ended: StatusSnapshot) -> Bool {
        guard ended.status.manifest.isFolder == true else { return true }
        do throws(FileError) {
            try ended.folders.answerOriginals(of: ended.status, durably: settings.isDurable) {
                !gate.isStopping && !gate.isAborting
            }
        } catch {
            if error.errno == .canceled { return false }
            if error.errno != .noSuchFileOrDirectory {
                log.storageFailed(error, batch: ended.folders.id)
            }
        }
        return true
    }

    private func ended(_ key: BatchKey) -> (BatchFolders, EndedPages)? {
        let batch = board.withLock { board in
            board.batches[key].map { (folders(of: $0.id), $0.shownStatus, $0.manifest) }
        }
        return batch.map { folders, status, manifest in
            var status = status
            status.times.workMilliseconds = status.workMilliseconds
            return (folders, EndedPages(of: status, manifest))
        }
    }

    /// Makes a page. Without it, the batch ends all the same.
    ///
    /// - Returns: false if the daemon stops meanwhile. Then the page is made after the next start.
    private func make(_ pages: EndedPages, of folders: BatchFolders) -> Bool {
        let page = AnswerPage(of: folders)
        do {
            try page.make { folder, previews in
                try pages.write(to: folder, previews) { !gate.isStopping && !gate.isAborting }
            }
        } catch let error as FileError where error.errno == .canceled {
            return false
        } catch {
            page.discard()
            log.pageFailed(Failure(erasing: error), batch: folders.id)
        }
        return true
    }
}
