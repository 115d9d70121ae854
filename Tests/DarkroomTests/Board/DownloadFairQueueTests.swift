import TestPictures
import Testing

@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomManifest

/// Which downloads get places. Batches are numbers; a batch's owner and level are fixed by its number where nothing else
/// is said.
struct DownloadFairQueueTests {
    /// A `DownloadFairQueue` whose downloads are told by their sources, of one batch or of several.
    private final class DownloadQueueFixture {
        private var turns: DownloadFairQueue

        init(places: Int = 1000, perHost: Int = 1000, keptForOwners: Int = 0) {
            turns = DownloadFairQueue(
                limits: .init(places: places, perHost: perHost, keptForOwners: keptForOwners))
        }

        var waitingCount: Int { turns.waitingCount }
        var waitingForHostCount: Int { turns.waitingForHostCount }
        var hostCount: Int { turns.hostCount }

        /// Whether it goes into the queue.
        func enter(
            _ source: Int, batch: Int = 1, owner: UInt32? = 1, _ priority: Priority = .normal,
            host: ByteString? = "h"
        ) -> Bool {
            let item = WorkRequest(
                work: .download(batch, source: source), priority: priority, quality: .default)
            return !turns.add(item, owner: owner, host: host).isEmpty
        }

        /// Those of `0..<count` that got a place.
        func enterAll(_ count: Int) -> [Int] { (0..<count).filter { enter($0) } }

        func mayBegin(_ source: Int, batch: Int = 1) -> Bool {
            turns.mayBegin(.download(batch, source: source))
        }

        func leave(_ source: Int, batch: Int = 1) -> [Int] {
            sources(turns.leave(.download(batch, source: source)))
        }

        func remove(_ source: Int, batch: Int = 1) -> [Int] {
            sources(turns.remove(.download(batch, source: source)))
        }

        func setLimits(places: Int = 1000, perHost: Int = 1000) -> [Int] {
            sources(turns.setLimits(.init(places: places, perHost: perHost)))
        }

        func pause(_ host: ByteString, until: UInt64, now: UInt64) -> Bool {
            turns.pause(host, until: until, now: now)
        }

        func resume(_ host: ByteString, now: UInt64) -> (items: [Int], again: UInt64?) {
            let (items, again) = turns.resume(host, now: now)
            return (sources(items), again)
        }

        private func sources(_ items: [WorkRequest]) -> [Int] {
            items.map {
                if case .download(_, let source) = $0.work { source } else { -1 }
            }
        }
    }

    // MARK: Hosts

    /// Statuses of former versions may not name the owner.
    @Test func servesWhoseOwnerIsNotKnown() {
        let fixture = DownloadQueueFixture(places: 4, perHost: 1)
        #expect(fixture.enter(0, owner: nil))
        #expect(!fixture.enter(1, owner: nil))
        #expect(fixture.leave(0) == [1])
    }

    @Test func letsOnlySoManyOfAHostIn() {
        let fixture = DownloadQueueFixture(perHost: 2)
        #expect(fixture.enterAll(5) == [0, 1])
        #expect(fixture.waitingCount == 3 && fixture.waitingForHostCount == 3)
        #expect(fixture.leave(1) == [2])
        // Who has none gives none back.
        #expect(fixture.leave(1).isEmpty)
        #expect(fixture.leave(4).isEmpty)
        #expect(fixture.waitingCount == 2)
    }

    @Test func countsEachHostForItself() {
        let fixture = DownloadQueueFixture(perHost: 1)
        #expect(fixture.enter(0, host: "a:80"))
        #expect(fixture.enter(1, host: "b:80"))
        #expect(!fixture.enter(2, host: "a:80"))
        #expect(fixture.leave(1).isEmpty)
        #expect(fixture.hostCount == 1)
    }

