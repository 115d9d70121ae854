import TestPictures
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomSpool

/// What the next process learns from `spool/attempts`. A process that dies is played by one that never gets
/// to the end of `record`.
final class CrashRecordsTests: FolderSuite {
    private func open(
        of victim: CrashVictim = .daemon, boot: String = "b1", kills: [String: Int] = [:]
    ) throws -> CrashRecords {
        try CrashRecords(in: folder, of: victim, boot: boot, outOfMemoryKills: kills)
    }

    private func bytes() throws -> [UInt8] { try folder.read(CrashRecords.fileName) }

    private func write(_ bytes: [UInt8]) throws {
        try folder.write(bytes, to: CrashRecords.fileName, replacing: true, durably: false)
    }

    /// The file as it is while these pictures are being filtered.
    private func die(
        with pictures: [(batch: String, image: Int, before: Int)], boot: String = "b1",
        kills: [String: Int] = [:]
    ) throws {
        let attempts = try open(boot: boot, kills: kills)
        func next(_ rest: ArraySlice<(batch: String, image: Int, before: Int)>) throws -> [UInt8] {
            guard let picture = rest.first else { return try bytes() }
            return try attempts.record(
                batch: picture.batch, image: picture.image, before: picture.before
            ) { _ in
                Result { try next(rest.dropFirst()) }
            }.get()
        }
        try write(try next(pictures[...]))
    }

    private func mark(_ slot: Int, _ mark: String) throws {
        var changed = try bytes()
        let start = slot * CrashRecord.length
        changed.replaceSubrange(
            start..<start + CrashRecord.markLength,
            with: CrashRecord.padded(mark.utf8, to: CrashRecord.markLength))
        try write(changed)
    }

    private func crash(
        _ image: Int, _ cause: CrashCause, number: Int = 1
    ) -> CrashRecords.Crash {
        CrashRecords.Crash(image: image, number: number, cause: cause)
    }

    @Test func leavesNothingWhereAllHasEnded() throws {
        let attempts = try open()
        for image in 0..<3 {
            #expect(try attempts.record(batch: "x", image: image, before: 0) { $0 } == 1)
        }
        #expect(try open().crashes(of: "x").isEmpty)
    }

    @Test func whatWasRunningWasKilled() throws {
        try die(with: [("x", 4, 0), ("y", 0, 2), ("x", 1, 1)])
        let attempts = try open()
        #expect(attempts.crashes(of: "x") == [crash(4, .killed), crash(1, .killed, number: 2)])
        #expect(attempts.crashes(of: "y") == [crash(0, .killed, number: 3)])
        #expect(attempts.crashes(of: "z").isEmpty)
    }

    @Test(arguments: CrashCause.signals + ["watchdog"])
    func marksSayWhy(mark text: String) throws {
        try die(with: [("x", 0, 0), ("x", 1, 0)])
        try mark(2, text)
        let cause = try #require(CrashCause(rawValue: text))
        #expect(try open().crashes(of: "x") == [crash(0, .killed), crash(1, cause)])
    }

    /// They stay until their batch's journal has them, whatever dies before that.
    @Test func areKeptUntilTheyAreSettled() throws {
        try die(with: [("x", 0, 0), ("y", 1, 0)])
        for _ in 0..<3 {
            let attempts = try open(kills: ["/g": 7])
            #expect(attempts.crashes(of: "x") == [crash(0, .killed)])
            // Others do not write over them.
            #expect(try attempts.record(batch: "z", image: 0, before: 0) { $0 } == 3)
        }
        let attempts = try open(kills: ["/g": 8])
        attempts.clearCrashes(of: "x")
        #expect(attempts.crashes(of: "x").isEmpty)
        #expect(try open(kills: ["/g": 9]).crashes(of: "y") == [crash(1, .killed)])
        try open().clearCrashes(exceptOf: ["x"])
        #expect(try open().crashes(of: "y").isEmpty)
    }

    @Test(arguments: [
        // Its own group was made anew; the one above has counted one more.
        (["/a/b": 0, "/a": 4], CrashCause.outOfMemory), (["/a/b": 3, "/a": 3], .outOfMemory),
        (["/a/b": 2, "/a": 3], .killed), (["/a/b": 0, "/a": 3], .killed), ([:], .killed),
        (["/c": 9], .killed),
    ])
    func seesWhoRanOutOfMemory(kills: [String: Int], cause: CrashCause) throws {
        try write(ProcessRecord(boot: "b1", outOfMemoryKills: ["/a/b": 2, "/a": 3]).bytes)
        try die(with: [("x", 0, 0)], kills: ["/a/b": 2, "/a": 3])
        #expect(try open(kills: kills).crashes(of: "x") == [crash(0, cause)])
        // It is decided, whatever happens later.
        #expect(try open(kills: ["/a/b": 99]).crashes(of: "x") == [crash(0, cause)])
    }

