/// Which downloads may be in the downloads queue: of each host only so many, and none while the host has asked
/// to be left alone. The others wait here, where they cost no place of the queue that another host's could have.
///
/// A value without threads or clocks: moments are given, in nanoseconds of the monotonic clock. Every call takes
/// a time that does not grow with the number of those who wait, but for the skipping of what was removed before.
///
/// Who has a place gives it back by `leave`, and it goes to the host's highest level, there to who came first.
struct HostWaits: Sendable {
    typealias Item = StorageWaits.Item

    /// Those of one host and level, in the order they came. What is removed stays until its turn or until it is
    /// the larger part.
    private struct Lane: Sendable {
        var entries: [(number: Int, item: Item)] = []
        var head = 0
        /// Of those from `head` on, how many have not been removed.
        var live = 0

        mutating func add(_ number: Int, _ item: Item) {
            entries.append((number, item))
            live += 1
        }

        mutating func next() -> (number: Int, item: Item)? {
            guard head < entries.count else { return nil }
            defer {
                head += 1
                if head > 64, head * 2 > entries.count {
                    entries.removeFirst(head)
                    head = 0
                }
            }
            return entries[head]
        }
    }

    private struct Host: Sendable {
        var holders = 0
        var pausedUntil: UInt64 = 0
        /// When the pause began, RFC 3339.
        var pausedSince = ""
        /// By the level's index; none is without a live entry.
        var lanes: [Int: Lane] = [:]

        var isIdle: Bool { holders == 0 && lanes.isEmpty }
    }

    private struct Wait: Sendable {
        let host: ByteString
        let level: Int
        /// Tells its entry from those of the same work that were removed.
        let number: Int
    }

    private struct Place: Sendable {
        let host: ByteString
        let level: Int
    }

    /// Places of one host.
    private(set) var limit: Int
    private var hosts: [ByteString: Host] = [:]
    private var places: [Work: Place] = [:]
    private var waits: [Work: Wait] = [:]
    private var lastNumber = 0

    /// How many wait.
    var waitingCount: Int { waits.count }

    init(limit: Int) {
        self.limit = limit
    }

    /// How many hosts are paused.
    func pausedCount(now: UInt64) -> Int { hosts.values.count { $0.pausedUntil > now } }

    // MARK: Places

    /// Gives a download a place, or has it wait. False where it waits.
    mutating func enter(_ item: Item, host name: ByteString, now: UInt64) -> Bool {
        if places[item.work] != nil { return true }
        if waits[item.work] != nil { return false }
        let level = Level(item.priority, item.quality).index
        // Who comes just as a pause is over goes behind those who have waited for that.
        if hasPlace(name, now: now), highestLevel(of: name) == nil {
            places[item.work] = Place(host: name, level: level)
            hosts[name, default: Host()].holders += 1
            return true
        }
        lastNumber += 1
        waits[item.work] = Wait(host: name, level: level, number: lastNumber)
        hosts[name, default: Host()].lanes[level, default: Lane()].add(lastNumber, item)
        return false
    }

    /// Whether a download whose turn in the queue has come may begin. If not, its place is of more use to one of
    /// a higher level that has come meanwhile, or its host has been paused: it is to leave and enter again.
    func mayBegin(_ work: Work, now: UInt64) -> Bool {
        guard let place = places[work] else { return true }
        return !isPaused(place.host, now: now)
            && (highestLevel(of: place.host) ?? 0) <= place.level
    }

    /// Takes back a download's place, if it has one. Gives those that have got a place now.
    mutating func leave(_ work: Work, now: UInt64) -> [Item] {
        guard let place = places.removeValue(forKey: work) else { return [] }
        hosts[place.host]?.holders -= 1
        return fill(place.host, now: now)
    }

    /// Forgets a download, whether it waits or has a place. Gives those that have got a place now.
    mutating func remove(_ work: Work, now: UInt64) -> [Item] {
        if let wait = waits.removeValue(forKey: work) {
            hosts[wait.host]?.lanes[wait.level]?.live -= 1
            if hosts[wait.host]?.lanes[wait.level]?.live == 0 {
                hosts[wait.host]?.lanes[wait.level] = nil
            }
            compact(wait)
            dropIfIdle(wait.host, now: now)
        }
        return leave(work, now: now)
    }

    /// Gives those that have got a place by it; if it has become smaller, those that have one keep it.
    mutating func setLimit(_ limit: Int, now: UInt64) -> [Item] {
        self.limit = limit
        return hosts.keys.sorted().flatMap { fill($0, now: now) }
    }

    // MARK: Pauses

    /// Lets no download of a host begin before a moment. False where none might have begun now anyway.
    mutating func pause(
        _ name: ByteString, until: UInt64, now: UInt64, at time: String = ""
    ) -> Bool {
        let before = hosts[name]?.pausedUntil ?? 0
        guard until > now else { return false }
        hosts[name, default: Host()].pausedUntil = max(before, until)
        if before <= now { hosts[name]?.pausedSince = time }
        return before <= now
    }

