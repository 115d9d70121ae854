import TestSupport
import Testing

@testable import Darkroom

@Suite struct HostWaitsTests {
    /// A `HostWaits` of downloads of one batch, which are told by their sources.
    private final class Desk {
        private var waits: HostWaits

        init(limit: Int) { waits = HostWaits(limit: limit) }

        var waitingCount: Int { waits.waitingCount }
        var hostCount: Int { waits.hostCount }

        func enter(
            _ source: Int, _ priority: Priority = .normal, host: ByteString = "h", now: UInt64
        ) -> Bool {
            let item = HostWaits.Item(
                work: .download(1, source: source), priority: priority, quality: .default)
            return waits.enter(item, host: host, now: now)
        }

        /// Those of `0..<count` that got a place.
        func enterAll(_ count: Int) -> [Int] { (0..<count).filter { enter($0, now: 1) } }

        func mayBegin(_ source: Int, now: UInt64) -> Bool {
            waits.mayBegin(.download(1, source: source), now: now)
        }

        func leave(_ source: Int, now: UInt64) -> [Int] {
            sources(waits.leave(.download(1, source: source), now: now))
        }

        func remove(_ source: Int, now: UInt64) -> [Int] {
            sources(waits.remove(.download(1, source: source), now: now))
        }

        func setLimit(_ limit: Int, now: UInt64) -> [Int] {
            sources(waits.setLimit(limit, now: now))
        }

        func pause(_ host: ByteString, until: UInt64, now: UInt64) -> Bool {
            waits.pause(host, until: until, now: now)
        }

        func resume(_ host: ByteString, now: UInt64) -> (items: [Int], again: UInt64?) {
            let (items, again) = waits.resume(host, now: now)
            return (sources(items), again)
        }

        private func sources(_ items: [HostWaits.Item]) -> [Int] {
            items.map {
                if case .download(_, let source) = $0.work { source } else { -1 }
            }
        }
    }

    @Test func letsOnlySoManyIn() {
        let waits = Desk(limit: 2)
        #expect(waits.enterAll(5) == [0, 1])
        #expect(waits.waitingCount == 3)
        #expect(waits.leave(1, now: 1) == [2])
        // Who has none gives none back.
        #expect(waits.leave(1, now: 1).isEmpty)
        #expect(waits.leave(4, now: 1).isEmpty)
        #expect(waits.waitingCount == 2)
    }

    @Test func countsEachHostForItself() {
        let waits = Desk(limit: 1)
        #expect(waits.enter(0, host: "a:80", now: 1))
        #expect(waits.enter(1, host: "b:80", now: 1))
        #expect(!waits.enter(2, host: "a:80", now: 1))
        #expect(waits.leave(1, now: 1).isEmpty)
        #expect(waits.hostCount == 1)
    }

    @Test func servesTheHighestLevelFirstAndWhoCameFirst() {
        let waits = Desk(limit: 1)
        #expect(waits.enter(0, now: 1))
        let levels: [Priority] = [.low, .high, .normal, .high, .low]
        for (index, priority) in levels.enumerated() {
            #expect(!waits.enter(index + 1, priority, now: 1))
        }
        var order: [Int] = []
        var last = 0
        while let next = waits.leave(last, now: 1).first {
            last = next
            order.append(last)
        }
        #expect(order == [2, 4, 3, 1, 5])
        #expect(waits.hostCount == 0)
    }

    /// One that has its place and has not begun steps back for a higher one, and not for its like.
    @Test(arguments: [(Priority.low, true), (.normal, true), (.high, false)])
    func letsTheHigherGoFirst(comer: Priority, begins: Bool) {
        let waits = Desk(limit: 1)
        #expect(waits.enter(0, now: 1))
        #expect(!waits.enter(1, comer, now: 1))
        #expect(waits.mayBegin(0, now: 1) == begins)
        #expect(waits.leave(0, now: 1) == [1])
        #expect(!waits.enter(0, now: 1))
    }

    @Test func letsNobodyInWhileTheHostIsPaused() {
        let waits = Desk(limit: 2)
        #expect(waits.enter(0, now: 1))
        #expect(waits.pause("h", until: 100, now: 1))
        // Further answers of the same kind are no news, but they may ask for more, and not for less.
        #expect(!waits.pause("h", until: 200, now: 2))
        #expect(!waits.pause("h", until: 50, now: 2))
        #expect(!waits.enter(1, now: 3))
        #expect(waits.enter(2, host: "other", now: 3))
        #expect(!waits.mayBegin(0, now: 3))
        #expect(waits.leave(0, now: 3).isEmpty)
        let early = waits.resume("h", now: 100)
        #expect(early.items.isEmpty && early.again == 200)
        // Who comes when the time is over, but before those who wait have been let in, is behind them.
        #expect(!waits.enter(3, now: 201))
        let (items, again) = waits.resume("h", now: 201)
        #expect(items == [1, 3] && again == nil)
        #expect(waits.mayBegin(1, now: 201))
        #expect(waits.pause("h", until: 300, now: 250))
    }

