import DarkroomCore

/// Selects the downloads that get a place in their queue: a limited number at once, for each host too, none while its
/// host has asked for a pause, and in fair turns. Other downloads wait here, where they use no place that another
/// download could have.
///
/// When a place is free, this rule applies:
///
/// 1. Downloads whose hosts accept one more are candidates. Those of the highest level come first; then those of the
///    owner with the fewest transfers, of that owner's batch with the fewest, and of that batch's host with the fewest;
///    among equals, the one that has waited longest for a turn (`FairShare`).
/// 2. With n free places, a batch with 3·n transfers gets no further one, nor does an owner with 7·n. The places of
///    lower levels count as free here, except the owner's own, so that lower levels do not limit a level.
/// 3. If all places are taken, there are some additional ones (`Limits.keptForOwners`) for owners without a transfer.
///
/// Part 2 keeps places for downloads that arrive next. A transfer may last minutes, and nothing ends it for the benefit
/// of others. Without this part, one manifest of dead hosts would have all places until each of its transfers is given
/// up. The part depends only on the free places, not on what servers do: of 16 places a single batch gets 12, the
/// batches of one owner together get 14, and 2 are left for other owners. The more owners have places, the fewer are
/// kept (dynamic thresholds, as in the shared buffers of switches). Of fewer than 4 places, none is kept. All transfers
/// are counted, so a transfer of part 3 counts as any other after one of the others has ended.
///
/// The guarantee, for 16 places: the first download of an owner begins at once, unless as many other owners as part 3
/// allows have begun theirs while all places were taken. The first download of a batch begins at once, whatever another
/// batch waits for. If several owners have all places, and its own owner has some, it waits until transfers end. The
/// limits of transfers define how long this takes: a host that never answers uses a place for
/// `downloads.connectTimeout`, or for `downloads.stallTime` once it is connected. Higher levels come first, but the
/// places that part 2 keeps from them are available to lower levels.
///
/// The results of a host's transfers do not change its turns: each download has its attempts, as the manual says.
///
/// A value without threads or clocks: times are parameters, in nanoseconds of the monotonic clock. The cost of a call
/// grows with the number of owners and of a batch's hosts. It does not grow with the number of waiting downloads,
/// except to skip removed ones. It grows with the number of batches only if their hosts are full while others have kept
/// places.
package struct DownloadFairQueue: Sendable {
    typealias Owner = FairShare.Owner

    package struct Limits: Sendable, Equatable {
        /// Downloads in the queue at once.
        package var places: Int
        /// The maximum of these for one host.
        package var perHost: Int
        /// Additional places for owners without a place.
        package var keptForOwners: Int

        package init(places: Int, perHost: Int, keptForOwners: Int = 0) {
            self.places = places
            self.perHost = perHost
            self.keptForOwners = keptForOwners
        }
    }

    private struct Host: Sendable {
        var holders = 0
        var isPaused = false
        var pausedUntil: UInt64 = 0
        /// When the pause began, RFC 3339.
        var pausedSince = ""
        /// Whether it accepts one more download.
        var isOpen = true
        /// How many batches have downloads that wait for it.
        var lines = 0
        /// The batches of these that get no turn until it, or another of their hosts, accepts one more; and some that
        /// did.
        var parked: Set<BatchKey> = []

        var isIdle: Bool { holders == 0 && lines == 0 && !isPaused }
        var isWantedAndOpen: Bool { isOpen && lines > 0 }
    }

    /// The waiting downloads of a batch.
    private struct Line: Sendable {
        let owner: Owner
        let level: Int
        /// By host; none is empty.
        var lines: [ByteString: DownloadLine] = [:]
        /// Whether none of these hosts has accepted one more since its last turn.
        var isParked = false
    }

    private struct Wait: Sendable {
        let host: ByteString
        let number: DownloadLine.Number
    }

    private(set) var limits: Limits
    private var order = FairShare()
    /// By the bytes of their names.
    private var hosts: [ByteString: Host] = [:]
    private var lines: [BatchKey: Line] = [:]
    /// The hosts of the downloads that have a place.
    private var places: [Work: ByteString] = [:]
    private var waits: [Work: Wait] = [:]
    private var lastNumber = 0
    /// How many hosts accept one more download and have waiting ones.
    private var openHosts = 0

    init(limits: Limits) { self.limits = limits }

    // MARK: Places

    // Each of these functions returns the downloads that go into the queue now.

    /// Adds a download.
    ///
    /// - Parameter name: its host, `h:443`; nil for a local file. All places may be used for local files.
    mutating func add(_ item: WorkRequest, owner: Owner, host name: ByteString?) -> [WorkRequest] {
        guard case .download(let batch, _) = item.work, places[item.work] == nil else {
            return [item]
        }
        guard waits[item.work] == nil else { return [] }
        let host = name ?? Self.noHost
        lastNumber += 1
        waits[item.work] = Wait(host: host, number: lastNumber)
        let level = Level(item.priority, item.quality).index
        let isNew = lines[batch]?.lines[host] == nil
        lines[batch, default: Line(owner: owner, level: level)]
            .lines[host, default: DownloadLine(turn: lastNumber)].add(lastNumber, item)
        if isNew { change(host) { $0.lines += 1 } }
        // It may be the first of the batch, or the first whose host accepts one more.
        lines[batch]?.isParked = false
        order.setReady(batch, true, owner: owner, level: level)
        return fill()
    }

    /// Whether a download that was put into the queue may still begin. If its host has asked for a pause since, it must
    /// leave and enter again.
    func mayBegin(_ work: Work) -> Bool {
        guard let host = places[work] else { return true }
        return hosts[host]?.isPaused != true
    }

    /// Frees a download's place, if it has one.
    mutating func leave(_ work: Work) -> [WorkRequest] {
        guard case .download(let batch, _) = work, let host = places.removeValue(forKey: work)
        else { return [] }
        order.ended(batch)
        change(host) { $0.holders -= 1 }
        return fill()
    }

    /// Removes a download, whether it waits or has a place.
    mutating func remove(_ work: Work) -> [WorkRequest] {
        if case .download(let batch, _) = work, let wait = waits.removeValue(forKey: work) {
            lines[batch]?.lines[wait.host]?.take()
            if let line = lines[batch]?.lines[wait.host], line.isSparse {
                lines[batch]?.lines[wait.host] = line.compacted { waits[$1]?.number == $0 }
            }
            dropIfEmpty(wait.host, of: batch)
        }
        return leave(work)
    }

    /// Changes the limits. If there are fewer places, downloads keep the ones that they have.
    mutating func setLimits(_ limits: Limits) -> [WorkRequest] {
        self.limits = limits
        for host in Array(hosts.keys) { change(host) { _ in } }
        return fill()
    }

    // MARK: Pauses

    /// Lets no download of a host begin before a given time, until `resume` is called then.
    ///
    /// - Returns: false if the host was paused already.
    mutating func pause(
        _ host: ByteString, until: UInt64, now: UInt64, at time: String = ""
    ) -> Bool {
        let before = hosts[host]?.pausedUntil ?? 0
        guard until > now else { return false }
        change(host) { host in
            host.pausedUntil = max(before, until)
            host.isPaused = true
            if before <= now { host.pausedSince = time }
        }
        return before <= now
    }

    package struct Pause: Equatable, Sendable {
        package let host: ByteString
        /// In nanoseconds.
        package let until: UInt64
        /// When it began, RFC 3339.
        package let since: String
    }

    /// The longest of the pauses of these hosts.
    package func pause(of names: Set<ByteString>, now: UInt64) -> Pause? {
        names.compactMap { name in
            guard let host = hosts[name], host.pausedUntil > now else { return nil }
            return Pause(host: name, until: host.pausedUntil, since: host.pausedSince)
        }.max { $0.until < $1.until }
    }

    /// Ends a host's pause if it is over.
    ///
    /// - Returns: the downloads that go into the queue now, or the time to call this again.
    mutating func resume(_ host: ByteString, now: UInt64) -> (items: [WorkRequest], again: UInt64?)
    {
        guard let until = hosts[host]?.pausedUntil else { return ([], nil) }
        if until > now { return ([], until) }
        change(host) { $0.isPaused = false }
        return (fill(), nil)
    }

    /// How many hosts are paused.
    package func pausedCount(now: UInt64) -> Int { hosts.values.count { $0.pausedUntil > now } }

    // MARK: Counts

    /// How many downloads wait.
    var waitingCount: Int { waits.count }

    /// How many of them wait for a place only: their hosts accept one more.
    var waitingForPlaceCount: Int { waitingCount - waitingForHostCount }

    /// How many of them wait for their host: it has the most downloads that it may have, or has asked for a pause.
    package var waitingForHostCount: Int {
        lines.values.reduce(0) { sum, line in
            line.lines.reduce(sum) { hosts[$1.key]?.isOpen == true ? $0 : $0 + $1.value.count }
        }
    }

    /// For tests: how many hosts are remembered.
    var hostCount: Int { hosts.count }

    /// For tests: whether nothing is remembered.
    var isEmpty: Bool {
        hosts.isEmpty && lines.isEmpty && places.isEmpty && waits.isEmpty && order.isEmpty
    }

    /// For tests: whether the counts are those of the places and of the waiting downloads.
    var isConsistent: Bool {
        let holders = Dictionary(places.values.map { ($0, 1) }, uniquingKeysWith: +)
        let waiting = Dictionary(
            lines.values.flatMap { $0.lines.keys.map { ($0, 1) } }, uniquingKeysWith: +)
        let areCounted = hosts.allSatisfy { name, host in
            let isFull = !name.isEmpty && host.holders >= limits.perHost
            return host.holders == holders[name, default: 0]
                && host.lines == waiting[name, default: 0]
                && host.isOpen == (!isFull && !host.isPaused)
        }
        return areCounted && Set(holders.keys).union(waiting.keys).isSubset(of: hosts.keys)
            && openHosts == hosts.values.count(where: \.isWantedAndOpen)
            && lines.values.allSatisfy { !$0.lines.isEmpty }
            && waits.count
                == lines.values.flatMap(\.lines.values).reduce(0) { $0 + $1.count }
    }

    // MARK: Internals

    // These functions access hosts and lines in place: with a copy in a variable, the next change would copy their
    // content.

    /// No host has this name.
    private static let noHost: ByteString = ""

    private mutating func fill() -> [WorkRequest] {
        var served: [WorkRequest] = []
        while openHosts > 0, let batch = next() {
            if let item = take(from: batch) { served.append(item) } else { park(batch) }
        }
        return served
    }

    /// The batch that gets the next place; nil if no batch may have one.
    private mutating func next() -> BatchKey? {
        if places.count < limits.places { return order.next(of: limits.places) }
        guard places.count - limits.places < limits.keptForOwners else { return nil }
        return order.next(for: .idleOwners)
    }

    /// Gives a place to the next download of a batch; nil if none of its hosts accepts one more.
    private mutating func take(from batch: BatchKey) -> WorkRequest? {
        guard let host = nextHost(of: batch), let (owner, level) = standing(of: batch),
            let item = takeFirst(of: batch, host)
        else { return nil }
        waits[item.work] = nil
        places[item.work] = host
        order.began(batch, owner: owner, level: level)
        change(host) { $0.holders += 1 }
        dropIfEmpty(host, of: batch)
        return item
    }

    private mutating func takeFirst(of batch: BatchKey, _ host: ByteString) -> WorkRequest? {
        while let (number, item) = lines[batch]?.lines[host]?.next() {
            guard waits[item.work]?.number == number else { continue }
            lastNumber += 1
            lines[batch]?.lines[host]?.take()
            lines[batch]?.lines[host]?.turn = lastNumber
            return item
        }
        return nil
    }

    private func nextHost(of batch: BatchKey) -> ByteString? {
        guard let line = lines[batch] else { return nil }
        return line.lines.keys.filter { hosts[$0]?.isOpen == true }
            .min { rank($0, in: line) < rank($1, in: line) }
    }

    private func rank(_ host: ByteString, in line: Line) -> (Int, Int) {
        (hosts[host]?.holders ?? 0, line.lines[host]?.turn ?? 0)
    }

    /// The standing of a batch with waiting downloads. Its owner may be unknown.
    private func standing(of batch: BatchKey) -> (owner: Owner, level: Int)? {
        lines[batch].map { ($0.owner, $0.level) }
    }

    /// Gives a batch no turns until one of its hosts accepts one more.
    private mutating func park(_ batch: BatchKey) {
        guard let (owner, level) = standing(of: batch),
            let waitedFor = lines[batch]?.lines.keys
        else { return }
        for host in waitedFor { hosts[host]?.parked.insert(batch) }
        lines[batch]?.isParked = true
        order.setReady(batch, false, owner: owner, level: level)
    }

    private mutating func unpark(_ batch: BatchKey) {
        guard lines[batch]?.isParked == true, let (owner, level) = standing(of: batch)
        else { return }
        lines[batch]?.isParked = false
        order.setReady(batch, true, owner: owner, level: level)
    }

    /// Changes the data of a host, and gives its batches their turns again if it accepts one more now.
    private mutating func change(_ name: ByteString, _ change: (inout Host) -> Void) {
        let wasWanted = hosts[name]?.isWantedAndOpen == true
        change(&hosts[name, default: Host()])
        let isFull = !name.isEmpty && (hosts[name]?.holders ?? 0) >= limits.perHost
        let isOpen = !isFull && hosts[name]?.isPaused == false
        hosts[name]?.isOpen = isOpen
        openHosts += hosts[name]?.isWantedAndOpen == true ? 1 : 0
        openHosts -= wasWanted ? 1 : 0
        if isOpen, let parked = hosts[name]?.parked, !parked.isEmpty {
            hosts[name]?.parked = []
            for batch in parked { unpark(batch) }
        }
        if hosts[name]?.isIdle == true { hosts[name] = nil }
    }

    /// Removes a line after its last download.
    private mutating func dropIfEmpty(_ host: ByteString, of batch: BatchKey) {
        guard lines[batch]?.lines[host]?.count == 0 else { return }
        lines[batch]?.lines[host] = nil
        if let line = lines[batch], line.lines.isEmpty {
            order.setReady(batch, false, owner: line.owner, level: line.level)
            lines[batch] = nil
        }
        change(host) { $0.lines -= 1 }
    }
}
