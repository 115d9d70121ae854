import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// What the publisher is given: ended images, and other lines of a batch's journal.
extension Publisher {
    /// An image that has ended.
    package struct Item: Sendable {
        package let folders: BatchFolders
        package let index: Int
        package var status: ImageStatus
        /// Whether its pixels are in a file next to its output, for other images; see `HandOverTable`.
        package let handsOver: Bool
        /// Called with the status that was written to the journal: that of a failed image if publishing failed.
        package let completion: @Sendable (ImageStatus) -> Void
        /// Called instead if it is not written to the journal.
        package let unrecorded: @Sendable (Unrecorded) -> Void
        /// Whether it is not in the journal yet.
        var isUndecided = true

        package init(
            folders: BatchFolders, index: Int, status: ImageStatus, handsOver: Bool = false,
            completion: @escaping @Sendable (ImageStatus) -> Void,
            unrecorded: @escaping @Sendable (Unrecorded) -> Void = { _ in }
        ) {
            self.folders = folders
            self.index = index
            self.status = status
            self.handsOver = handsOver
            self.completion = completion
            self.unrecorded = unrecorded
        }

        /// Whether it has an output that may not be on the disk.
        var awaitsSync: Bool { status.state == .filtered && isUndecided }

        /// The files that exist according to the journal's record.
        var files: [FileName] {
            (status.published == false ? [] : [BatchFile.output(index)])
                + (handsOver ? [BatchFile.pixels(index)] : [])
        }

        var record: JournalRecord { .ended(index: index, status) }
    }

    /// A line of a batch's journal that does not concern an image.
    struct Record: Sendable {
        let folders: BatchFolders
        let record: JournalRecord
        /// Called when it is written, or when the batch's folder does not exist any more.
        let completion: @Sendable () -> Void
    }

    /// The reason why an image's result is not in the journal.
    package enum Unrecorded: Sendable {
        /// There was no space on the disk for its output. It must be made again.
        case again
        /// The daemon stops while the disk refuses it. The next start repeats it.
        case left
    }

    enum Entry: Sendable {
        case item(Item)
        case record(Record)

        var folders: BatchFolders {
            switch self {
            case .item(let item): item.folders
            case .record(let record): record.folders
            }
        }
    }

    /// The entries of one batch.
    struct Group: Sendable {
        let folders: BatchFolders
        var items: [Item] = []
        var records: [Record] = []

        var isEmpty: Bool { items.isEmpty && records.isEmpty }
    }
}
