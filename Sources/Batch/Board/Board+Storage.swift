import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// What the board does while the spool accepts no writes.
extension Board {
    /// The free scratch files of all batches, reserved so that no source gets one; first those of downloads that would
    /// have been resumed, which begin anew.
    func takeFreeSlots() -> [(key: BatchKey, folders: BatchFolders, slots: [Int])] {
        batches.values.compactMap { batch in
            batch.forgetPartials()
            let slots = batch.takeFreeSlots()
            return slots.isEmpty ? nil : (batch.key, batch.folders, slots)
        }
    }

    /// The piece of this work for an attempt; nil if its batch has ended.
    func piece(of work: Work) -> StorageBacklog.Piece? {
        switch work {
        case .download(let key, let source):
            return batches[key] == nil ? nil : .source(key, source)
        case .filter(let key, let image):
            guard let batch = batches[key] else { return nil }
            let source = batch.sourceOfImage[image]
            return source >= 0 ? .source(key, source) : .image(key, image)
        }
    }

    /// Makes an image that is being filtered wait for its source's download again, if no other image in work uses the
    /// source.
    ///
    /// - Returns: the number of the scratch file, which still belongs to the source; nil if the file is kept.
    func sourceGivenBack(_ key: BatchKey, _ image: Int) -> Int? {
        guard let batch = batches[key], batch.live[image]?.phase == .filtering,
            !batch.cancellation.isSet
        else { return nil }
        let source = batch.sourceOfImage[image]
        guard source >= 0, batch.sources[source].phase == .ready,
            let slot = batch.sources[source].slot,
            !batch.live.indices.contains(where: { $0 != image && batch.sourceOfImage[$0] == source }
            )
        else { return nil }
        batch.sources[source].phase = .queued
        batch.sources[source].attempts = nil
        batch.sources[source].waiters = [image]
        batch.live[image]?.phase = .queuedDownload
        batch.setState(.new, of: image)
        return slot
    }
}
