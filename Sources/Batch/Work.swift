import DarkroomManifest
import DarkroomSpool

/// A piece of work that an operation does.
package enum Work: Hashable, Sendable {
    case download(BatchKey, source: Int)
    case filter(BatchKey, image: Int)

    /// For debuggers: what an operation in a queue is for.
    var name: String {
        switch self {
        case .download(let key, let source): "download \(key)/\(source)"
        case .filter(let key, let image): "filter \(key)/\(image)"
        }
    }
}

/// A piece of work that is wanted, and its standing among others.
struct WorkRequest: Sendable, Equatable {
    let work: Work
    let priority: Priority
    let quality: QualityOfServiceName
}

/// The steps of an image, in their order.
package enum Step: String, Sendable {
    /// It waited for another image.
    case wait
    case download
    case filter
}

/// A batch's standing among the others: by priority, and within one priority by quality of service.
///
/// Higher is served first. OperationQueue on Linux orders by priority alone and takes no notice of an
/// operation's quality of service, so that difference is made here, in who is given places.
struct Level: Equatable {
    static let count = 25

    /// 0 for the lowest.
    let index: Int

    init(_ priority: Priority, _ quality: QualityOfServiceName) {
        index = priority.rank * 5 + quality.rank
    }

    init(index: Int) {
        self.index = index
    }

    /// The levels of the same priority with a higher quality of service.
    var above: Range<Int> { (index + 1)..<(index / 5 + 1) * 5 }
}

/// What the board wants done, by whoever called it and after its lock is free.
enum Effect: Sendable {
    /// Tell that the first of a batch's images has been given a place.
    case begun(BatchBeginning)
    /// This work is to be done when nothing keeps it: the admission settles it under the board's lock.
    case enqueue(Work, Priority, QualityOfServiceName)
    /// The same, after a while.
    case enqueueLater(Work, Priority, QualityOfServiceName, Retry)
    /// This work is not to be done any more: likewise.
    case cancel(Work)
    /// Make an operation, and put it into its queue.
    case start(Admission.Start)
    /// Cancel an operation.
    case stop(Admission.Ticket)
    /// What was to try the disk will not come to it soon.
    case storageUndecided
    /// Journal how an image ended, at which step, and publish its output if it has one.
    case record(BatchKey, BatchFolders, index: Int, ImageStatus, Step)
    /// An image that was filtered again for others has ended so: nothing of that is recorded.
    case endAgain(BatchKey, index: Int, ImageStatus)
    /// Remove the pixels that an image has handed over.
    case dropHandOver(BatchFolders, image: Int)
    /// Tell of a command that the batch was given, and write it into the batch's journal. It stands before what follows
    /// from it, so that it is told first.
    case recordCommand(BatchFolders, ControlRecord)
    /// Show it in the status of a batch that waits. `continued` is the whole of it where the file may show the images as a
    /// former daemon had them.
    case amendStatus(BatchFolders, ControlState, [ControlRecord], continued: Status?)
    /// Write the status of a held batch, and say when that is done.
    case park(BatchKey)
    /// Remove the fetched bytes of a batch that was put away.
    case dropScratch(BatchKey, BatchFolders)
    /// Prepare a batch from its folder, for there was no room to keep it in memory.
    case prepare(BatchKey, BatchFolders)
    case statusChanged(BatchKey)
    /// Write the final status and clear the batch's folder.
    case finish(BatchKey)
}