    /// Files of this machine need places, and have no host.
    @Test func countsNoHostOfLocalFiles() {
        let fixture = DownloadQueueFixture(places: 3, perHost: 1)
        #expect((0..<3).allSatisfy { fixture.enter($0, host: nil) })
        #expect(!fixture.enter(3, host: nil))
        #expect(fixture.waitingForHostCount == 0)
        #expect(fixture.leave(0) == [3])
    }

    @Test func servesTheHighestLevelFirstAndWhoCameFirst() {
        let fixture = DownloadQueueFixture(places: 1)
        #expect(fixture.enter(0, batch: 10))
        let levels: [Priority] = [.low, .high, .normal, .high, .low]
        for (index, priority) in levels.enumerated() {
            #expect(!fixture.enter(index + 1, batch: priority.rank, priority))
        }
        var order: [Int] = []
        var (last, batch) = (0, 10)
        while let next = fixture.leave(last, batch: batch).first {
            (last, batch) = (next, levels[next - 1].rank)
            order.append(last)
        }
        #expect(order == [2, 4, 3, 1, 5])
        #expect(fixture.hostCount == 0)
    }

    @Test func letsNobodyInWhileTheHostIsPaused() {
        let fixture = DownloadQueueFixture(perHost: 2)
        #expect(fixture.enter(0))
        #expect(fixture.pause("h", until: 100, now: 1))
        // Further answers of the same kind are no news, but they may ask for more, and not for less.
        #expect(!fixture.pause("h", until: 200, now: 2))
        #expect(!fixture.pause("h", until: 50, now: 2))
        #expect(!fixture.enter(1))
        #expect(fixture.enter(2, host: "other"))
        #expect(!fixture.mayBegin(0) && fixture.mayBegin(2))
        #expect(fixture.leave(0).isEmpty)
        let early = fixture.resume("h", now: 100)
        #expect(early.items.isEmpty && early.again == 200)
        // Who comes when the time is over, but before those who wait have been let in, is behind them.
        #expect(!fixture.enter(3))
        let (items, again) = fixture.resume("h", now: 201)
        #expect(items == [1, 3] && again == nil)
        #expect(fixture.mayBegin(1))
        #expect(fixture.pause("h", until: 300, now: 250))
    }

    @Test func aPauseThatIsOverIsNone() {
        let fixture = DownloadQueueFixture(perHost: 1)
        #expect(!fixture.pause("h", until: 5, now: 5))
        #expect(fixture.enter(0))
        let none = fixture.resume("nobody", now: 5)
        #expect(none.items.isEmpty && none.again == nil)
    }

    @Test func forgetsWhatIsCancelled() {
        let fixture = DownloadQueueFixture(perHost: 1)
        #expect(fixture.enterAll(4) == [0])
        #expect(fixture.remove(1).isEmpty)
        #expect(fixture.remove(1).isEmpty)
        #expect(fixture.waitingCount == 2)
        // It comes again, behind the others.
        #expect(!fixture.enter(1))
        #expect(fixture.remove(0) == [2])
        #expect(fixture.leave(2) == [3])
        #expect(fixture.leave(3) == [1])
    }

    /// An operation that was cancelled and ends late must not take the wait of its successor.
    @Test func whoLeavesDoesNotTakeAWaitWithIt() {
        let fixture = DownloadQueueFixture(perHost: 1)
        #expect(fixture.enterAll(2) == [0])
        #expect(fixture.leave(1).isEmpty)
        #expect(fixture.waitingCount == 1)
        // Who is here already is not taken in twice.
        #expect(fixture.enter(0))
        #expect(!fixture.enter(1))
        #expect(fixture.waitingCount == 1)
    }

    @Test func takesNewLimits() {
        let fixture = DownloadQueueFixture(perHost: 1)
        #expect(fixture.enterAll(6) == [0])
        #expect(fixture.setLimits(perHost: 3) == [1, 2])
        #expect(fixture.setLimits(perHost: 1).isEmpty)
        #expect(fixture.leave(0).isEmpty)
        #expect(fixture.leave(1).isEmpty)
        #expect(fixture.leave(2) == [3])
        #expect(fixture.setLimits(places: 2) == [4])
        #expect(fixture.setLimits(places: 3) == [5])
    }

