import DarkroomAnswer

/// What the board requests. The caller carries it out after it has released the board's lock.
package enum Effect: Sendable {
    /// Report that the first of a batch's images has been given a place.
    case begun(BatchBeginning)
    /// Do this work when nothing delays it. The admission handles this under the board's lock.
    case enqueue(Work)
    /// The same, after some time.
    case enqueueLater(Work, Retry)
    /// Do not do this work any more. The admission handles this too.
    ///
    /// - Parameter isDone: whether another piece of work does it.
    case cancel(Work, isDone: Bool = false)
    /// Create an operation and put it into its queue.
    case start(Admission.Start)
    /// Cancel an operation.
    case stop(Admission.Ticket)
    /// The piece of work that was to try the disk is delayed.
    case storageUndecided
    /// Write an image's result to the journal, with its step, and publish its output if it has one.
    case record(BatchKey, id: String, index: Int, ImageStatus, Step)
    /// An image that was filtered again for others has this result, which is not recorded.
    case endAgain(BatchKey, index: Int, ImageStatus)
    /// Remove the pixels that an image has handed over.
    case dropHandOver(id: String, image: Int)
    /// Report a command that the batch was given, and write it into the batch's journal. This precedes the
    /// consequences, so that it is reported first.
    case recordCommand(id: String, ControlRecord)
    /// Write it into the status of a waiting batch. `continued` is the complete status if the file may contain the
    /// states of the images under a previous daemon.
    case amendStatus(id: String, ControlState, [ControlRecord], continued: Status?)
    /// Stop the operations of a batch, which was cancelled.
    case setCancelled(BatchKey)
    /// Write the status of a held batch, and report when that is done.
    case park(BatchKey, id: String)
    /// Remove the fetched bytes of a parked batch.
    case dropScratch(BatchKey, id: String)
    /// Prepare a batch from its folder, because there was no room to keep it in memory.
    case prepare(BatchKey, id: String)
    case statusChanged(BatchKey)
    /// Write the final status and clear the batch's folder.
    case finish(BatchKey, id: String)
}
