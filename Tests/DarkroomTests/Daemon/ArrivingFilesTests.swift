import Glibc
import TestPictures
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomDaemon

/// When a file is complete, and which files share a batch: each cell of the tables of `ArrivingFiles`, and random
/// sequences of events.
struct ArrivingFilesTests {
    private typealias Files = ArrivingFiles<FileName>
    private typealias Stage = Files.Stage

    private static let second: UInt64 = 1_000_000_000
    private static let silence = 60 * second
    private static let settle = second
    private static let within = 2 * second

    private static func files(
        _ writers: Files.Writers = .all(silence: silence), open: Int = 100, capacity: Int = .max
    ) -> Files {
        Files(writers: writers, openCapacity: open, capacity: capacity)
    }

    private static func file(_ time: Int) -> FileIdentity {
        var information = stat()
        information.st_size = 1
        information.st_mtim.tv_sec = time
        return FileIdentity(information)
    }

    // MARK: Every cell

    private enum Event: String, CaseIterable {
        case made, written, closed, waitedFull, waitedEmpty, seenWhole, seenPart, judged, gone
        case givenBack

        var event: Files.Event {
            switch self {
            case .made: .made
            case .written: .written
            case .closed: .closed
            case .waitedFull: .waited(hasContent: true)
            case .waitedEmpty: .waited(hasContent: false)
            case .seenWhole: .seen(file(1), isWhole: true)
            case .seenPart: .seen(file(1), isWhole: false)
            case .judged: .judged
            case .gone: .gone
            case .givenBack: .givenBack
            }
        }
    }

    /// Where each event leads from each stage (nil: nothing is known). What is not listed changes nothing.
    private static let table: [Event: [Stage?: Stage?]] = [
        .made: [
            nil: .appeared, .written: .appeared, .settling: .appeared, .ready: .appeared,
        ],
        .written: [nil: .written, .appeared: .written, .settling: .written, .ready: .written],
        .closed: [.appeared: nil, .written: nil],
        .waitedFull: [.appeared: nil],
        .waitedEmpty: [.appeared: .written],
        .seenWhole: [nil: .ready, .appeared: .ready, .settling: .ready],
        .seenPart: [nil: .settling, .appeared: .settling],
        .judged: [.settling: nil, .ready: nil],
        .gone: [
            .appeared: nil, .written: nil, .settling: nil,
            .ready: nil,
        ],
        .givenBack: [
            nil: .ready, .appeared: .ready, .written: .ready, .settling: .ready,
        ],
    ]

    /// A value with the file "a" in a stage.
    private static func bring(to stage: Stage?, _ writers: Files.Writers) -> Files {
        var files = files(writers)
        switch stage {
        case .appeared: files.move("a", .made, now: 0)
        case .written:
            files.move("a", .made, now: 0)
            files.move("a", .written, now: 0)
        case .settling: files.move("a", .seen(file(0), isWhole: false), now: 0)
        case .ready: files.move("a", .seen(file(0), isWhole: true), now: 0)
        case nil: break
        }
        return files
    }

    @Test(arguments: [nil] + Stage.allCases.map(Optional.some), Event.allCases)
    private func everyCell(from: Stage?, event: Event) {
        var files = Self.bring(to: from, .all(silence: Self.silence))
        #expect(files.stage(of: "a") == from)
        files.move("a", event.event, now: 1)
        #expect(files.stage(of: "a") == Self.table[event]?[from] ?? from)
    }

    /// The intake decides itself how long it waits for a writer, and about writers of files that were closed before.
    @Test(arguments: [nil] + Stage.allCases.map(Optional.some), Event.allCases)
    private func everyCellOfNewFiles(from: Stage?, event: Event) {
        var files = Self.bring(to: from, .ofNewFiles)
        files.move("a", event.event, now: 1)
        let expected: Stage? =
            switch (event, from) {
            case (.written, nil), (.written, .settling), (.written, .ready): from
            case (.seenWhole, .written): .ready
            case (.seenPart, .written): .settling
            default: Self.table[event]?[from] ?? from
            }
        #expect(files.stage(of: "a") == expected)
    }