    // MARK: Shares

    /// Whatever waits behind them, a batch and an owner leave some places to others; with few there is no random for that.
    @Test(
        arguments: [
            (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 3, 4), (8, 6, 7), (16, 12, 14), (64, 48, 56),
            (1024, 768, 896),
        ])
    func keepsPlacesBack(places: Int, ofBatch: Int, ofOwner: Int) {
        let fixture = DownloadQueueFixture(places: places, perHost: 6)
        // Each download has a host of its own, as if none of them ever answered.
        let lone = (0..<2 * places).count { fixture.enter($0, host: "\($0)" as ByteString) }
        #expect(lone == ofBatch)
        var all = lone
        for batch in 2...6 {
            all += (0..<places).count {
                fixture.enter($0, batch: batch, host: "\($0)" as ByteString)
            }
        }
        #expect(all == ofOwner)
        // An urgent batch of the same owner does not take what is kept for others.
        #expect(!fixture.enter(0, batch: 99, .veryHigh) || ofOwner == places)
        #expect(fixture.enter(0, batch: 100, owner: 2, .veryLow) == (ofOwner < places))
    }

    /// The bound: those who have nothing are served first when something ends, one after the other.
    @Test(arguments: [1, 2, 3, 4, 16, 64])
    func servesNewcomersWithTheNextPlaces(places: Int) {
        let fixture = DownloadQueueFixture(places: places)
        var held: [(source: Int, batch: Int)] = []
        for owner in 1...20 where held.count < places {
            for source in 0..<2 * places
            where fixture.enter(source, batch: owner, owner: UInt32(owner), host: "\(source)") {
                held.append((source, owner))
            }
        }
        #expect(held.count == places)
        let newcomers = Array(1000..<1000 + places)
        for owner in newcomers {
            #expect(!fixture.enter(owner, batch: owner, owner: UInt32(owner), host: "x\(owner)"))
        }
        #expect(held.flatMap { fixture.leave($0.source, batch: $0.batch) } == newcomers)
    }

    /// Where all places are taken, so many owners get one more who have none.
    @Test func servesIdleOwnersBeyondThePlaces() {
        let fixture = DownloadQueueFixture(places: 4, perHost: 2, keptForOwners: 3)
        for owner in 1...4 {
            #expect(fixture.enter(0, batch: owner, owner: UInt32(owner), host: "\(owner)"))
        }
        // Not one who has any, of whatever level.
        #expect(!fixture.enter(1, batch: 1, owner: 1, .veryHigh, host: "x"))
        #expect(fixture.enter(0, batch: 5, owner: 5, .veryLow, host: "x"))
        #expect(!fixture.enter(1, batch: 5, owner: 5, .veryLow, host: "x"))
        #expect(!fixture.enter(0, batch: 50, owner: 5, host: "x"))
        // Not beyond what its host takes; what waits for the host keeps no other out.
        #expect(fixture.enter(0, batch: 6, owner: 6, host: "x"))
        #expect(!fixture.enter(0, batch: 7, owner: 7, host: "x"))
        #expect(fixture.enter(0, batch: 8, owner: 8, host: "y"))
        #expect(!fixture.enter(0, batch: 9, owner: 9, host: "y"))
        // Whoever has none is next; where fewer than the places are taken, each is.
        #expect(fixture.leave(0, batch: 8) == [0])
        #expect(fixture.leave(0, batch: 5) == [0])
        #expect(fixture.leave(0, batch: 9).isEmpty)
        #expect(fixture.leave(0, batch: 6).count == 1)
        #expect(fixture.leave(0, batch: 7).isEmpty && fixture.leave(0, batch: 4).isEmpty)
        #expect(fixture.leave(0, batch: 3).count == 1)
    }