    struct Pause: Equatable, Sendable {
        let host: ByteString
        /// In nanoseconds.
        let until: UInt64
        /// When it began, RFC 3339.
        let since: String
    }

    /// Of these hosts' pauses the one that lasts longest.
    func pause(of names: Set<ByteString>, now: UInt64) -> Pause? {
        names.compactMap { name in
            guard let host = hosts[name], host.pausedUntil > now else { return nil }
            return Pause(host: name, until: host.pausedUntil, since: host.pausedSince)
        }.max { $0.until < $1.until }
    }

    /// Ends a host's pause if it is over. Gives those that have got a place now, or when to come again.
    mutating func resume(_ name: ByteString, now: UInt64) -> (items: [Item], again: UInt64?) {
        if isPaused(name, now: now) { return ([], hosts[name]?.pausedUntil) }
        return (fill(name, now: now), nil)
    }

    // MARK: Within

    // These look at a host in place: a copy of it in a variable would make the next change copy its lanes.

    private func isPaused(_ name: ByteString, now: UInt64) -> Bool {
        (hosts[name]?.pausedUntil ?? 0) > now
    }

    private func hasPlace(_ name: ByteString, now: UInt64) -> Bool {
        !isPaused(name, now: now) && (hosts[name]?.holders ?? 0) < limit
    }

    /// Of those who wait.
    private func highestLevel(of name: ByteString) -> Int? { hosts[name]?.lanes.keys.max() }

    private mutating func fill(_ name: ByteString, now: UInt64) -> [Item] {
        var served: [Item] = []
        while hasPlace(name, now: now), let level = highestLevel(of: name),
            let item = takeFirst(of: name, level)
        {
            places[item.work] = Place(host: name, level: level)
            hosts[name]?.holders += 1
            served.append(item)
        }
        dropIfIdle(name, now: now)
        return served
    }

    /// Takes the first live entry of a lane, and the lane with its last.
    private mutating func takeFirst(of name: ByteString, _ level: Int) -> Item? {
        while let (number, item) = hosts[name]?.lanes[level]?.next() {
            guard waits[item.work]?.number == number else { continue }
            waits[item.work] = nil
            hosts[name]?.lanes[level]?.live -= 1
            if hosts[name]?.lanes[level]?.live == 0 { hosts[name]?.lanes[level] = nil }
            return item
        }
        hosts[name]?.lanes[level] = nil
        return nil
    }

    /// Throws out what was removed, where that is the larger part.
    private mutating func compact(_ wait: Wait) {
        guard let lane = hosts[wait.host]?.lanes[wait.level],
            lane.entries.count - lane.head > 2 * lane.live + 64
        else { return }
        let entries = lane.entries[lane.head...].filter { waits[$0.item.work]?.number == $0.number }
        hosts[wait.host]?.lanes[wait.level] = Lane(entries: entries, live: entries.count)
    }

    /// A host is remembered while anything of it is here or it is paused.
    private mutating func dropIfIdle(_ name: ByteString, now: UInt64) {
        if hosts[name]?.isIdle == true, !isPaused(name, now: now) { hosts[name] = nil }
    }

    /// For tests: how many hosts are remembered.
    var hostCount: Int { hosts.count }
}

extension HostWaits {
    /// More than the host of any URL has, with its port, in letters of four bytes; see ``URLAuthority/maximumHost``.
    private static let maximumBytes = 4 * (URLAuthority.maximumHost + 1) + ":65535".utf8.count

    /// The host of a source that is an `http:` or `https:` URL, in lower case and with its port: `h:443`. nil for
    /// any other source, and for what has no host.
    ///
    /// It only says which downloads belong together; what it makes of a malformed URL does not matter, for that
    /// fails before anything is connected.
    static func host(of source: ByteString) -> ByteString? {
        let text = source.utf8
        guard let colon = text.prefix(6).firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let port: String
        switch ByteString(text[..<colon]).smallLetters {
        case "http": port = ":80"
        case "https": port = ":443"
        default: return nil
        }
        let rest = text[text.index(after: colon)...]
        guard rest.starts(with: "//".utf8) else { return nil }
        let authority = rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
        let start = authority.lastIndex(of: UInt8(ascii: "@")).map(authority.index(after:))
        let host = ByteString(authority[(start ?? authority.startIndex)...]).smallLetters
        guard !host.isEmpty, host.utf8.count <= maximumBytes else { return nil }
        // A colon within the brackets of an IPv6 address is not the port's.
        let afterAddress = host.utf8.lastIndex(of: UInt8(ascii: "]")) ?? host.utf8.startIndex
        guard let portColon = host.utf8[afterAddress...].lastIndex(of: UInt8(ascii: ":"))
        else { return "\(host)\(port)" }
        guard host.utf8.index(after: portColon) == host.utf8.endIndex else { return host }
        return "\(ByteString(host.utf8.dropLast()))\(port)"
    }
}