    @Test func aPauseThatIsOverIsNone() {
        let waits = Desk(limit: 1)
        #expect(!waits.pause("h", until: 5, now: 5))
        #expect(waits.enter(0, now: 5))
        let none = waits.resume("nobody", now: 5)
        #expect(none.items.isEmpty && none.again == nil)
    }

    @Test func forgetsWhatIsCancelled() {
        let waits = Desk(limit: 1)
        #expect(waits.enterAll(4) == [0])
        #expect(waits.remove(1, now: 1).isEmpty)
        #expect(waits.remove(1, now: 1).isEmpty)
        #expect(waits.waitingCount == 2)
        // It comes again, behind the others.
        #expect(!waits.enter(1, now: 1))
        #expect(waits.remove(0, now: 1) == [2])
        #expect(waits.leave(2, now: 1) == [3])
        #expect(waits.leave(3, now: 1) == [1])
    }

    /// An operation that was cancelled and ends late must not take the wait of its successor.
    @Test func whoLeavesDoesNotTakeAWaitWithIt() {
        let waits = Desk(limit: 1)
        #expect(waits.enterAll(2) == [0])
        #expect(waits.leave(1, now: 1).isEmpty)
        #expect(waits.waitingCount == 1)
        // Who is here already is not taken in twice.
        #expect(waits.enter(0, now: 1))
        #expect(!waits.enter(1, now: 1))
        #expect(waits.waitingCount == 1)
    }

    @Test func takesANewLimit() {
        let waits = Desk(limit: 1)
        #expect(waits.enterAll(6) == [0])
        #expect(waits.setLimit(3, now: 1) == [1, 2])
        #expect(waits.setLimit(1, now: 1).isEmpty)
        #expect(waits.leave(0, now: 1).isEmpty)
        #expect(waits.leave(1, now: 1).isEmpty)
        #expect(waits.leave(2, now: 1) == [3])
        #expect(waits.setLimit(.max, now: 1) == [4, 5])
    }

    /// With 100,000 that wait each call still looks at few of them; were it otherwise, this would take hours.
    @Test func isQuickWithMany() {
        let waits = Desk(limit: 1)
        let count = 100_000
        #expect(waits.enterAll(count) == [0])
        for source in 1..<count where source % 2 == 1 { _ = waits.remove(source, now: 1) }
        var served = 0
        var last = 0
        while let next = waits.leave(last, now: 1).first {
            last = next
            served += 1
        }
        #expect(served == count / 2 - 1)
        #expect(waits.waitingCount == 0 && waits.hostCount == 0)
    }

    /// Whatever is removed and added while a host is paused, what was removed does not pile up.
    @Test(arguments: 0..<10) func losesNobodyInAnyOrder(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let waits = Desk(limit: 3)
        var holding: Set<Int> = []
        var waiting: Set<Int> = []
        func got(_ items: [Int]) {
            #expect(waiting.isSuperset(of: items))
            waiting.subtract(items)
            holding.formUnion(items)
        }
        for now in 1..<4000 {
            let now = UInt64(now)
            let source = Int.random(in: 0..<200, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<4:
                let priority = Priority.allCases.randomElement(using: &random) ?? .normal
                if waits.enter(source, priority, now: now) {
                    #expect(!waiting.contains(source))
                    holding.insert(source)
                } else {
                    waiting.insert(source)
                }
            case 4, 5:
                holding.remove(source)
                got(waits.leave(source, now: now))
            case 6:
                holding.remove(source)
                waiting.remove(source)
                got(waits.remove(source, now: now))
            default:
                if source < 20 { _ = waits.pause("h", until: now + 40, now: now) }
                got(waits.resume("h", now: now).items)
            }
            #expect(holding.count <= 3)
            #expect(waits.waitingCount == waiting.count)
        }
        got(waits.resume("h", now: 10_000).items)
        while let source = holding.popFirst() {
            got(waits.leave(source, now: 10_000))
        }
        #expect(waiting.isEmpty && waits.hostCount == 0)
    }

    @Test(
        arguments: [
            ("http://h/a.png", "h:80"), ("HTTPS://H/a.png", "h:443"), ("http://h:8080/", "h:8080"),
            ("http://h:?x", "h:80"), ("http://ann:pw@h/a@b", "h:80"), ("http://a@b@h", "h:80"),
            ("http://[::1]/a", "[::1]:80"), ("https://[::1]:8443#a", "[::1]:8443"),
            ("http:///a", nil), ("http:h", nil), ("ftp://h/a", nil), ("a/b.png", nil), ("", nil),
            ("file:///a", nil), ("https:", nil),
        ] as [(ByteString, ByteString?)])
    func tellsTheHost(source: ByteString, host: ByteString?) {
        #expect(HostWaits.host(of: source) == host)
    }
}
