import Glibc

/// The name of a control file, taken apart: `ID.cancel`, `ID.hold`, `ID.release` or `ID.retry`. What is in the file
/// does not matter.
struct ControlFile: Sendable {
    let name: FileName
    let action: Steering.Action
    /// The IDs it may mean, which is the first that there is: what stands before the ending, and that cut as a
    /// long manifest's name is for its ID.
    let ids: [String]
    private let stem: [UInt8]

    /// nil for a name that is not a control file's.
    init?(_ name: FileName) {
        guard let dot = name.bytes.lastIndex(of: UInt8(ascii: ".")), dot > 0,
            name.bytes[0] != UInt8(ascii: ".")
        else { return nil }
        let ending = String(decoding: name.bytes[(dot + 1)...], as: UTF8.self).lowercased()
        guard let action = Steering.Action(rawValue: ending) else { return nil }
        self.name = name
        self.action = action
        stem = Array(name.bytes[..<dot])
        let whole = FileName(bytes: stem).text
        let cut = Claim.id(fromFileName: name.text)
        // Repaired bytes make a text longer, and what is longer than a file name is nobody's ID.
        ids = whole.utf8.count == cut.utf8.count || whole.utf8.count > 255 ? [cut] : [whole, cut]
    }

    /// The names of the manifests it may have come with.
    var manifestNames: [FileName] {
        ["json", "yaml", "yml", "plist", "JSON", "YAML", "YML", "PLIST"].map {
            FileName(bytes: stem + Array(".\($0)".utf8))
        }
    }
}

/// A control file that was found: what it asks for and who asks.
struct ControlRequest: Sendable {
    let file: ControlFile
    /// So that another file put under the name since is not removed in its stead.
    let identity: FileIdentity
    let steering: Steering

    init(_ file: ControlFile, _ information: stat) {
        self.file = file
        identity = FileIdentity(information)
        steering = Steering(file.action, uid: information.st_uid, file: identity.text)
    }
}

/// The control files of the inbox. Owners take turns, so that whoever drops thousands keeps nobody else's waiting.
///
/// | place     | why it is there                                    | leaves it when                    |
/// |-----------|----------------------------------------------------|-----------------------------------|
/// | `arrived` | an event or a scan named it                        | its turn has come                 |
/// | `waiting` | what it means is not there, or not ready           | it is looked at again, or acts    |
/// | `inHand`  | it acts, and that is being written down            | it is removed from the inbox      |
/// | `done`    | it has acted and cannot be removed                 | another file takes its name       |
struct Controls {
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
    var needTime: Bool { !waiting.isEmpty || isOverfull }

    /// Has those that wait examined again. Gives whether there are more in the folder than there was room for.
    mutating func wake() -> Bool {
        defer { isOverfull = false }
        let again = waiting.keys.filter { known[$0] != nil }
        for name in again.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
            // Where there is no room now there is the next time.
            _ = arrived.add(name, isWhole: true, owner: known[name] ?? nil)
        }
        return isOverfull
    }

    /// It waits; gives since when, in nanoseconds.
    mutating func wait(_ file: ControlFile) -> UInt64 {
        let former = inHand.removeValue(forKey: file.name)
        let since = former?.since ?? waiting[file.name] ?? Clock.nanoseconds
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
    mutating func forget(_ file: ControlFile, keepingDone: Bool = false) {
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
    mutating func keep(_ request: ControlRequest) {
        forget(request.file)
        done[request.file.name] = request.identity
    }

    func isDone(_ request: ControlRequest) -> Bool {
        done[request.file.name] == request.identity
    }

    /// Those that may mean one of these IDs.
    func naming(_ ids: [String]) -> [FileName] {
        let names = ids.reduce(into: Set<FileName>()) { $0.formUnion(byID[FileName($1)] ?? []) }
        return names.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }
}

extension Spool {
    /// Where a control file lies while it is removed, so that nobody can put another in its place between the last
    /// look at it and its end.
    static let controls: FileName = ".controls"

    /// Removes a control file that was dealt with. One that has replaced it since goes back into the inbox.
    func removeControl(
        _ name: FileName, _ identity: FileIdentity, from inbox: Directory
    ) throws(FileError) {
        do {
            try active.makeDirectory(Self.controls, mode: 0o700)
        } catch  where error.errno == .fileExists {
            // A removal that failed has left it.
        }
        let folder = try Directory(Self.controls, in: active)
        do throws(FileError) {
            try inbox.rename(name, to: folder, as: name, replacing: true)
            FaultPoint.controlMoved.pass()
            if try folder.information(of: name).map(FileIdentity.init) == identity {
                try folder.remove(name)
            } else {
                try putBack(name, from: folder, to: inbox)
            }
        } catch {
            try? active.removeDirectory(Self.controls)
            throw error
        }
        try dropControls()
    }

    /// Puts back the control files that a daemon which was killed had in hand. They act again, which changes
    /// nothing if they had acted.
    func putBackControls(to inbox: Directory) throws(FileError) {
        guard try active.exists(Self.controls) else { return }
        let folder = try Directory(Self.controls, in: active)
        for name in try folder.names() { try putBack(name, from: folder, to: inbox) }
        FaultPoint.recoveryControlReturned.pass()
        try dropControls()
    }

    /// Removes the folder, unless something is in it that cannot be put back: a later start tries that again.
    private func dropControls() throws(FileError) {
        do {
            try active.removeDirectory(Self.controls)
        } catch  where error.errno == .directoryNotEmpty {
            // None of the names in it is that of a control file.
        }
    }

    /// Whoever has taken the name since has replaced it. Not a folder that was put in the control's place, for what is
    /// in it is not ours to remove: that goes back under another name.
    private func putBack(
        _ name: FileName, from folder: Directory, to inbox: Directory
    ) throws(FileError) {
        do {
            return try folder.rename(name, to: inbox, as: name)
        } catch  where error.errno == .fileExists {
            if try folder.information(of: name)?.isFolder != true { return try folder.remove(name) }
        } catch  where error.errno == .permissionDenied {
            // A folder that its owner does not let be moved.
        }
        do {
            _ = try SubmittedFile(name: name, folder: folder).giveBack(to: inbox)
        } catch  where error.errno == .permissionDenied {
            // Here it must not keep the name from others.
            try folder.rename(name, to: folder, as: name.another())
        }
    }
}
