import Testing

@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomSpool

struct ControlFileQueueTests {
    @Test func actsOnceAndIsForgotten() throws {
        let files = try ["a.hold", "b.cancel", "a.cancel"].map {
            try #require(ControlFile(FileName($0)))
        }
        var queue = ControlFileQueue()
        for file in files + files { queue.add(file, owner: nil) }
        #expect(queue.naming(["a"]) == ["a.cancel", "a.hold"])
        #expect(queue.next() == "a.hold")
        queue.take(files[0])
        // One that is taken out of its turn is not given again; one in hand is not added again.
        queue.take(files[2])
        queue.add(files[0], owner: nil)
        #expect(queue.next() == "b.cancel")
        let since = queue.wait(files[1], now: 0)
        #expect(queue.next() == nil)
        #expect(queue.needTime)
        let isOverfull = queue.wake()
        #expect(!isOverfull)
        #expect(queue.next() == "b.cancel")
        queue.take(files[1])
        // What has to wait again has waited since the first time.
        #expect(queue.wait(files[1], now: 0) == since)
        for file in files { queue.forget(file) }
        #expect(!queue.needTime)
        #expect(queue.naming(["a", "b"]).isEmpty)
        queue.add(files[0], owner: nil)
        #expect(queue.next() == "a.hold")
    }

    @Test func remembersOnlySoMany() throws {
        var queue = ControlFileQueue()
        for index in 0..<20_000 {
            queue.add(try #require(ControlFile("\(index).hold")), owner: nil)
        }
        var given = 0
        while let name = queue.next() {
            given += 1
            queue.forget(try #require(ControlFile(name)))
        }
        #expect(given == 16_384)
        // The others are found by another look, after a while.
        #expect(queue.needTime)
        let isOverfull = queue.wake()
        #expect(isOverfull)
        #expect(!queue.needTime)
    }

    /// One that has something to act on goes before all others, and finds room.
    @Test func givesTheUrgentFirst() throws {
        var queue = ControlFileQueue()
        for index in 0..<20_000 {
            queue.add(try #require(ControlFile("\(index).hold")), owner: nil)
        }
        for name: FileName in ["a.hold", "a.release", "a.hold"] {
            queue.add(try #require(ControlFile(name)), owner: nil, isUrgent: true)
        }
        #expect(queue.hasNext)
        for name: FileName in ["a.hold", "a.release", "0.hold", "1.hold"] {
            #expect(queue.next() == name)
            queue.forget(try #require(ControlFile(name)))
        }
        while let name = queue.next() { queue.forget(try #require(ControlFile(name))) }
        #expect(!queue.hasNext)
    }

    /// Whoever drops thousands keeps nobody else's waiting, be they urgent or not, nor takes all the room.
    @Test(arguments: [false, true]) func ownersTakeTurns(isUrgent: Bool) throws {
        var queue = ControlFileQueue()
        for index in 0..<20_000 {
            let file = try #require(ControlFile("\(index).hold"))
            queue.add(file, owner: 2001, isUrgent: isUrgent)
        }
        for name: FileName in ["a.hold", "b.hold"] {
            queue.add(try #require(ControlFile(name)), owner: 2000, isUrgent: isUrgent)
        }
        var given: [FileName] = []
        while given.count < 5, let name = queue.next() {
            given.append(name)
            let file = try #require(ControlFile(name))
            queue.take(file)
            if name == "a.hold" { _ = queue.wait(file, now: 0) } else { queue.forget(file) }
        }
        #expect(given == ["0.hold", "a.hold", "1.hold", "b.hold", "2.hold"])
        // What has to wait is in its owner's turn again, and urgent no more.
        _ = queue.wake()
        let more = [queue.next(), queue.next(), queue.next()]
        #expect(more.contains("a.hold") != isUrgent)
    }
}
