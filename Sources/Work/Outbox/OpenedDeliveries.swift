import DarkroomBoard
import DarkroomManifest
import DarkroomSpool

/// The folder of deliveries during a pass. It is opened and checked once for all outputs that go there alike, also if it
/// is refused.
struct OpenedDeliveries {
    private typealias Opening = Result<DeliveryFolder, DeliveryFolder.Refusal>

    private var folders: [(delivery: Delivery, owner: UInt32?, opening: Opening)] = []
    private var taken: TakenFolders?

    mutating func folder(for job: Deliveries.Job) throws(DeliveryFolder.Refusal) -> DeliveryFolder {
        let (delivery, owner) = (job.job.delivery, job.job.owner)
        let known = folders.first { $0.delivery == delivery && $0.owner == owner }
        if let known { return try known.opening.get() }
        let rules = job.rules()
        let taken = taken(by: rules)
        let opening = Opening { () throws(DeliveryFolder.Refusal) in
            try DeliveryFolder(delivery, of: owner, rules, taken)
        }
        folders.append((delivery, owner, opening))
        return try opening.get()
    }

    /// They are opened once for all folders, unless the configuration changes meanwhile.
    private mutating func taken(by rules: DeliveryRules) -> TakenFolders {
        if let taken, taken.areThose(of: rules.taken) { return taken }
        let new = TakenFolders(rules.taken)
        taken = new
        return new
    }
}
