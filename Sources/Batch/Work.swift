import DarkroomManifest
import DarkroomSpool

/// A piece of work for an operation.
package enum Work: Hashable, Sendable {
    case download(BatchKey, source: Int)
    case filter(BatchKey, image: Int)

    /// For debuggers: the purpose of an operation in a queue.
    var name: String {
        switch self {
        case .download(let key, let source): "download \(key)/\(source)"
        case .filter(let key, let image): "filter \(key)/\(image)"
        }
    }
}

/// A requested piece of work, with its priority and quality of service.
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

/// The rank of a batch: by priority, and within one priority by quality of service.
///
/// Higher levels are served first. On Linux, OperationQueue sorts by priority only and ignores an operation's quality
/// of service. Therefore the places are given out by level.
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

/// What the board requests. The caller carries it out after it has released the board's lock.
enum Effect: Sendable {
    /// Report that the first of a batch's images has been given a place.
    case begun(BatchBeginning)
    /// Do this work when nothing delays it. The admission handles this under the board's lock.
    case enqueue(Work, Priority, QualityOfServiceName)
    /// The same, after some time.
    case enqueueLater(Work, Priority, QualityOfServiceName, Retry)
    /// Do not do this work any more. The admission handles this too.
    case cancel(Work)
    /// Create an operation and put it into its queue.
    case start(Admission.Start)
    /// Cancel an operation.
    case stop(Admission.Ticket)
    /// The piece of work that was to try the disk is delayed.
    case storageUndecided
    /// Write an image's result to the journal, with its step, and publish its output if it has one.
    case record(BatchKey, BatchFolders, index: Int, ImageStatus, Step)
    /// An image that was filtered again for others has this result, which is not recorded.
    case endAgain(BatchKey, index: Int, ImageStatus)
    /// Remove the pixels that an image has handed over.
    case dropHandOver(BatchFolders, image: Int)
    /// Report a command that the batch was given, and write it into the batch's journal. This precedes the
    /// consequences, so that it is reported first.
    case recordCommand(BatchFolders, ControlRecord)
    /// Write it into the status of a waiting batch. `continued` is the complete status if the file may contain the
    /// states of the images under a previous daemon.
    case amendStatus(BatchFolders, ControlState, [ControlRecord], continued: Status?)
    /// Write the status of a held batch, and report when that is done.
    case park(BatchKey)
    /// Remove the fetched bytes of a parked batch.
    case dropScratch(BatchKey, BatchFolders)
    /// Prepare a batch from its folder, because there was no room to keep it in memory.
    case prepare(BatchKey, BatchFolders)
    case statusChanged(BatchKey)
    /// Write the final status and clear the batch's folder.
    case finish(BatchKey)
}
