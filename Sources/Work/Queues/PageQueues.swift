import Dispatch
import Foundation

/// The queues of the pages of ended batches. Large batches have one of their own, so that the page of a small one does
/// not wait for seconds.
final class PageQueues: Sendable {
    private let small = PageQueue(name: "darkroom.pages")
    private let large = PageQueue(name: "darkroom.pages.large")

    /// A batch with more images is a large one.
    private static let mostImages = 1000

    func add(images: Int, _ work: @escaping @Sendable () -> Void) {
        (images > Self.mostImages ? large : small).addOperation(BlockOperation(block: work))
    }
}

/// Sendable, because its own variables are constant and the superclass guards the rest.
private final class PageQueue: OperationQueue, @unchecked Sendable {
    /// The superclass does not retain it. A serial queue gets a thread although others are busy, as in `FilterQueue`.
    private let serial: DispatchQueue

    init(name: String) {
        serial = DispatchQueue(label: name, qos: .utility)
        super.init()
        self.name = name
        maxConcurrentOperationCount = 1
        underlyingQueue = serial
    }
}
