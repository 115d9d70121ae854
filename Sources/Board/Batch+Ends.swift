import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture

/// The ends of images, and what follows for others of the batch.
extension Batch {
    mutating func begin(_ pool: inout Pool) {
        // A restart may have followed the last end of the images that needed them, before their removal.
        for index in handOvers.unneeded { dropHandOver(of: index, &pool) }
        if isCancelled { cancelImages(&pool) }
        // A restart may have followed an image's end, before the end of the images made from it or of the batch.
        failOrphans(&pool)
        deliverLeft(undelivered, &pool)
        finishIfEnded(&pool)
        rotate(&pool)
        if status.commands != nil { pool.mark(key) }
        parkIfIdle(&pool)
    }

    // MARK: Results

    /// An image has been filtered, or has failed: it is recorded, or gets its former status back. It ends when that is
    /// done.
    mutating func record(_ index: Int, _ image: ImageStatus, at step: Step, _ pool: inout Pool) {
        move(index, to: .recording, &pool)
        // The times of the step that has ended.
        var image = image
        image.milliseconds = status.images[index].milliseconds
        image.times = status.images[index].times
        pool.request(
            handOvers.isFilteredAgain(index)
                ? .endAgain(key, index: index, image)
                : .record(key, id: id, index: index, image, step))
    }

    mutating func fail(_ index: Int, _ failure: Failure, at step: Step, _ pool: inout Pool) {
        var image = status.images[index]
        image.state = failure.isCancellation ? .cancelled : .failed
        image.error = failure
        if sourceOfImage[index] >= 0 {
            image.sourceIdentity = attempts[sourceOfImage[index]]?.identity
        }
        let format = manifest.images[index].isPublished ? manifest.images[index].output.format : nil
        image.libraries = CodecLibraries.known(
            failing: attempts[sourceOfImage[index]]?.kind, writing: format)
        noteSettings(of: index, &image)
        record(index, image, at: step, &pool)
    }

    /// Notes what has decided the result, for who wants to know whether another attempt would have another one.
    mutating func noteSettings(of index: Int, _ image: inout ImageStatus) {
        image.settingsSHA256 = settingsMemory.sha256(of: index, in: manifest)
        image.versionsSHA256 = PictureVersions.presentSHA256(
            of: manifest.images[index].isPublished ? manifest.images[index].output.format : nil)
    }

    /// An image has its final result, which is in the journal.
    mutating func ended(_ index: Int, like image: ImageStatus, _ pool: inout Pool) {
        end(index, like: image, &pool)
        release(dependentsOf: index, image, &pool)
        finishIfEnded(&pool)
        rotate(&pool)
        parkIfIdle(&pool)
    }

    private mutating func end(_ index: Int, like image: ImageStatus, _ pool: inout Pool) {
        move(index, to: .ended, result: image, &pool)
        pool.giveBackMemory(.filter(key, image: index))
        let source = sourceOfImage[index]
        if source >= 0 {
            sources[source].users -= 1
            let isLast = sources[source].users == 0
            sizes.imageEnded(source, kind: workKinds[index], isLast: isLast)
            if isLast {
                releaseSlot(of: source)
                attempts[source] = nil
            }
        }
        releaseHandOvers(of: index, &pool)
    }

    /// Ends an image that is not in work, because the batch was cancelled.
    mutating func cancel(_ index: Int, _ pool: inout Pool) {
        var image = status.images[index]
        image.state = .cancelled
        end(index, like: image, &pool)
    }

    // MARK: Dependents

    /// Releases the images that must come after `index`, which has ended like `image`. Those that were to be made from
    /// it fail with it.
    private mutating func release(
        dependentsOf index: Int, _ image: ImageStatus, _ pool: inout Pool
    ) {
        for dependent in dependents[index] ?? [] {
            blockers[dependent] -= 1
            guard stage(of: dependent) == .new else { continue }
            let isNeeded = manifest.images[dependent].needs.contains(index)
            if image.state != .filtered, isNeeded {
                failOrphan(dependent, missing: index, image, &pool)
                continue
            }
            if isNeeded, let failure = standing[index], manifest.images[index].isHandedOver {
                // Its pixels cannot be handed over.
                guard formers[dependent] != nil else {
                    failOrphan(dependent, missing: index, image.failed(failure), &pool)
                    continue
                }
                standing[dependent] = failure
            }
            if blockers[dependent] == 0 { unblocked.append(dependent) }
        }
    }

    /// Fails the images that were to be made from one that has ended without an output.
    private mutating func failOrphans(_ pool: inout Pool) {
        for index in manifest.images.indices where stage(of: index) == .new {
            let missing = manifest.images[index].needs.first {
                let state = status.images[$0].state
                return state.isFinal && state != .filtered
            }
            if let missing { failOrphan(index, missing: missing, status.images[missing], &pool) }
        }
    }

    /// The source of an image cannot be fetched. Its former result stands, if there is one, and if that says nothing of
    /// what the source is now.
    ///
    /// - Returns: false if the image fails.
    mutating func stand(_ index: Int, _ failure: Failure) -> Bool {
        guard formers[index] != nil, !handOvers.isFilteredAgain(index),
            FetchError.Code(rawValue: failure.code)?.leavesContentUnknown == true
        else { return false }
        standing[index] = failure
        return true
    }

    private mutating func failOrphan(
        _ index: Int, missing: Int, _ image: ImageStatus, _ pool: inout Pool
    ) {
        let failure = Failure(
            dependingOn: image.name,
            isOverlay: manifest.images[index].overlays.contains(missing),
            wasCancelled: image.state == .cancelled, image.error)
        fail(index, failure, at: .wait, &pool)
    }

    // MARK: The batch

    mutating func finishIfEnded(_ pool: inout Pool) {
        guard hasEnded, !isFinishing, !moveOriginals(&pool) else { return }
        isFinishing = true
        status.state = status.counts.finalState
        status.times.finished = Clock.timestamp
        pool.request(.finish(key, id: id))
    }
}

extension ImageStatus {
    fileprivate func failed(_ failure: Failure) -> ImageStatus {
        var image = self
        image.state = .failed
        image.error = failure
        return image
    }
}
