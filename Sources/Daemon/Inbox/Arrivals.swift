import DarkroomCore
import DequeModule

/// The names that events and scans have given, until they are examined.
///
/// Each owner's are in their order, and owners take turns name by name, so that whoever drops thousands of manifests
/// keeps nobody else waiting. For the same reason an owner with few names finds room where one with many does not.
struct Arrivals {
    struct Arrival: Equatable {
        let name: FileName
        /// Whether it was renamed into the inbox, complete by the rule.
        let isWhole: Bool
    }

    /// Names remembered at once; what is above stays in the folder for the next scan.
    static let capacity = 16_384
    /// Of one owner, those that find room beyond that, as long as all are no more than `limit`.
    static let reserve = 64
    private static let limit = 4 * capacity
    /// Manifests claimed together, sharing the waits for the disk.
    static let groupSize = 32

    private struct Known {
        var owner: UInt32?
        var isWhole: Bool
    }

    /// By the owner of the file; nil for those that could not be looked at. A name that has another owner since, or was
    /// taken before, is passed over.
    private var lanes: [UInt32?: Deque<FileName>] = [:]
    /// The owners that have names, whose turn it is first.
    private var turns: [UInt32?] = []
    /// Whose name was given last. It goes behind those who come while that is read.
    private var served: UInt32??
    /// In all lanes.
    private var count = 0
    private var known: [FileName: Known] = [:]
    /// Whether something was taken from here and left in the folder since the last scan.
    private var hasGivenBack = false
    /// The owners of names that were left there for want of room here.
    private var left: Set<UInt32?> = []

    var isEmpty: Bool { known.isEmpty }

    func contains(_ name: FileName) -> Bool { known[name] != nil }

    /// Whether an event has told that a file was renamed into the inbox.
    func isWhole(_ name: FileName) -> Bool { known[name]?.isWhole ?? false }

    /// Whether names that were told have been left in the folder since the last scan.
    var hasLeft: Bool { hasGivenBack || !left.isEmpty }

    /// The owner of the file of that name that waits here; nil where none does.
    func owner(of name: FileName) -> UInt32?? { known[name].map(\.owner) }

    /// Adds a name; of one that is known, what is news of it. False where there is no room for it.
    mutating func add(_ name: FileName, isWhole: Bool, owner: UInt32?) -> Bool {
        if let former = known[name], former.owner == owner {
            known[name]?.isWhole = former.isWhole || isWhole
            return true
        }
        // Another's file under the name waits its owner's turn, not that of the one who had the name before.
        guard canAdd(owner) else {
            left.insert(owner)
            return false
        }
        known[name] = Known(owner: owner, isWhole: isWhole)
        // One with a lane has its turn, or is the one served last.
        if lanes[owner] == nil { turns.append(owner) }
        lanes[owner, default: []].append(name)
        count += 1
        return true
    }

    private func canAdd(_ owner: UInt32?) -> Bool {
        Self.hasRoom(beside: count, own: lanes[owner]?.count ?? 0)
    }

    /// Whether a name finds room beside so many, so many of which are its owner's.
    static func hasRoom(beside count: Int, own: Int) -> Bool {
        count < capacity || own < reserve && count < limit
    }

    /// What was taken from here stays in the folder, for the next scan to find.
    mutating func leave() { hasGivenBack = true }

    /// The folder is looked through.
    mutating func forgetLeft() {
        hasGivenBack = false
        left = []
    }

    /// Whether names were left in the folder of an owner who has room, and has none here any more.
    func hasLeft(where hasRoom: (UInt32?) -> Bool) -> Bool {
        left.contains { lanes[$0]?.count ?? 0 == 0 && canAdd($0) && hasRoom($0) }
    }

    /// Whether there is one of an owner that has room.
    func hasNext(where hasRoom: (UInt32?) -> Bool) -> Bool {
        !isEmpty
            && (turns + (served.map { [$0] } ?? [])).contains { owner in
                lanes[owner]?.count ?? 0 > 0 && hasRoom(owner)
            }
    }

    /// The next one of the owner whose turn it is, among those who have room.
    mutating func next(where hasRoom: (UInt32?) -> Bool = { _ in true }) -> Arrival? {
        if let owner = served { turns.append(owner) }
        served = nil
        var first = 0
        while first < turns.count {
            let owner = turns[first]
            guard hasRoom(owner) else {
                first += 1
                continue
            }
            turns.remove(at: first)
            while let name = lanes[owner]?.popFirst() {
                count -= 1
                guard let found = known[name], found.owner == owner else { continue }
                known[name] = nil
                served = .some(owner)
                return Arrival(name: name, isWhole: found.isWhole)
            }
            lanes[owner] = nil
        }
        return nil
    }
}
