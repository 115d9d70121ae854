import DarkroomAnswer

/// What the board requests of its owner, which `Board.settle` returns. The owner carries it out after it has released
/// the board's lock.
package enum Effect: Sendable {
    /// Report that the first of a batch's images has been given a place.
    case begun(BatchBeginning)
    /// Enter this work after some time.
    case enterLater(Work, Retry)
    /// Create an operation and put it into its queue.
    case start(Admission.Start)
    /// Cancel an operation.
    case stop(Admission.Ticket)
    /// The piece of work that was to try the disk is delayed.
    case storageUndecided
    /// Write an image's result to the journal, with its step, and publish its output if it has one.
    case record(BatchKey, id: String, index: Int, ImageStatus, Step)
    /// Place an image's output in another folder.
    case deliver(DeliveryJob)
    /// All images of a batch have ended: move the originals of its pictures, if it is one of a hot folder that says so.
    case moveOriginals(BatchKey, id: String)
    /// An image that was filtered again for others has this result, which is not recorded.
    case endAgain(BatchKey, index: Int, ImageStatus)
    /// Remove the pixels that an image has handed over.
    case dropHandOver(id: String, image: Int)
    /// Report a command that the batch was given, and write it into the batch's journal. This precedes the
    /// consequences, so that it is reported first.
    case recordCommand(id: String, ControlRecord)
    /// Write this state and these commands into the status of a waiting batch. `continued` is the complete status if the
    /// file may contain the states of the images under a previous daemon.
    case amendStatus(id: String, ControlState, [ControlRecord], continued: Status?)
    /// Stop the operations of a batch, which was cancelled.
    case setCancelled(BatchKey)
    /// Write the status of a held batch, and report when that is done.
    case park(BatchKey, id: String)
    /// Remove the fetched bytes of a parked batch.
    case dropDownloads(BatchKey, id: String)
    /// Prepare a batch from its folder, because there was no room to keep it in memory.
    case prepare(BatchKey, id: String)
    /// Write the status of a batch, which has changed, when it is time.
    case statusChanged(BatchKey)
    /// Write the final status and clear the batch's folder.
    case finish(BatchKey, id: String)
}