    // MARK: Random sequences

    /// Whatever happens in whatever order: the limits hold, what is due is not forgotten, and once the folder is quiet,
    /// each file in it is taken once.
    @Test(arguments: 1...60)
    func randomSequences(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var files = Self.files(
            open: Int.random(in: 2...6, using: &random),
            capacity: Int.random(in: 2...6, using: &random))
        let names = "abcdefgh".map { FileName(String($0)) }
        var now: UInt64 = 0
        for _ in 0..<400 {
            now += UInt64.random(in: 0...Self.second, using: &random)
            let name = names.randomElement(using: &random) ?? "a"
            let event = Event.allCases.randomElement(using: &random) ?? .made
            if event != .givenBack { files.move(name, event.event, now: now) }
            if Int.random(in: 0..<20, using: &random) == 0 { files.eventsLost() }
            if Int.random(in: 0..<20, using: &random) == 0 { files.keep(Set(names.prefix(4))) }
            if let batch = files.takeBatch(most: 3, within: Self.within, now: now) {
                #expect(!batch.isEmpty && batch.count <= 3 && batch == batch.sorted())
                #expect(batch.allSatisfy { files.stage(of: $0) == nil })
            }
            check(files, now)
        }
        // It is quiet: everything in the folder is looked at when it is due, and by a listing what was left.
        var taken: [FileName] = []
        var rest = Set(names)
        for _ in 0..<200 where !rest.isEmpty {
            now += 30 * Self.second
            files.forgetLeft()
            for name in rest {
                files.move(name, .waited(hasContent: true), now: now)
                let isWhole = files.hasSettled(
                    name, Self.file(7), settle: Self.settle, now: now)
                files.move(name, .seen(Self.file(7), isWhole: isWhole), now: now)
            }
            check(files, now)
            while let batch = files.takeBatch(most: 3, within: Self.within, now: now) {
                taken += batch
                rest.subtract(batch)
            }
        }
        #expect(taken.sorted() == names)
        #expect(files.stages.isEmpty)
        #expect(files.nextLook(settle: Self.settle) == nil)
        #expect(files.nextBatch(most: 3, within: Self.within, now: now) == nil)
    }

    private func check(_ files: Files, _ now: UInt64) {
        let stages = files.stages
        let open = stages.values.count { $0 == .appeared || $0 == .written }
        #expect(open <= files.openCapacity && stages.count - open <= files.capacity)
        let due = files.toBeLookedAt(settle: Self.settle, now: now)
        #expect(due.allSatisfy { stages[$0] != nil && stages[$0] != .ready })
        let next = files.nextLook(settle: Self.settle)
        #expect(due.isEmpty == (next.map { $0 > now } ?? true))
        #expect((next == nil) == stages.values.allSatisfy { $0 == .ready })
    }

    // MARK: New files

    @Test func whatNobodyWritesToWasLinked() {
        var files = Self.files(.ofNewFiles)
        for (index, name) in (["linked", "written", "other"] as [FileName]).enumerated() {
            files.move(name, .made, now: UInt64(index))
        }
        files.move("written", .written, now: 3)
        files.move("unknown", .written, now: 3)
        #expect(files.stage(of: "unknown") == nil)
        let moment = Files.moment
        #expect(files.nextLook(settle: Self.settle) == moment)
        #expect(files.toBeLookedAt(settle: Self.settle, now: moment - 1) == [])
        #expect(files.toBeLookedAt(settle: Self.settle, now: moment) == ["linked"])
        #expect(files.toBeLookedAt(settle: Self.settle, now: moment + 9) == ["linked", "other"])
        // The writer's closing is waited for, however long that takes.
        files.move("linked", .gone, now: moment)
        files.move("other", .gone, now: moment)
        #expect(files.nextLook(settle: Self.settle) == nil && files.isOpen("written"))
    }

