import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// The control files of the inbox. Owners take turns, so that one who submits thousands does not delay the others.
///
/// | place     | why it is there                            | until                                 |
/// |-----------|--------------------------------------------|---------------------------------------|
/// | `arrived` | an event or a scan reported it             | its turn has come                     |
/// | `waiting` | its target does not exist, or is not ready | it is examined again, or takes effect |
/// | `inHand`  | it takes effect, which is being recorded   | it is removed from the inbox          |
/// | `done`    | it has taken effect and cannot be removed  | another file takes its name           |
struct ControlFileQueue {
    private var arrived = Arrivals()
    /// The same for files that are examined first.
    private var urgent = Arrivals()
    /// When each file that was examined and waits began to wait, in nanoseconds.
    private var waiting: [FileName: UInt64] = [:]
    /// When the file began to wait, in case it has to wait again, and its owner.
    private var inHand: [FileName: (since: UInt64?, owner: UInt32?)] = [:]
    private var done: [FileName: FileIdentity] = [:]
    /// The files that have arrived or wait, by the bytes of the IDs that they may mean.
    private var byID: [FileName: Set<FileName>] = [:]
    /// The same files with their owners, and how many each owner has. Files for which there is no room here or in
    /// `Arrivals` stay in the folder for the next scan.
    private var known: [FileName: UInt32?] = [:]
    private var ofOwner: [UInt32?: Int] = [:]
    private var isOverfull = false

    /// Adds a name unless it is known. An urgent file has a target in work: it is examined before the others, and there
    /// is always room for it here.
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

    /// Whether there may be a file to examine.
    var hasNext: Bool { !urgent.isEmpty || !arrived.isEmpty }

    mutating func next() -> FileName? {
        // A file that was handled out of its turn is not known any more.
        while let name = (urgent.next() ?? arrived.next())?.name {
            if known[name] != nil { return name }
        }
        return nil
    }

    /// Whether a file must be examined again later.
    var needTime: Bool { !waiting.isEmpty || isOverfull }

    /// Has the waiting files examined again.
    ///
    /// - Returns: whether the folder contains more files than there was room for.
    mutating func wake() -> Bool {
        defer { isOverfull = false }
        let again = waiting.keys.filter { known[$0] != nil }
        for name in again.sorted() {
            // If there is no room now, it is tried again at the next call.
            _ = arrived.add(name, isWhole: true, owner: known[name] ?? nil)
        }
        return isOverfull
    }

    /// The file waits.
    ///
    /// - Returns: when it began to wait, in nanoseconds.
    mutating func wait(_ file: ControlFile, now: UInt64) -> UInt64 {
        let former = inHand.removeValue(forKey: file.name)
        let since = former?.since ?? waiting[file.name] ?? now
        waiting[file.name] = since
        if let former { know(file, former.owner) }
        return since
    }

    /// The file takes effect, and is not examined until that is finished.
    mutating func take(_ file: ControlFile) {
        let (since, owner) = (waiting[file.name], known[file.name] ?? nil)
        forget(file)
        inHand[file.name] = (since, owner)
    }

    /// The file has been handled, or does not exist any more.
    mutating func forget(_ file: ControlFile, keepingDone: Bool = false) {
        inHand[file.name] = nil
        waiting[file.name] = nil
        if !keepingDone { done[file.name] = nil }
        guard let owner = known.removeValue(forKey: file.name) else { return }
        ofOwner.countDown(owner)
        for id in file.ids {
            byID[FileName(id)]?.remove(file.name)
            if byID[FileName(id)]?.isEmpty == true { byID[FileName(id)] = nil }
        }
    }

    /// The file has taken effect, but is still in the inbox.
    mutating func keep(_ request: ControlRequest) {
        forget(request.file)
        done[request.file.name] = request.identity
    }

    func isDone(_ request: ControlRequest) -> Bool { done[request.file.name] == request.identity }

    /// The files that may mean one of these IDs.
    func naming(_ ids: [String]) -> [FileName] {
        Set(ids.flatMap { byID[FileName($0)] ?? [] }).sorted()
    }
}