    @Test func aHigherLevelTakesWhatEndsUpToItsShare() {
        let fixture = DownloadQueueFixture(places: 16)
        let low = (0..<40).filter { fixture.enter($0, host: "\($0)" as ByteString) }
        #expect(low.count == 12)
        // The four that are kept, then each that ends, as if the lower level were not there.
        let high = 100..<140
        #expect(
            high.count { fixture.enter($0, batch: 2, owner: 2, .high, host: "\($0)" as ByteString) }
                == 4)
        for source in low.prefix(8) {
            let served = fixture.leave(source)
            #expect(served.count == 1 && served.allSatisfy { high.contains($0) })
        }
        // It has its share. The next place is kept free, and the one after is the lower level's.
        #expect(fixture.leave(low[8]).isEmpty)
        let served = fixture.leave(low[9])
        #expect(served.count == 1 && served.allSatisfy { !high.contains($0) })
    }

    /// Of one host that all want, each owner gets as many places, and each of its batches.
    @Test func sharesAHost() {
        let fixture = DownloadQueueFixture(places: 100, perHost: 6)
        for source in 0..<40 { _ = fixture.enter(source, batch: 1) }
        for source in 40..<80 { _ = fixture.enter(source, batch: 2) }
        for source in 80..<120 { _ = fixture.enter(source, batch: 3, owner: 2) }
        var served = (0..<6).flatMap { fixture.leave($0, batch: 1) }
        #expect(served.count == 6)
        #expect(served.count { (80..<120).contains($0) } == 3)
        #expect(served.count { (40..<80).contains($0) } == 2)
        for _ in 0..<60 {
            let next = served.removeFirst()
            served += fixture.leave(next, batch: next / 40 + 1)
            #expect((2...4).contains(served.count { $0 >= 80 }))
        }
    }

    /// A batch goes round its hosts, and first to those that have none of anybody's.
    @Test func takesHostsInTurns() {
        let fixture = DownloadQueueFixture(places: 1)
        #expect(fixture.enter(0, host: "dead"))
        for source in 1..<7 {
            #expect(!fixture.enter(source, host: source < 4 ? "dead" : "\(source)"))
        }
        var order: [Int] = []
        var last = 0
        while let next = fixture.leave(last).first {
            last = next
            order.append(next)
        }
        #expect(order == [1, 4, 5, 6, 2, 3])
    }

    // MARK: Many

    /// With 100,000 that wait each call still looks at few of them; were it otherwise, this would take hours.
    @Test func isQuickWithMany() {
        let fixture = DownloadQueueFixture(perHost: 1)
        let count = 100_000
        #expect(fixture.enterAll(count) == [0])
        for source in 1..<count where source % 2 == 1 { _ = fixture.remove(source) }
        var served = 0
        var last = 0
        while let next = fixture.leave(last).first {
            last = next
            served += 1
        }
        #expect(served == count / 2 - 1)
        #expect(fixture.waitingCount == 0 && fixture.hostCount == 0)
    }

    /// A thousand batches that want the same host.
    @Test func isQuickWithManyBatches() {
        let fixture = DownloadQueueFixture(places: 16, perHost: 6)
        for source in 0..<50_000 { _ = fixture.enter(source, batch: source % 1000) }
        var held = Array(0..<6)
        var served = 6
        while let last = held.popLast() {
            let next = fixture.leave(last, batch: last % 1000)
            served += next.count
            held += next
        }
        #expect(served == 50_000 && fixture.hostCount == 0)
    }

    /// Random calls, held against the rule after each.
    @Test(arguments: 0..<12) func keepsTheRuleInAnyOrder(seed: UInt64) {
        var random = RandomDownloads(seed: seed)
        for now in 1..<3000 { random.act(UInt64(now)) }
        random.drain()
    }
}

/// Downloads of several owners, batches, levels and hosts that come and go, and what must hold of them.
private struct RandomDownloads {
    private struct Download: Hashable {
        let batch: Int
        let source: Int
        let host: ByteString

