import DarkroomCore
import DarkroomSpool

/// The control files of the inbox. Owners take turns, so that whoever drops thousands keeps nobody else's waiting.
///
/// | place     | why it is there                                    | leaves it when                    |
/// |-----------|----------------------------------------------------|-----------------------------------|
/// | `arrived` | an event or a scan named it                        | its turn has come                 |
/// | `waiting` | what it means is not there, or not ready           | it is looked at again, or acts    |
/// | `inHand`  | it acts, and that is being written down            | it is removed from the inbox      |
/// | `done`    | it has acted and cannot be removed                 | another file takes its name       |
struct ControlFileQueue {
    private var arrived = Arrivals()
    /// The same of those that go first.
    private var urgent = Arrivals()
    /// Since when, in nanoseconds, for those that were examined and wait.
    private var waiting: [FileName: UInt64] = [:]
    /// Since when it has waited, should it have to wait again, and whose it is.
    private var inHand: [FileName: (since: UInt64?, owner: UInt32?)] = [:]
    private var done: [FileName: FileIdentity] = [:]
    /// Those that have arrived or wait, by the bytes of the IDs that they may mean.
    private var byID: [FileName: Set<FileName>] = [:]
    /// Those, with their owners, and how many each owner has. What does not fit here, as little as into `Arrivals`, stays
    /// in the folder for the next scan.
    private var known: [FileName: UInt32?] = [:]
    private var ofOwner: [UInt32?: Int] = [:]
    /// Whether there was no room for a name.
    private var isOverfull = false

    /// Adds a name, unless it is known. One that is urgent, for there is something for it to act on, goes before
    /// the others, and finds room where they do not.
    mutating func add(_ file: ControlFile, owner: UInt32?, isUrgent: Bool = false) {
        guard inHand[file.name] == nil, known[file.name] == nil else { return }
        guard
            isUrgent || Arrivals.hasRoom(beside: known.count, own: ofOwner[owner] ?? 0),
            isUrgent
                ? urgent.add(file.name, isWhole: true, owner: owner)
                : arrived.add(file.name, isWhole: true, owner: owner)
        else {
            isOverfull = true
            return
        }
        know(file, owner)
    }

    private mutating func know(_ file: ControlFile, _ owner: UInt32?) {
        guard known.updateValue(owner, forKey: file.name) == nil else { return }
        ofOwner[owner, default: 0] += 1
        for id in file.ids { byID[FileName(id), default: []].insert(file.name) }
    }

    /// Whether there may be one to be examined.
    var hasNext: Bool { !urgent.isEmpty || !arrived.isEmpty }

    /// The next one to be examined.
    mutating func next() -> FileName? {
        // One that was dealt with out of its turn is known no more.
        while let name = (urgent.next() ?? arrived.next())?.name {
            if known[name] != nil { return name }
        }
        return nil
    }

    /// Whether something is to be looked at again after a while.
    package var needTime: Bool { !waiting.isEmpty || isOverfull }

    /// Has those that wait examined again. Gives whether there are more in the folder than there was room for.
    package mutating func wake() -> Bool {
        defer { isOverfull = false }
        let again = waiting.keys.filter { known[$0] != nil }
        for name in again.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
            // Where there is no room now there is the next time.
            _ = arrived.add(name, isWhole: true, owner: known[name] ?? nil)
        }
        return isOverfull
    }

    /// It waits; gives since when, in nanoseconds.
    mutating func wait(_ file: ControlFile, now: UInt64) -> UInt64 {
        let former = inHand.removeValue(forKey: file.name)
        let since = former?.since ?? waiting[file.name] ?? now
        waiting[file.name] = since
        if let former { know(file, former.owner) }
        return since
    }

    /// It acts, and is not looked at until it has been dealt with.
    mutating func take(_ file: ControlFile) {
        let (since, owner) = (waiting[file.name], known[file.name] ?? nil)
        forget(file)
        inHand[file.name] = (since, owner)
    }

    /// It is dealt with or gone.
    package mutating func forget(_ file: ControlFile, keepingDone: Bool = false) {
        inHand[file.name] = nil
        waiting[file.name] = nil
        if !keepingDone { done[file.name] = nil }
        guard let owner = known.removeValue(forKey: file.name) else { return }
        ofOwner[owner, default: 0] -= 1
        if ofOwner[owner] == 0 { ofOwner[owner] = nil }
        for id in file.ids {
            byID[FileName(id)]?.remove(file.name)
            if byID[FileName(id)]?.isEmpty == true { byID[FileName(id)] = nil }
        }
    }

    /// It has acted but lies there still.
    package mutating func keep(_ request: ControlRequest) {
        forget(request.file)
        done[request.file.name] = request.identity
    }

    package func isDone(_ request: ControlRequest) -> Bool {
        done[request.file.name] == request.identity
    }

    /// Those that may mean one of these IDs.
    package func naming(_ ids: [String]) -> [FileName] {
        let names = ids.reduce(into: Set<FileName>()) { $0.formUnion(byID[FileName($1)] ?? []) }
        return names.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }
}
