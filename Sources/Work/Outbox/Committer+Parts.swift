import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomSpool

/// What the committer is given: ended images, other lines of a batch's journal, and ends of batches.
extension Committer {
    /// An image that has ended.
    struct Item: Sendable {
        let folders: BatchFolders
        let index: Int
        var status: ImageStatus
        /// Whether its pixels are in a file next to its output, for other images; see `HandOverTable`.
        var handsOver = false
        /// Called with the status that was written to the journal: that of a failed image if publishing failed.
        let completion: @Sendable (ImageStatus) -> Void
        /// Called instead if it is not written to the journal.
        var unrecorded: @Sendable (Unrecorded) -> Void = { _ in }
        /// Whether it is not in the journal yet.
        var isUndecided = true

        /// Whether it has an output that may not be on the disk. One that was delivered is.
        var awaitsSync: Bool {
            status.state == .filtered && isUndecided && status.deliveredTo == nil
        }

        /// The files that exist according to the journal's record.
        var files: [FileName] {
            BatchFile.results(index, isPublished: status.published != false, handsOver: handsOver)
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
    enum Unrecorded: Sendable {
        /// There was no space on the disk for its output. It must be made again.
        case again
        /// The daemon stops while the disk refuses it. The next start repeats it.
        case left
    }

    /// A batch that has ended, and waits for its last status.
    struct End: Sendable {
        let key: BatchKey
        let folders: BatchFolders
        let source: any StatusSource
        /// The reported reason why the last status could not be written.
        var reported: FileError?
    }

    /// What has come since the last pass.
    struct Pending: Sendable {
        var items: [Item] = []
        var records: [Record] = []
        var ends: [End] = []

        var isEmpty: Bool { items.isEmpty && records.isEmpty && ends.isEmpty }

        /// The images and records of each batch together, and then the ends, because an end comes after all of its
        /// batch.
        var parts: [Part] {
            // By the bytes of the ID: two IDs that are equal in Unicode are two folders.
            var indices: [FileName: Int] = [:]
            var batches: [Results] = []
            func index(of folders: BatchFolders) -> Int {
                let index = indices[FileName(folders.id), default: batches.count]
                if index == batches.count {
                    indices[FileName(folders.id)] = index
                    batches.append(Results(folders: folders))
                }
                return index
            }
            for item in items { batches[index(of: item.folders)].items.append(item) }
            for record in records { batches[index(of: record.folders)].records.append(record) }
            return batches.map(Part.results) + ends.map(Part.end)
        }
    }

    /// The images and records of one batch.
    struct Results: Sendable {
        let folders: BatchFolders
        var items: [Item] = []
        var records: [Record] = []

        var isEmpty: Bool { items.isEmpty && records.isEmpty }
    }

    /// What is retried as a whole.
    enum Part: Sendable {
        case results(Results)
        case end(End)

        var batch: FileName {
            switch self {
            case .results(let results): FileName(results.folders.id)
            case .end(let end): FileName(end.folders.id)
            }
        }

        var isResults: Bool { if case .results = self { true } else { false } }

        /// The daemon stops. The next start finds what an end needs in the journal.
        @Sendable func leave() {
            guard case .results(let results) = self else { return }
            for item in results.items { item.unrecorded(.left) }
        }
    }

    /// A batch during the steps of its end.
    struct Ending: Sendable {
        let end: End
        let snapshot: StatusSnapshot
        var folders: BatchFolders { end.folders }
        var status: StatusFile { StatusFile(folders, isFinal: true) }

        /// Its last status; `sizes.json`, and the folders of its outputs.
        var filesToSync: Int {
            let status = snapshot.status
            return 1 + (ResultSizes.areUseful(for: status.images) ? 1 : 0)
                + status.outputFolders.count
        }
    }

    /// Parts of different batches that share the waits for the disk. A part for which a step fails leaves the others.
    struct Pass {
        var results: [Results] = []
        var ends: [Ending] = []
        /// What must be retried, because the disk has refused it.
        var rest: [Part] = []
        /// Whether a part has left without showing whether the disk accepts writes.
        var isUndecided = false
        private var batches: Set<FileName> = []
        /// The images of its ends.
        private var images = 0

        /// So many batches share syncs at most, because each has a folder open meanwhile.
        private static let mostBatches = 32
        /// So many images of ends fill a pass, because the statuses of their batches are in memory.
        static let mostImages = 4096

        /// Adds a part unless the pass is full or has one of the same batch.
        ///
        /// - Parameter mayFinish: whether batches may end. Otherwise their ends are dropped.
        /// - Returns: false if it must be in another pass. An empty pass takes every part.
        mutating func take(_ part: Part, mayFinish: Bool) -> Bool {
            guard batches.count < Self.mostBatches, part.isResults || images < Self.mostImages,
                batches.insert(part.batch).inserted
            else { return false }
            switch part {
            case .results(let results):
                self.results.append(results)
            case .end(let end):
                guard mayFinish, let snapshot = end.source.snapshot(of: end.key) else {
                    isUndecided = true
                    break
                }
                images += snapshot.status.images.count
                ends.append(Ending(end: end, snapshot: snapshot))
            }
            return true
        }

        var spool: Spool? { results.first?.folders.spool ?? ends.first?.folders.spool }

        /// The number of files that must be on the disk before the journals and the last statuses are.
        var filesToSync: Int {
            results.reduce(ends.reduce(0) { $0 + $1.filesToSync }) { sum, results in
                sum + results.items.filter(\.awaitsSync).reduce(0) { $0 + $1.files.count }
            }
        }
    }
}

extension BatchFile {
    /// The files in `active/ID` that the filter of an image leaves.
    static func results(_ index: Int, isPublished: Bool, handsOver: Bool) -> [FileName] {
        (isPublished ? [output(index)] : []) + (handsOver ? [pixels(index)] : [])
    }
}

extension BatchFolders {
    /// Waits until these files in `active/ID` are on the disk.
    func sync(_ files: [FileName]) throws(FileError) {
        let active = spool.active
        for name in files.map(pathInActive) {
            try active.open(name).sync(path: active.path(of: name))
        }
    }
}
