import DarkroomCore

extension ImageStatus {
    /// The same image of a batch whose folder in `active` someone has removed while it was in work. A failure
    /// that has another cause stays.
    package func removed(with folders: BatchFolders) -> ImageStatus {
        let isOfTheFolder =
            error.map { ["file-missing", "write-failed"].contains($0.code) } ?? true
        guard state != .cancelled, isOfTheFolder else { return self }
        var image = self
        image.state = .failed
        image.output = nil
        image.error = .removed(folders)
        return image
    }
}

extension Failure {
    package static let batchRemoved = Code.batchRemoved.rawValue

    /// Why images of a batch fail whose folder is gone.
    package static func removed(_ folders: BatchFolders) -> Failure {
        Failure(
            .batchRemoved,
            "\(folders.spool.active.path(of: FileName(folders.id))) was removed while the "
                + "batch was in work")
    }
}

extension Status {
    /// Whether images of it have failed for its folder in `active` was removed.
    package var isRemoved: Bool { images.contains { $0.error?.code == Failure.batchRemoved } }

    /// The status that a batch ends with whose folder in `active` is gone, or whose manifest is.
    func removed(from folders: BatchFolders) -> Status {
        var status = self
        for index in images.indices where !images[index].state.isFinal {
            status.images[index].state = .failed
            status.images[index].error = .removed(folders)
        }
        // Counted anew: what is there was read from a file.
        status.counts = Counts(of: status.images)
        status.state = .completedWithErrors
        status.times.finished = Clock.timestamp
        return status
    }
}
