import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomManifest
import DarkroomSpool

/// Batches that wait, originals that stay, and the ends of all.
extension OriginalStation {
    /// A batch waits, or its originals stay if it was cancelled.
    func refuse(_ key: BatchKey, _ failure: Failure, in path: String?) {
        guard let work = works[key] else { return }
        if work.job.cancellation.isSet { return stay(key, failure.message) }
        if !work.isShown, let path {
            works[key]?.isShown = true
            hot(path, of: work)?.show(work.pending)
        }
        wait(key, failure)
    }

    func wait(_ key: BatchKey, _ failure: Failure) {
        guard let work = works[key] else { return }
        let count = work.pending.count
        guard count > 0 else { return }
        let reason = StationShared.Reason(
            subject: Words.count(count, "original"), message: failure.message,
            since: trouble?.since ?? Clock.timestamp)
        if shared.note(reason, for: key) { work.job.changed() }
    }

    /// The originals of a batch that are left stay where they are.
    func stay(_ key: BatchKey, _ reason: String) {
        guard var work = works[key], !work.isInPass else { return }
        let settings = work.job.settings()
        let hot = folder(of: settings).flatMap { self.hot($0.path, of: work) }
        hot?.show(work.pending)
        let opened = rule(for: work, settings).flatMap {
            try? open($0.0, $0.1, for: work, settings)
        }
        for picture in work.pending {
            let promise = work.promises[picture.source]
            if let promise { names.remove(ByteString(promise.path)) }
            work.outcomes[picture.source] = outcome(picture, promise, hot, opened, reason)
        }
        work.pending = []
        works[key] = work
        end(key)
    }

    /// What is said of an original that is not moved any more.
    private func outcome(
        _ picture: TakenPicture, _ promise: OriginalPromise?, _ hot: OriginalsFolder.Hot?,
        _ opened: OriginalsFolder?, _ reason: String
    ) -> OriginalOutcome {
        // Only the original could not be removed.
        if let promise, promise.isPlaced { return .moved(to: promise.path) }
        // It was renamed, and only the sync has failed.
        if let promise, !promise.isCopy, (try? opened?.isPlaced(picture, promise)) == true {
            return .moved(to: promise.path)
        }
        opened?.giveUp(picture, promise)
        return hot?.lacks(picture) == true ? .isAnother : .stays(reason)
    }

    /// Hands a batch back of which nothing is left.
    func end(_ key: BatchKey) {
        guard let work = works[key], work.isDone, !shared.stopped.isSet else { return }
        works[key] = nil
        _ = shared.note(nil, for: key)
        work.job.ended(work.outcomes)
    }

    /// A folder has refused something, so that batches wait.
    func refused(_ failure: Failure, _ target: String) {
        // The last batch was cancelled, and nobody waits for the end of this.
        guard let work = works.values.first else { return trouble = nil }
        let path = folder(of: work.job.settings())?.path ?? key.text
        refused(failure, by: target, "originals of \(path) cannot be moved", of: "batches")
    }
}
