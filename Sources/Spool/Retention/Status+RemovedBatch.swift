import DarkroomAnswer
import DarkroomCore
import SystemPackage

extension ImageStatus {
    /// The status of this image if someone has removed its batch's folder in `active` while it was in work. A failure
    /// with another cause stays.
    package func removed(with folders: BatchFolders) -> ImageStatus {
        let isOfTheFolder =
            error.map { ["file-missing", "write-failed"].contains($0.code) } ?? true
        guard state != .cancelled, isOfTheFolder else { return self }
        var image = self
        image.loseResult(.removed(folders))
        return image
    }
}

extension Failure {
    package static let batchRemoved = Code.batchRemoved.rawValue

    /// The failure of images whose batch's folder was removed.
    package static func removed(_ folders: BatchFolders) -> Failure {
        Failure(
            .batchRemoved,
            "\(folders.spool.active.path(of: FileName(folders.id))) was removed while the "
                + "batch was in work")
    }
}

extension Status {
    /// Whether images have failed because the folder in `active` was removed.
    package var isRemoved: Bool { images.contains { $0.error?.code == Failure.batchRemoved } }

    /// The last status of a batch whose folder in `active`, or whose manifest, was removed.
    func removed(from folders: BatchFolders) -> Status {
        var status = self
        for index in images.indices where !images[index].state.isFinal {
            status.images[index].state = .failed
            status.images[index].error = .removed(folders)
        }
        // Counted again, because the existing counts come from a file.
        status.counts = Counts(of: status.images)
        status.state = .completedWithErrors
        status.times.finished = Clock.timestamp
        return status
    }
}