        /// Each owner has four batches, of several levels.
        var owner: UInt32 { UInt32(batch / 4) }
        var priority: Priority { Priority.allCases[batch % 3 + 1] }
        var level: Int { Level(priority, .default).index }
        var work: Work { .download(batch, source: source) }
    }

    private var random: SplitMix64
    private var turns: DownloadFairQueue
    private var limits: DownloadFairQueue.Limits
    private var held: [Work: Download] = [:]
    private var waiting: [Work: Download] = [:]
    private var paused: [ByteString: UInt64] = [:]

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        limits = .init(
            places: [1, 2, 3, 4, 7, 16, 33][Int(seed % 7)], perHost: Int(seed % 4) + 1,
            keptForOwners: Int(seed % 3))
        turns = DownloadFairQueue(limits: limits)
    }

    mutating func act(_ now: UInt64) {
        let host: ByteString = "h\(Int.random(in: 0..<9, using: &random))"
        let download = Download(
            batch: Int.random(in: 0..<12, using: &random),
            source: Int.random(in: 0..<40, using: &random), host: host)
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<6: add(download)
        case 6..<9:
            guard
                let work = held.keys.sorted(by: { $0.name < $1.name }).randomElement(using: &random)
            else { return }
            held[work] = nil
            take(turns.leave(work))
        case 9:
            held[download.work] = nil
            waiting[download.work] = nil
            take(turns.remove(download.work))
        case 10:
            _ = turns.pause(host, until: now + 30, now: now)
            paused[host] = max(paused[host] ?? 0, now + 30)
        default: resume(host, now)
        }
        check()
    }

    private mutating func add(_ download: Download) {
        let isNew = held[download.work] == nil && waiting[download.work] == nil
        if isNew { waiting[download.work] = download }
        let item = WorkRequest(
            work: download.work, priority: download.priority, quality: .default)
        let served = turns.add(item, owner: download.owner, host: download.host)
        if isNew { take(served) }
    }

    private mutating func resume(_ host: ByteString, _ now: UInt64) {
        let (items, again) = turns.resume(host, now: now)
        if again == nil { paused[host] = nil }
        take(items)
    }

    private mutating func take(_ items: [WorkRequest]) {
        for item in items {
            guard let download = waiting.removeValue(forKey: item.work) else {
                Issue.record("\(item.work.name) did not wait")
                continue
            }
            held[item.work] = download
        }
    }

    /// Whether the rule keeps a place that is free from one that waits.
    private func isOverItsShare(_ download: Download) -> Bool {
        let free = limits.places - held.values.count { $0.level >= download.level }
        let own = held.values.filter { $0.owner == download.owner }
        let ownBelow = own.count { $0.level < download.level }
        return own.count { $0.batch == download.batch } >= 3 * free
            || own.count >= 7 * (free - ownBelow)
    }

    private func hasAny(_ owner: UInt32) -> Bool { held.values.contains { $0.owner == owner } }

    private func check() {
        #expect(held.count <= limits.places + limits.keptForOwners)
        #expect(turns.waitingCount == waiting.count)
        let places = held.values.reduce(into: [:]) { $0[$1.host, default: 0] += 1 }
        #expect(places.values.allSatisfy { $0 <= limits.perHost })
        let open = waiting.values.filter {
            paused[$0.host] == nil && places[$0.host, default: 0] < limits.perHost
        }
        #expect(turns.waitingForHostCount == waiting.count - open.count)
        // No place is free that somebody might have.
        guard held.count < limits.places + limits.keptForOwners else { return }
        let isFull = held.count >= limits.places
        for download in open {
            #expect(isFull ? hasAny(download.owner) : isOverItsShare(download))
        }
    }

    /// All that wait are served in the end, and nothing is left.
    mutating func drain() {
        for host in Array(paused.keys) { resume(host, .max) }
        while let work = held.keys.first {
            held[work] = nil
            take(turns.leave(work))
            check()
        }
        #expect(waiting.isEmpty && turns.waitingCount == 0 && turns.hostCount == 0)
    }
}