    /// A name that is taken away and linked again begins anew.
    @Test func beginsAnew() {
        var files = Self.bring(to: .written, .ofNewFiles)
        files.move("a", .made, now: 7)
        #expect(files.nextLook(settle: Self.settle) == Files.moment + 7)
        files.keep([])
        #expect(files.stage(of: "a") == nil)
    }

    /// The closings may be among the lost events.
    @Test func writersAreForgottenWithTheEvents() {
        var files = Self.files()
        files.move("made", .made, now: 1)
        files.move("written", .written, now: 1)
        files.move("part", .seen(Self.file(1), isWhole: false), now: 1)
        files.move("whole", .seen(Self.file(1), isWhole: true), now: 1)
        files.eventsLost()
        #expect(files.stages == ["part": .settling, "whole": .ready])
    }

    /// Not every change has a closing. Without events for long, the file is observed like others.
    @Test func aSilentWriterIsNotWaitedForWithoutEnd() {
        var files = Self.files()
        files.move("a", .written, now: 10)
        // The last event counts.
        files.move("a", .written, now: 20)
        let end = 20 + Self.silence
        files.move("a", .seen(Self.file(1), isWhole: true), now: end - 1)
        #expect(files.stage(of: "a") == .written)
        #expect(files.nextLook(settle: Self.settle) == end)
        #expect(files.toBeLookedAt(settle: Self.settle, now: end) == ["a"])
        files.move("a", .seen(Self.file(1), isWhole: false), now: end)
        #expect(files.stage(of: "a") == .settling)
    }

    @Test func eventsTellOfWriters() {
        var files = Self.files(.ofNewFiles)
        for name in ["a", "b", "c", "d", "e"] as [FileName] { files.move(name, .made, now: 0) }
        let events: [FolderEvent<FileName>] = [
            .closed("a"), .moved("b"), .changed("c"), .written("d"), .gone("e"), .written("f"),
            .made("g"), .folder("h"),
        ]
        for event in events { files.note(event, now: 1) }
        #expect(files.stages == ["c": .appeared, "d": .written])
        files.keep(["c", "e"])
        #expect(files.stages == ["c": .appeared])
        files.note(.overflow, now: 2)
        #expect(files.stages.isEmpty)
    }

    // MARK: Settling

    @Test func aChangedFileBeginsToSettleAgain() {
        var files = Self.files()
        let second = Self.second
        files.move("a", .seen(Self.file(1), isWhole: false), now: 10 * second)
        #expect(!files.hasSettled("a", Self.file(1), settle: second, now: 11 * second - 1))
        #expect(files.hasSettled("a", Self.file(1), settle: second, now: 11 * second))
        #expect(!files.hasSettled("a", Self.file(2), settle: second, now: 11 * second))
        #expect(!files.hasSettled("b", Self.file(1), settle: second, now: 11 * second))
        files.move("a", .seen(Self.file(2), isWhole: false), now: 11 * second)
        #expect(files.nextLook(settle: second) == 12 * second)
        // If it is the same, its time goes on.
        files.move("a", .seen(Self.file(2), isWhole: false), now: 11 * second + 5)
        #expect(files.nextLook(settle: second) == 12 * second)
        #expect(files.nextLook(settle: second) { $0 == "a" } == nil)
        #expect(files.toBeLookedAt(settle: second, now: 12 * second) == ["a"])
    }

    // MARK: Batches

    private static func ready(_ names: [(FileName, UInt64)]) -> Files {
        var files = files()
        for (name, time) in names {
            files.move(name, .seen(file(1), isWhole: true), now: time * second)
        }
        return files
    }

    private func batch(_ files: inout Files, most: Int = 10, at time: UInt64) -> [FileName]? {
        files.takeBatch(most: most, within: Self.within, now: time * Self.second)
    }

