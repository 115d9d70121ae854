import DarkroomAnswer
import DarkroomCore
import DarkroomManifest

/// Outputs that are placed in another folder, between the filter and the record of an image.
extension Batch {
    /// Has an image's output delivered, and then recorded.
    ///
    /// - Returns: false if it is not to be delivered.
    mutating func deliver(_ index: Int, _ image: UndeliveredImage, _ pool: inout Pool) -> Bool {
        guard let delivery = manifest.images[index].delivery, image.status.output != nil,
            !handOvers.isFilteredAgain(index)
        else { return false }
        let isFiltered = stage(of: index) == .filtering
        move(index, to: .delivering, &pool)
        var image = image
        if isFiltered {
            image.status.milliseconds = status.images[index].milliseconds
            image.status.times = status.images[index].times
        } else {
            status.images[index].attempts = image.status.attempts
            status.images[index].milliseconds = image.status.milliseconds
            status.images[index].times = image.status.times
        }
        pool.request(
            .deliver(
                DeliveryJob(
                    key: key, id: id, index: index, owner: owner, delivery: delivery,
                    handsOver: handOvers.isThere(index), image: image)))
        return true
    }

    mutating func deliverLeft(_ left: [Int: UndeliveredImage], _ pool: inout Pool) {
        guard !isCancelled else { return }
        for (index, image) in left.sorted(by: { $0.key < $1.key }) {
            guard stage(of: index) == .new else { continue }
            if let beginning = markStarted() { pool.request(.begun(beginning)) }
            _ = deliver(index, image, &pool)
        }
    }

    /// An image's output is in its folder, or cannot be there.
    package mutating func deliveryEnded(
        _ index: Int, _ result: Result<ImageStatus, Failure>, _ pool: inout Pool
    ) {
        guard stage(of: index) == .delivering else { return }
        switch result {
        case .success(let image): record(index, image, at: .deliver, &pool)
        case .failure(let failure): fail(index, failure, at: .deliver, &pool)
        }
    }
}
