/// What the board does while the spool accepts no writes.
extension Board {
    /// The free scratch files of all batches, reserved so that no source gets one; first those of downloads that would
    /// have been resumed, which begin anew.
    package mutating func takeFreeSlots() -> [(key: BatchKey, id: String, slots: [Int])] {
        var free: [(key: BatchKey, id: String, slots: [Int])] = []
        for key in Array(batches.keys) {
            change(key) { batch, _ in
                batch.forgetPartials()
                let slots = batch.takeFreeSlots()
                if !slots.isEmpty { free.append((key, batch.id, slots)) }
            }
        }
        return free
    }

    /// The piece of this work for an attempt; nil if its batch has ended.
    package func piece(of work: Work) -> StorageBacklog.Piece? {
        switch work {
        case .download(let key, let source):
            return batches[key] == nil ? nil : .source(key, source)
        case .filter(let key, let image):
            guard let batch = batches[key] else { return nil }
            let source = batch.sourceOfImage[image]
            return source >= 0 ? .source(key, source) : .image(key, image)
        }
    }

    /// Gives up the bytes of an image's source, see `Batch.sourceGivenBack`.
    package mutating func sourceGivenBack(_ key: BatchKey, _ image: Int) -> Int? {
        change(key) { $0.sourceGivenBack(image, &$1) } ?? nil
    }
}