    /// Which of several it was is not known: the second time it is nobody's.
    @Test func blamesAWantOfMemoryAgainOnlyOnWhoWasAlone() throws {
        try die(with: [("x", 0, 0), ("x", 1, 1), ("x", 2, 3)])
        #expect(
            try outOfMemory().crashes(of: "x") == [
                crash(0, .outOfMemory), crash(1, .killed, number: 2), crash(2, .killed, number: 4),
            ])
        try open().clearCrashes(of: "x")
        // What an earlier process left was not at work.
        try die(with: [("x", 0, 0), ("x", 1, 1)])
        try mark(1, "killed")
        #expect(
            try outOfMemory().crashes(of: "x") == [
                crash(0, .killed), crash(1, .outOfMemory, number: 2),
            ])
    }

    /// On a cluster, others in the group may have used the memory.
    @Test func aRunBlamesAWantOfMemoryOnlyOnWhoWasAlone() throws {
        try die(with: [("x", 0, 0), ("x", 1, 1)])
        #expect(
            try outOfMemory(of: .run).crashes(of: "x") == [
                crash(0, .killed), crash(1, .killed, number: 2),
            ])
        try open().clearCrashes(of: "x")
        try die(with: [("x", 0, 0)])
        #expect(try outOfMemory(of: .run).crashes(of: "x") == [crash(0, .outOfMemory)])
    }

    /// The next process, where the kernel has killed for want of memory.
    private func outOfMemory(of victim: CrashVictim = .daemon) throws -> CrashRecords {
        let process = ProcessRecord(boot: "b1", outOfMemoryKills: ["/g": 1])
        try write(process.bytes + (try bytes()).dropFirst(CrashRecord.length))
        return try open(of: victim, kills: ["/g": 2])
    }

    @Test func doesNotCountAfterAnotherBoot() throws {
        try die(with: [("x", 0, 0)])
        try mark(1, "SIGSEGV")
        #expect(try open(boot: "b2").crashes(of: "x").isEmpty)
        #expect(try open(boot: "b1").crashes(of: "x").isEmpty)
    }

    /// A kernel that hides its id.
    @Test func countsWhereNoBootIsKnown() throws {
        try die(with: [("x", 0, 0)], boot: "")
        #expect(try open(boot: "").crashes(of: "x") == [crash(0, .killed)])
    }

    @Test func endsInGoodOrder() throws {
        let attempts = try open()
        try attempts.record(batch: "x", image: 0, before: 0) { _ in attempts.close() }
        let running = try attempts.record(batch: "x", image: 0, before: 0) { _ in
            attempts.close()
            return Result { try bytes() }
        }.get()
        try write(running)
        #expect(try open().crashes(of: "x").isEmpty)
    }

    @Test func findsRoomForAsManyAsThereAre() throws {
        let pictures = (0..<100).map { (batch: "x", image: $0, before: 0) }
        try die(with: pictures)
        #expect(try open().crashes(of: "x").map(\.image) == Array(0..<100))
    }

    // MARK: Files that are not as they should be

    @Test func passesOverATornRecord() throws {
        try die(with: [("x", 0, 0), ("x", 1, 0)])
        let whole = try bytes()
        for length in stride(from: 0, to: 3 * CrashRecord.length, by: 37) {
            try write(Array(whole[..<length]))
            let count = max(0, length / CrashRecord.length - 1)
            #expect(try open().crashes(of: "x").count == count)
        }
    }

    @Test func passesOverGarbage() throws {
        var random = SplitMix64(seed: 4)
        for length in [1, 511, 512, 513, 5000, 3 << 20] {
            let garbage = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            try write(garbage)
            let attempts = try open()
            #expect(attempts.crashes(of: "x").isEmpty)
            #expect(try attempts.record(batch: "x", image: 0, before: 0) { $0 } == 1)
        }
    }

    /// Single bytes of a record changed: another batch perhaps, but never a crash of this program.
    @Test func survivesEveryChangedByte() throws {
        try die(with: [("x", 0, 0)])
        let whole = try bytes()
        for place in 0..<2 * CrashRecord.length {
            for value: UInt8 in [0, 10, 32, 48, 255] {
                var changed = whole
                changed[place] = value
                try write(changed)
                #expect(try open().crashes(of: "x").count <= 1)
            }
        }
    }

    @Test(arguments: [
        "x", "with spaces in it ", "Grüße 🌄", "-", String(repeating: "é", count: 100) + "-12",
    ])
    func recordsAnyID(id: String) throws {
        let record = CrashRecord(boot: "b", batch: id, image: 7, before: 1, begun: 12)
        #expect(record.bytes.count == CrashRecord.length)
        #expect(CrashRecord(record.bytes) == record)
    }

    /// One is added to the number, which may be what someone has written there.
    @Test(arguments: [
        (0, true), (1 << 30, true), (1 << 30 + 1, false), (Int.max, false), (-1, false),
    ])
    func readsOnlyNumbersThatCanBe(before: Int, isRead: Bool) {
        let record = CrashRecord(boot: "b", batch: "x", image: 7, before: before, begun: 12)
        #expect((CrashRecord(record.bytes) != nil) == isRead)
    }

    /// No ID is so long; were one, its record would name no batch rather than another one.
    @Test func cutsAnIDThatIsTooLong() throws {
        let id = String(repeating: "a", count: 600)
        let record = CrashRecord(boot: "b", batch: id, image: 7, before: 1, begun: 12)
        #expect(record.bytes.count == CrashRecord.length)
        let read = try #require(CrashRecord(record.bytes))
        #expect(read.batch != id && id.hasPrefix(read.batch))
    }

    @Test func leavesOutGroupsThatDoNotFit() {
        let long = "/" + String(repeating: "a", count: 600)
        let record = ProcessRecord(boot: "b", outOfMemoryKills: [long: 1, "/b": 2])
        #expect(record.bytes.count == CrashRecord.length)
        #expect(ProcessRecord(record.bytes)?.outOfMemoryKills == ["/b": 2])
    }
}

