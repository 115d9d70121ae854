import DarkroomCore
import DequeModule

/// The names that events and scans have reported, until they are examined.
///
/// Each owner's names are in their order. Owners take turns after each name, so that one who submits thousands of
/// manifests does not delay the others. For the same reason there is room for an owner with few names when there is
/// none for one with many.
struct Arrivals {
    struct Arrival: Equatable {
        let name: FileName
        /// Whether it was renamed into the inbox, and so is complete by the rule for submitters.
        let isWhole: Bool
    }

    /// The maximum number of remembered names. More stay in the folder for the next scan.
    static let capacity = 16_384
    /// How many names of one owner are remembered beyond that, as long as all together are at most `limit`.
    static let reserve = 64
    private static let limit = 4 * capacity
    /// Manifests that are claimed together and share the waits for the disk.
    static let groupSize = 32

    private struct Known {
        var owner: UInt32?
        var isWhole: Bool
    }

    /// The names by the owner of the file; nil is for files that could not be examined. A name is skipped if its file
    /// has another owner now, or if it was taken before.
    private var lanes: [UInt32?: Deque<FileName>] = [:]
    /// The owners that have names; the next one in turn is first.
    private var turns: [UInt32?] = []
    /// The owner whose name was returned last. It is placed behind the owners that arrive while that file is read.
    private var served: UInt32??
    /// The number of names in all lanes.
    private var count = 0
    private var known: [FileName: Known] = [:]
    /// Whether a name was taken from here since the last scan and its file left in the folder.
    private var hasGivenBack = false
    /// The owners of names that were left in the folder because there was no room here.
    private var left: Set<UInt32?> = []

    var isEmpty: Bool { known.isEmpty }

    func contains(_ name: FileName) -> Bool { known[name] != nil }

    /// Whether an event reported that the file was renamed into the inbox.
    func isWhole(_ name: FileName) -> Bool { known[name]?.isWhole ?? false }

    /// Whether reported names have been left in the folder since the last scan.
    var hasLeft: Bool { hasGivenBack || !left.isEmpty }

    /// The owner of the waiting file of that name; nil if none waits.
    func owner(of name: FileName) -> UInt32?? { known[name].map(\.owner) }

    /// Adds a name, or updates a known one.
    ///
    /// - Returns: false if there is no room for it.
    mutating func add(_ name: FileName, isWhole: Bool, owner: UInt32?) -> Bool {
        if let former = known[name], former.owner == owner {
            known[name]?.isWhole = former.isWhole || isWhole
            return true
        }
        // A file with the same name but another owner waits for its own owner's turn.
        guard canAdd(owner) else {
            left.insert(owner)
            return false
        }
        known[name] = Known(owner: owner, isWhole: isWhole)
        // An owner with a lane is already in `turns`, or was served last.
        if lanes[owner] == nil { turns.append(owner) }
        lanes[owner, default: []].append(name)
        count += 1
        return true
    }

    private func canAdd(_ owner: UInt32?) -> Bool {
        Self.hasRoom(beside: count, own: lanes[owner]?.count ?? 0)
    }

    /// Whether there is room for a name if there are `count` names, of which `own` belong to its owner.
    static func hasRoom(beside count: Int, own: Int) -> Bool {
        count < capacity || own < reserve && count < limit
    }

    /// Remembers that files were left in the folder, for the next scan.
    mutating func leave() { hasGivenBack = true }

    /// Called when the folder is scanned.
    mutating func forgetLeft() {
        hasGivenBack = false
        left = []
    }

    /// Whether names were left in the folder of an owner that has room, and whose other names have all been examined.
    func hasLeft(where hasRoom: (UInt32?) -> Bool) -> Bool {
        left.contains { lanes[$0]?.count ?? 0 == 0 && canAdd($0) && hasRoom($0) }
    }

    /// Whether there is a name of an owner that has room.
    func hasNext(where hasRoom: (UInt32?) -> Bool) -> Bool {
        !isEmpty
            && (turns + (served.map { [$0] } ?? [])).contains { owner in
                lanes[owner]?.count ?? 0 > 0 && hasRoom(owner)
            }
    }

    /// The next name, of the first owner in turn that has room.
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