    @Test func aBatchWaitsForOthers() {
        var files = Self.ready([("b", 10), ("a", 11)])
        #expect(
            files.nextBatch(most: 10, within: Self.within, now: 0) == 12 * Self.second)
        var found = batch(&files, at: 11)
        #expect(found == nil)
        found = batch(&files, at: 12)
        #expect(found == ["a", "b"])
        found = batch(&files, at: 20)
        #expect(found == nil && files.stages.isEmpty)
    }

    @Test func aFullBatchDoesNotWait() {
        var files = Self.ready([("c", 10), ("a", 10), ("b", 10)])
        #expect(files.nextBatch(most: 2, within: Self.within, now: 3) == 3)
        var found = batch(&files, most: 2, at: 10)
        #expect(found == ["a", "b"])
        found = batch(&files, most: 2, at: 10)
        #expect(found == nil)
        found = batch(&files, most: 2, at: 12)
        #expect(found == ["c"])
    }

    /// New files with small names do not keep an older one waiting.
    @Test func thoseThatWaitLongestAreTakenFirst() {
        var files = Self.ready([("zzz", 10), ("002", 11), ("001", 11), ("000", 11)])
        var found = batch(&files, most: 2, at: 11)
        #expect(found == ["000", "zzz"])
        found = batch(&files, most: 2, at: 11)
        #expect(found == ["001", "002"])
    }

    @Test func whatIsGivenBackComesAgain() {
        var files = Self.files()
        files.move("a", .givenBack, now: 5 * Self.second)
        var found = batch(&files, at: 6)
        #expect(found == nil)
        found = batch(&files, at: 7)
        #expect(found == ["a"])
    }

    @Test func namesBeyondTheCapacityStayInTheFolder() {
        var files = Self.files(open: 1, capacity: 2)
        for name in ["a", "b"] as [FileName] {
            files.move(name, .seen(Self.file(1), isWhole: name == "a"), now: 1)
        }
        #expect(!files.hasLeft)
        files.move("more", .seen(Self.file(1), isWhole: true), now: 1)
        #expect(files.hasLeft && files.stage(of: "more") == nil)
        // What is here may go on, and what was taken before may come back.
        files.move("b", .seen(Self.file(1), isWhole: true), now: 1)
        #expect(files.stage(of: "b") == .ready)
        files.move("more", .givenBack, now: 1)
        #expect(files.stages.count == 3)
        files.forgetLeft()
        #expect(!files.hasLeft)
        files.move("open", .made, now: 1)
        files.move("other", .written, now: 1)
        #expect(files.isOpen("open") && files.stage(of: "other") == nil)
    }
}

struct AgendaTests {
    @Test func aTaskHasOneTime() {
        var agenda = Agenda<String>()
        let plans = [("a", 5), ("a", 7), ("b", 7), ("a", 3)].map {
            agenda.plan($0.0, at: UInt64($0.1))
        }
        #expect(plans == [true, false, true, true])
        let taken = [("b", 3), ("a", 3), ("a", 5), ("b", 7)].map {
            agenda.take($0.0, at: UInt64($0.1))
        }
        #expect(taken == [false, true, false, true])
        let again = agenda.plan("a", at: 9)
        #expect(again)
    }
}

struct RefusedFilesTests {
    private typealias Refused = RefusedFiles<FileName, HotRefusal>

    @Test func aReasonIsToldOnce() {
        var files = Refused()
        func tell(_ reason: HotFileReason, _ message: String) -> Refused.Telling {
            files.refuse("a", HotRefusal(reason: reason, message: message), now: 1)
        }
        let tellings = [tell(.unreadable, "x"), tell(.unreadable, "y"), tell(.folder, "z")]
        #expect(tellings == [.yes, .no, .yes])
        #expect(files["a"]?.message == "z")
        files["a"] = nil
        let again = tell(.folder, "z")
        #expect(again == .yes)
        files.keep { name, _ in name != "a" }
        #expect(files.all.isEmpty)
    }

    @Test func ofManyASumIsTold() {
        var files = Refused()
        let why = HotRefusal(reason: .unreadable, message: "")
        let tellings = (0..<(NoticeLimit.limit + 3)).map {
            files.refuse(FileName("\($0)"), why, now: 1)
        }
        #expect(tellings.count { $0 == .yes } == NoticeLimit.limit)
        #expect(tellings.suffix(3) == [.sumLater, .no, .no])
        let sum = files.takeWithheld()
        #expect(sum == 3)
    }
}