struct CrashesTests {
    private func crashes(of victim: CrashVictim = .daemon, _ causes: [CrashCause]) -> Crashes {
        var crashes = Crashes(of: victim)
        for (index, cause) in causes.enumerated() { crashes.add(cause, number: index + 1) }
        return crashes
    }

    @Test(
        arguments: [
            ([], false), ([.signal("SIGSEGV")], false), ([.signal("SIGSEGV"), .watchdog], true),
            ([.outOfMemory, .killed, .outOfMemory], true),
            ([.killed, .killed, .killed, .killed], false),
            ([.killed, .killed, .killed, .killed, .watchdog], false),
            ([.killed, .killed, .killed, .killed, .killed], true),
        ] as [([CrashCause], Bool)])
    func convictsOnEvidenceOrAfterManyKills(causes: [CrashCause], shouldQuarantine: Bool) {
        let crashes = crashes(causes)
        #expect(crashes.shouldQuarantine == shouldQuarantine)
        #expect(crashes.all == causes && crashes.last == causes.count)
    }

    /// Whoever kills a run again and again is not the picture.
    @Test(
        arguments: [
            ([.signal("SIGSEGV")], nil),
            ([.signal("SIGSEGV"), .killed, .signal("SIGBUS")], "2 times (SIGSEGV, SIGBUS)"),
            ([CrashCause](repeating: .killed, count: 200), nil),
            ([CrashCause](repeating: .watchdog, count: 9), nil),
            ([CrashCause](repeating: .outOfMemory, count: 4) + [.signal("SIGSEGV"), .killed], nil),
            (
                [CrashCause](repeating: .outOfMemory, count: 5) + [.killed],
                "5 times (out-of-memory, out-of-memory, out-of-memory, out-of-memory, out-of-memory)"
            ),
        ] as [([CrashCause], String?)])
    func aRunIsEndedByOthers(causes: [CrashCause], reason: String?) {
        let crashes = crashes(of: .run, causes)
        #expect(crashes.shouldQuarantine == (reason != nil))
        guard let reason else { return }
        #expect(
            crashes.failure(of: "moon").message
                == "moon: filtering it ended darkroom run \(reason), so it is quarantined")
    }

    @Test func countsACrashThatIsRecordedTwiceOnce() {
        var crashes = Crashes(of: .daemon)
        for _ in 0..<9 { crashes.add(.signal("SIGBUS"), number: 1) }
        #expect(!crashes.shouldQuarantine && crashes.all.count == 1)
    }

    @Test func saysWhatItIsSetAsideFor() {
        let failure = crashes([.signal("SIGSEGV"), .watchdog]).failure(of: "moon")
        #expect(failure.code == "quarantined" && !failure.isTransient)
        #expect(
            failure.message
                == "moon: filtering it ended the daemon 2 times (SIGSEGV, watchdog), so it is quarantined"
        )
    }
}
