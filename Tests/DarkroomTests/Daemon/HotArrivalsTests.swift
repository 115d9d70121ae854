import Glibc
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomDaemon

/// When a picture of a hot folder is complete, and which share a batch.
@Suite struct HotArrivalsTests {
    private static let second: UInt64 = 1_000_000_000
    private let settle = Self.second
    private let within = 2 * Self.second

    private func path(_ name: String) -> RelativePath { .root.appending(FileName(name)) }

    private func file(_ time: Int, size: Int = 1) -> FileIdentity {
        var information = stat()
        information.st_size = size
        information.st_mtim.tv_sec = time
        return FileIdentity(information)
    }

    private func due(_ arrivals: inout HotArrivals, most: Int = 10, at now: UInt64) -> [String]? {
        arrivals.takeDue(most: most, within: within, now: now * Self.second)?.map(\.text)
    }

    private func see(
        _ arrivals: inout HotArrivals, _ name: String, _ time: Int = 0, isWhole: Bool = false,
        at now: UInt64
    ) {
        arrivals.seen(
            path(name), file(time), isWhole: isWhole, settle: settle, now: now * Self.second)
    }

    @Test func aRenamedPictureWaitsForOthersOnly() {
        var arrivals = HotArrivals()
        see(&arrivals, "b", isWhole: true, at: 10)
        see(&arrivals, "a", isWhole: true, at: 11)
        #expect(arrivals.reason(path("b")) == .queued)
        #expect(due(&arrivals, at: 11) == nil)
        #expect(due(&arrivals, at: 12) == ["a", "b"])
        #expect(due(&arrivals, at: 20) == nil && arrivals.count == 0)
    }

    @Test func aFullBatchDoesNotWait() {
        var arrivals = HotArrivals()
        for name in ["c", "a", "b"] { see(&arrivals, name, isWhole: true, at: 10) }
        #expect(due(&arrivals, most: 2, at: 10) == ["a", "b"])
        #expect(due(&arrivals, most: 2, at: 10) == nil)
        #expect(due(&arrivals, most: 2, at: 12) == ["c"])
    }

    @Test func anUnchangedPictureSettles() {
        var arrivals = HotArrivals()
        see(&arrivals, "a", 1, at: 10)
        #expect(arrivals.reason(path("a")) == .settling)
        #expect(arrivals.toBeLookedAt(settle: settle, now: 10 * Self.second) == [])
        // It has changed, so its time begins again.
        see(&arrivals, "a", 2, at: 11)
        #expect(arrivals.toBeLookedAt(settle: settle, now: 11 * Self.second) == [])
        #expect(arrivals.due(settle: settle, most: 10, within: within, now: 0) == 12 * Self.second)
        see(&arrivals, "a", 2, at: 12)
        #expect(due(&arrivals, at: 14) == ["a"])
    }

    @Test func anOpenPictureIsNotTaken() {
        var arrivals = HotArrivals()
        see(&arrivals, "a", isWhole: true, at: 10)
        arrivals.begunToBeWritten(path("a"), now: 15 * Self.second)
        see(&arrivals, "a", isWhole: true, at: 20)
        #expect(arrivals.reason(path("a")) == .beingWritten)
        #expect(due(&arrivals, at: 30) == nil)
        arrivals.closed(path("a"))
        see(&arrivals, "a", at: 31)
        see(&arrivals, "a", at: 32)
        #expect(due(&arrivals, at: 34) == ["a"])
        // Its closing may be among lost events.
        arrivals.begunToBeWritten(path("b"), now: 36 * Self.second)
        arrivals.forgetWriters()
        see(&arrivals, "b", isWhole: true, at: 40)
        #expect(due(&arrivals, at: 42) == ["b"])
    }

    /// Not every change has a closing. Without events for long, the picture is observed like others.
    @Test func aSilentWriterIsNotWaitedForWithoutEnd() {
        var arrivals = HotArrivals()
        let silence = HotArrivals.silence / Self.second
        arrivals.begunToBeWritten(path("a"), now: 10 * Self.second)
        // The last event counts.
        arrivals.begunToBeWritten(path("a"), now: 20 * Self.second)
        let end = 20 + silence
        see(&arrivals, "a", at: end - 1)
        #expect(arrivals.reason(path("a")) == .beingWritten)
        #expect(arrivals.toBeLookedAt(settle: settle, now: (end - 1) * Self.second) == [])
        #expect(
            arrivals.due(settle: settle, most: 10, within: within, now: 0) == end * Self.second)
        #expect(arrivals.toBeLookedAt(settle: settle, now: end * Self.second) == [path("a")])
        see(&arrivals, "a", at: end)
        #expect(arrivals.reason(path("a")) == .settling)
        see(&arrivals, "a", at: end + 1)
        #expect(due(&arrivals, at: end + 3) == ["a"])
    }

    /// New pictures with small names do not keep an older one waiting.
    @Test func thoseThatWaitLongestAreTakenFirst() {
        var arrivals = HotArrivals()
        see(&arrivals, "zzz", isWhole: true, at: 10)
        for name in ["002", "001", "000"] { see(&arrivals, name, isWhole: true, at: 11) }
        #expect(due(&arrivals, most: 2, at: 11) == ["000", "zzz"])
        #expect(due(&arrivals, most: 2, at: 11) == ["001", "002"])
    }

    @Test func whatIsGivenBackComesAgain() {
        var arrivals = HotArrivals()
        arrivals.giveBack([path("a")], at: 5 * Self.second)
        #expect(due(&arrivals, at: 6) == nil)
        #expect(due(&arrivals, at: 7) == ["a"])
        see(&arrivals, "b", isWhole: true, at: 8)
        arrivals.forget(path("b"))
        #expect(due(&arrivals, at: 20) == nil)
    }

    @Test func namesBeyondItsCapacityStayInTheFolder() {
        var arrivals = HotArrivals()
        for index in 0..<HotArrivals.capacity { see(&arrivals, "\(index)", isWhole: true, at: 1) }
        #expect(!arrivals.hasLeft)
        see(&arrivals, "more", isWhole: true, at: 1)
        #expect(arrivals.hasLeft && arrivals.count == HotArrivals.capacity)
        arrivals.forgetLeft()
        #expect(!arrivals.hasLeft)
    }
}
