import DarkroomBatch
import DarkroomCore
import DarkroomFetch

/// The names that events and scans have given, in their order, until they are examined.
struct Arrivals {
    struct Arrival {
        let name: FileName
        /// Whether it was renamed into the inbox, complete by the rule.
        let isWhole: Bool
    }

    /// Names remembered at once; what is above stays in the folder for the next scan.
    private static let capacity = 16_384
    /// Manifests claimed together, sharing the waits for the disk.
    private static let groupSize = 32

    private var waiting: [Arrival] = []
    private var known: Set<FileName> = []
    /// Whether names that were told have been left in the folder since the last scan.
    private(set) var hasLeft = false

    var isEmpty: Bool { waiting.isEmpty }

    func contains(_ name: FileName) -> Bool { known.contains(name) }

    /// Whether an event has told that a file was renamed into the inbox.
    func isWhole(_ name: FileName) -> Bool {
        known.contains(name) && waiting.contains { $0.isWhole && $0.name == name }
    }

    /// Adds a name; one that is known only where it is whole now. False where there is no room for it.
    mutating func add(_ name: FileName, isWhole: Bool) -> Bool {
        guard !known.contains(name) || isWhole else { return true }
        guard waiting.count < Self.capacity else {
            leave()
            return false
        }
        known.insert(name)
        waiting.append(Arrival(name: name, isWhole: isWhole))
        return true
    }

    /// What was taken from here stays in the folder, for the next scan to find.
    mutating func leave() { hasLeft = true }

    /// The folder is looked through.
    mutating func forgetLeft() { hasLeft = false }

    mutating func takeGroup() -> [Arrival] {
        let group = Array(waiting.prefix(Self.groupSize))
        waiting.removeFirst(group.count)
        for arrival in group { known.remove(arrival.name) }
        return group
    }
}
