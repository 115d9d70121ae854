import DarkroomBoard
import Foundation
import Synchronization

/// The queues of the operations, and the operations in them by their tickets.
final class WorkQueues: Sendable {
    /// For transfers.
    let downloads = OperationQueue()
    /// For examinations of local files, which no server may delay.
    let localLooks = OperationQueue()
    let filters = FilterQueues()
    /// For the pages of ended batches. Large batches have a queue of their own, so that the page of a small one does not
    /// wait for seconds.
    private let pages = SerialQueue("darkroom.pages", qos: .utility)
    private let largePages = SerialQueue("darkroom.pages.large", qos: .utility)
    /// A batch with more images is a large one.
    private static let mostImagesOfSmallPage = 1000
    private let operations = Mutex<[Admission.Ticket: Operation]>([:])

    init() {
        downloads.name = "darkroom.downloads"
        localLooks.name = "darkroom.local"
        // A queue's quality of service decides its threads' niceness only if it is set before its first use. The values
        // differ, so that waiting for the network never takes the filters' threads.
        for queue in [downloads, localLooks] { queue.qualityOfService = .utility }
    }

    func setWidth(downloads count: Int) {
        for queue in [downloads, localLooks] { queue.maxConcurrentOperationCount = count }
    }

    func setSuspended(_ isSuspended: Bool) {
        for queue in [downloads, localLooks] { queue.isSuspended = isSuspended }
        filters.setSuspended(isSuspended)
    }

    /// The number of downloads and examinations in the queues, including running ones.
    var downloadCount: Int { downloads.operationCount + localLooks.operationCount }

    func add(_ operation: Operation, for start: Admission.Start) {
        operation.name = start.request.work.name
        operation.queuePriority = start.request.priority.queuePriority
        operation.qualityOfService = start.request.quality.qualityOfService
        operations.withLock { $0[start.ticket] = operation }
        if let queue = start.queue {
            filters.add(operation, to: queue)
        } else {
            (start.isLocal ? localLooks : downloads).addOperation(operation)
        }
    }

    func addPage(images: Int, _ work: @escaping @Sendable () -> Void) {
        (images > Self.mostImagesOfSmallPage ? largePages : pages).addOperation(work)
    }

    /// An operation has ended, or has nothing to do.
    func remove(_ ticket: Admission.Ticket) { operations.withLock { $0[ticket] = nil } }

    func cancel(_ ticket: Admission.Ticket) {
        operations.withLock { $0.removeValue(forKey: ticket) }?.cancel()
    }

    func cancelRunning() {
        for operation in operations.withLock({ Array($0.values) }) where operation.isExecuting {
            operation.cancel()
        }
    }
}
