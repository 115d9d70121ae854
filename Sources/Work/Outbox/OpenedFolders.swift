import DarkroomBoard
import DarkroomManifest
import DarkroomSpool

/// The folder of deliveries during a pass. It is opened and checked once for all outputs that go there alike.
struct OpenedFolders {
    private var folders: [(delivery: Delivery, owner: UInt32?, folder: DeliveryFolder)] = []

    mutating func folder(
        for job: Deliveries.Job
    ) throws(DeliveryFolder.Refusal) -> DeliveryFolder {
        let (delivery, owner) = (job.job.delivery, job.job.owner)
        let known = folders.first { $0.delivery == delivery && $0.owner == owner }
        if let known { return known.folder }
        let folder = try DeliveryFolder(delivery, of: owner, job.rules())
        folders.append((delivery, owner, folder))
        return folder
    }
}
