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
    func makesPage(_ wish: Bool?) -> Bool {
        spool.run == nil && wish ?? settings.makesPages
    }

    /// Makes the page of an ended batch if it gets one, and has its last status written.
    func finish(_ key: BatchKey) {
        let wish = board.withLock { $0.batches[key]?.manifest.wantsPage }
        guard makesPage(wish), let (folders, pages) = ended(key) else {
            withdrawFormerPage(of: key)
            return statusKeeper.finish(key, self)
        }
        running.enter()
        queues.pages.add(images: pages.imageCount) { [self] in
            if make(pages, of: folders) { statusKeeper.finish(key, self) }
            running.leave()
        }
    }

    /// A batch that was repeated may have a page of its former end.
    private func withdrawFormerPage(of key: BatchKey) {
        guard spool.run == nil else { return }
        let repeated = board.withLock { board in
            board.batches[key].flatMap { ($0.status.retries ?? 0) > 0 ? $0.folders : nil }
        }
        guard let folders = repeated else { return }
        do {
            try AnswerPage(of: folders).withdrawFormer()
        } catch {
            log.pageFailed(Failure(error), batch: folders.id)
        }
    }

    private func ended(_ key: BatchKey) -> (BatchFolders, EndedPages)? {
        board.withLock { board in
            board.batches[key].map {
                ($0.folders, EndedPages(of: $0.shownStatus, $0.manifest))
            }
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
