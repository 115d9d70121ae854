import DarkroomCore

/// Which downloads are handed to their queue: so many at once, of each host only so many, none while its host has asked
/// to be left alone, and in fair turns. The others wait here, where they cost no place that another's could have.
///
/// The rule, when a place is free:
///
/// 1. Among the downloads whose hosts would take one more, those of the highest level come first; then those of the
///    owner with the fewest transfers, of that owner's batch with the fewest, and of that batch's host with the fewest;
///    among equals, whoever has waited longest for a turn (`FairOrder`).
/// 2. With n places free, a batch that has 3·n transfers gets no further one, nor does an owner that has 7·n. What
///    lower levels hold counts as free here, so that a level fares as if they were not there, but for the owner's own.
/// 3. Where all places are taken, some more (`Limits.keptForOwners`) are there for owners who have no transfer.
///
/// The second part keeps places back for whoever comes next, for a transfer may last minutes and nothing ends it for
/// another's sake: without it one manifest of dead hosts would have all places until each of its transfers is given up.
/// It depends on what is free alone, not on what servers do: of 16 places a lone batch gets 12, the batches of one owner
/// get 14 together, and 2 are left to other owners. The more owners have some, the less is kept (dynamic thresholds, as
/// in the shared buffers of switches); of fewer than 4 places, none is. What is counted are all transfers, so one of the
/// third part counts as any other once one of the others has ended.
///
/// The bound, of 16 places: the first download of an owner begins at once, unless as many others as the third part says
/// have begun theirs while all places were taken. The first of a batch begins at once, whatever another batch waits for;
/// where several owners hold all places, and its own has some, it waits for the next transfers to end. How long that
/// takes the limits of transfers say: a host that never answers holds a place for `downloads.connectTimeout`, or for
/// `downloads.stallTime` once it is connected. Higher levels go before, but the places that the second part keeps from
/// them are the lower levels'.
///
/// A host is not judged by how its transfers ended: each of them has its attempts, as the manual promises.
///
/// A value without threads or clocks: moments are given, in nanoseconds of the monotonic clock. What a call costs grows
/// with the number of owners and of a batch's hosts; not with that of downloads that wait, but for the skipping of what was
/// removed before, nor with that of batches, but where their hosts are full while others have places that are kept back.
package struct DownloadFairQueue: Sendable {
    typealias Owner = FairOrder.Owner

    struct Limits: Sendable, Equatable {
        /// Downloads in the queue at once.
        var places: Int
        /// Of them, those of one host.
        var perHost: Int
        /// Beyond `places`, for owners who have none.
        var keptForOwners = 0
    }

    private struct Host: Sendable {
        var holders = 0
        var isPaused = false
        var pausedUntil: UInt64 = 0
        /// When the pause began, RFC 3339.
        var pausedSince = ""
        /// Whether it would take one more.
        var isOpen = true
        /// How many batches have downloads that wait for it.
        var lanes = 0
        /// Those of them that are out of turn until it, or another of their hosts, takes one more; and some that were.
        var parked: Set<BatchKey> = []

        var isIdle: Bool { holders == 0 && lanes == 0 && !isPaused }
        var isWantedAndOpen: Bool { isOpen && lanes > 0 }
    }

    /// The downloads of a batch that wait.
    private struct Line: Sendable {
        let owner: Owner
        let level: Int
        /// By host; none is empty.
        var lanes: [ByteString: Lane] = [:]
        /// Whether none of these hosts took one more when its turn came, or since.
        var isParked = false
    }

    private struct Wait: Sendable {
        let host: ByteString
        let number: Lane.Number
    }

    private(set) var limits: Limits
    private var order = FairOrder()
    /// By their names' bytes.
    private var hosts: [ByteString: Host] = [:]
    private var lines: [BatchKey: Line] = [:]
    /// The hosts of those that have a place.
    private var places: [Work: ByteString] = [:]
    private var waits: [Work: Wait] = [:]
    private var lastNumber = 0
    /// How many hosts would take one more, and are waited for.
    private var openHosts = 0

    init(limits: Limits) {
        self.limits = limits
    }

    // MARK: Places

    /// Takes in a download, and gives those that go into the queue now: it alone, or none.
    ///
    /// - Parameter name: its host, `h:443`; nil for a file of this machine, of which there may be as many as there are
    ///   places.
    mutating func add(_ item: WorkRequest, owner: Owner, host name: ByteString?) -> [WorkRequest] {
        guard case .download(let batch, _) = item.work, places[item.work] == nil else {
            return [item]
        }
        guard waits[item.work] == nil else { return [] }
        let host = name ?? Self.noHost
        lastNumber += 1
        waits[item.work] = Wait(host: host, number: lastNumber)
        let level = Level(item.priority, item.quality).index
        let isNew = lines[batch]?.lanes[host] == nil
        lines[batch, default: Line(owner: owner, level: level)]
            .lanes[host, default: Lane(turn: lastNumber)].add(lastNumber, item)
        if isNew { change(host) { $0.lanes += 1 } }
        // It may be the first of the batch, or the first for which there is room.
        lines[batch]?.isParked = false
        order.setReady(batch, true, owner: owner, level: level)
        return fill()
    }

    /// Whether a download that was handed to the queue may still begin: not if its host has been paused since. Then it
    /// is to leave and come again.
    func mayBegin(_ work: Work) -> Bool {
        guard let host = places[work] else { return true }
        return hosts[host]?.isPaused != true
    }

    /// Takes back a download's place, if it has one. Gives those that go into the queue now.
    mutating func leave(_ work: Work) -> [WorkRequest] {
        guard case .download(let batch, _) = work, let host = places.removeValue(forKey: work)
        else { return [] }
        order.ended(batch)
        change(host) { $0.holders -= 1 }
        return fill()
    }

    /// Forgets a download, whether it waits or has a place. Gives those that go into the queue now.
    mutating func remove(_ work: Work) -> [WorkRequest] {
        if case .download(let batch, _) = work, let wait = waits.removeValue(forKey: work) {
            lines[batch]?.lanes[wait.host]?.take()
            if let lane = lines[batch]?.lanes[wait.host], lane.isSparse {
                lines[batch]?.lanes[wait.host] = lane.compacted { waits[$1]?.number == $0 }
            }
            dropIfEmpty(wait.host, of: batch)
        }
        return leave(work)
    }

    /// Gives those that go into the queue by it; what has a place keeps it where there are fewer.
    mutating func setLimits(_ limits: Limits) -> [WorkRequest] {
        self.limits = limits
        for host in Array(hosts.keys) { change(host) { _ in } }
        return fill()
    }

    // MARK: Pauses

    /// Lets no download of a host begin before a moment, until `resume` is called then. False where none might have
    /// begun now anyway.
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

    /// Ends a host's pause if it is over. Gives those that go into the queue now, or when to come again.
    mutating func resume(_ host: ByteString, now: UInt64) -> (items: [WorkRequest], again: UInt64?)
    {
        guard let until = hosts[host]?.pausedUntil else { return ([], nil) }
        if until > now { return ([], until) }
        change(host) { $0.isPaused = false }
        return (fill(), nil)
    }

    /// How many hosts are paused.
    func pausedCount(now: UInt64) -> Int { hosts.values.count { $0.pausedUntil > now } }

    // MARK: Counts

    /// How many wait.
    var waitingCount: Int { waits.count }

    /// Of them, those whose hosts would take one more.
    var waitingForPlaceCount: Int { waitingCount - waitingForHostCount }

    /// The others.
    package var waitingForHostCount: Int {
        lines.values.reduce(0) { sum, line in
            line.lanes.reduce(sum) { hosts[$1.key]?.isOpen == true ? $0 : $0 + $1.value.count }
        }
    }

    /// For tests: how many hosts are remembered.
    var hostCount: Int { hosts.count }

    // MARK: Within

    // These look at hosts and lines in place: a copy in a variable would make the next change copy what is in them.

    /// No host has this name.
    private static let noHost: ByteString = ""

    private mutating func fill() -> [WorkRequest] {
        var served: [WorkRequest] = []
        while openHosts > 0, let batch = next() {
            if let item = take(from: batch) { served.append(item) } else { park(batch) }
        }
        return served
    }

    /// The batch that has the next place; nil where there is none for any.
    private mutating func next() -> BatchKey? {
        if places.count < limits.places { return order.next(of: limits.places) }
        guard places.count - limits.places < limits.keptForOwners else { return nil }
        return order.next(for: .idleOwners)
    }

    /// Gives a place to the next download of a batch; nil where none of its hosts takes one more.
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
        while let (number, item) = lines[batch]?.lanes[host]?.next() {
            guard waits[item.work]?.number == number else { continue }
            lastNumber += 1
            lines[batch]?.lanes[host]?.take()
            lines[batch]?.lanes[host]?.turn = lastNumber
            return item
        }
        return nil
    }

    private func nextHost(of batch: BatchKey) -> ByteString? {
        guard let line = lines[batch] else { return nil }
        return line.lanes.keys.filter { hosts[$0]?.isOpen == true }
            .min { rank($0, in: line) < rank($1, in: line) }
    }

    private func rank(_ host: ByteString, in line: Line) -> (Int, Int) {
        (hosts[host]?.holders ?? 0, line.lanes[host]?.turn ?? 0)
    }

    /// Of a batch that has downloads that wait. Its owner may not be known.
    private func standing(of batch: BatchKey) -> (owner: Owner, level: Int)? {
        lines[batch].map { ($0.owner, $0.level) }
    }

    /// Takes a batch out of turn until one of its hosts takes one more.
    private mutating func park(_ batch: BatchKey) {
        guard let (owner, level) = standing(of: batch),
            let waitedFor = lines[batch]?.lanes.keys
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

    /// Changes what is known of a host, and has its batches know if it takes one more now.
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

    /// Lets go of a lane whose last has been taken or removed.
    private mutating func dropIfEmpty(_ host: ByteString, of batch: BatchKey) {
        guard lines[batch]?.lanes[host]?.count == 0 else { return }
        lines[batch]?.lanes[host] = nil
        if let line = lines[batch], line.lanes.isEmpty {
            order.setReady(batch, false, owner: line.owner, level: line.level)
            lines[batch] = nil
        }
        change(host) { $0.lanes -= 1 }
    }
}
