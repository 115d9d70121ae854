import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomRun
@testable import DarkroomSpool

/// What a merge proves, and what it writes.
struct ShardMergeTests {
    private static func filled(images: Int = 40, count: Int = 4) throws -> ShardFixture {
        let fixture = try ShardFixture(images: images, count: count)
        for number in (1...count).shuffled() { try fixture.run(number) }
        return fixture
    }

    @Test func aShardInWorkIsNotToRunAgain() throws {
        let fixture = try ShardFixture(images: 40, count: 4)
        for number in 1...3 { try fixture.run(number, ends: number == 1) }
        let lock = try SpoolLock.take(fixture.shardFolder(2), for: "a run")
        let report = try fixture.merge()
        #expect(report.missing.map(\.shard) == [2, 3, 4])
        #expect(report.missing.map(\.isInWork) == [true, false, false])
        #expect(report.missing[0].message.hasPrefix("it is in work; "))
        #expect(report.idle == [3, 4] && report.idleTasks == "3,4")
        // A look does not take the lock.
        #expect(throws: SpoolError.self) {
            _ = try SpoolLock.take(fixture.shardFolder(2), for: "a second run")
        }
        _ = consume lock
        #expect(try fixture.merge().idleTasks == "2-4")
    }

    // MARK: Images that several shards have

    private static func filledWithHelper() throws -> ShardFixture {
        let fixture = try ShardFixture(images: 40, count: 4, helper: true)
        for number in 1...4 { try fixture.run(number) }
        for number in 1...4 { #expect(try fixture.names(of: number).first == "logo") }
        return fixture
    }

    /// It is counted once, and is in its place.
    @Test(arguments: [false, true]) func aCopiedImageIsOne(isFailed: Bool) throws {
        let fixture = try ShardFixture(images: 40, count: 4, helper: true)
        func fail(_ image: inout ImageStatus) {
            guard isFailed, image.name == "logo" else { return }
            image.state = .failed
            image.error = Failure(code: "source-missing", message: "m")
        }
        for number in 1...4 { try fixture.run(number, change: fail) }
        let expected = try fixture.runWhole(change: fail)
        let report = try fixture.merge()
        #expect(report.missing == [] && report.faults == [])
        #expect(report.failed == (isFailed ? [1, 2, 3, 4] : []))
        var merged = try #require(try Status(in: fixture.folder()))
        merged.shards = nil
        (merged.times, merged.written) = (expected.times, expected.written)
        #expect(merged.encoded() == expected.encoded())
        #expect(merged.counts.total == 41)
    }

    /// Images of both shards were made with it.
    @Test func answersForACopiedImageMustAgree() throws {
        let fixture = try Self.filledWithHelper()
        let before = try fixture.shardFolder(3).read(BatchFile.status)
        try fixture.edit(3) { $0.images[0].sourceSHA256 = "00" }
        #expect(
            fault(try fixture.merge()) == "3 logo its source was another one in shard 1")
        try fixture.shardFolder(3).put(before, to: BatchFile.status)
        try Self.fail(["logo"], 1, fixture)
        let message = { (state: String, other: String) in
            "logo it is \(state) here, and \(other) in shard 1; run the one in which it has failed with --retry"
        }
        #expect(
            fault(try fixture.merge())
                == (2...4).map { "\($0) \(message("filtered", "failed"))" }.joined(separator: "\n"))
        try Self.fail(["logo"], 2, fixture)
        #expect(
            fault(try fixture.merge())
                == (3...4).map { "\($0) \(message("filtered", "failed"))" }.joined(separator: "\n"))
        // A shard that lacks it.
        try fixture.edit(4) { status in
            status.images.removeFirst()
            status.counts = Status.Counts(of: status.images)
        }
        #expect(try fixture.merge().faultCount > 0)
        #expect(try !Self.hasStatus(fixture))
    }

    private static func hasStatus(_ fixture: ShardFixture) throws -> Bool {
        try fixture.folder().exists(BatchFile.status)
    }

    /// Equal to that of one run, except times and the note.
    @Test(arguments: [(40, 4), (40, 1), (3, 16), (2500, 7)])
    func theWholeStatusIsThatOfOneRun(images: Int, count: Int) throws {
        let fixture = try Self.filled(images: images, count: count)
        var expected = try fixture.runWhole()
        let report = try fixture.merge()
        #expect(report.missing == [] && report.faults == [])
        var merged = try #require(try Status(in: fixture.folder()))
        #expect(merged.shards == Status.Shards(count: count))
        merged.shards = nil
        (merged.times, merged.written) = (expected.times, expected.written)
        #expect(merged == expected)
        // Byte for byte.
        #expect(merged.encoded() == expected.encoded())
        expected.images = []
        #expect(report.status?.state == expected.state)
        // The other files of the answer.
        #expect(try fixture.folder().read("manifest.json") == fixture.text)
        let progress = BatchProgress(decoding: try fixture.folder().read(BatchFile.progress))
        let status = try #require(try Status(in: fixture.folder()))
        #expect(progress?.saysTheSame(as: BatchProgress(of: status)) == true)
        #expect(try !fixture.folder(".darkroom").names().map(\.text).contains("status.new"))
    }

    @Test func timesAreThoseOfAll() throws {
        let fixture = try Self.filled()
        for number in 1...4 {
            try fixture.edit(number) {
                $0.times = .init(
                    received: "2026-01-0\(number)T00:00:00.000Z",
                    started: "2026-01-0\(5 - number)T01:00:00.000Z",
                    finished: "2026-01-0\(number)T02:00:00.000Z")
            }
        }
        #expect(
            try fixture.merge().status?.times
                == .init(
                    received: "2026-01-01T00:00:00.000Z", started: "2026-01-01T01:00:00.000Z",
                    finished: "2026-01-04T02:00:00.000Z"))
    }

    @Test func itMayBeRepeated() throws {
        let fixture = try Self.filled()
        for _ in 0..<3 { #expect(try fixture.merge().status?.state == .completed) }
        #expect(try Status(in: fixture.folder())?.images.count == 40)
    }

    @Test func failedImagesAreAnswers() throws {
        let fixture = try ShardFixture(images: 40, count: 4)
        let poor = try #require(try (1...4).first { try !fixture.names(of: $0).isEmpty })
        for number in 1...4 {
            try fixture.run(number) { image in
                guard number == poor else { return }
                image.state = .failed
                image.error = Failure(code: "source-missing", message: "m")
            }
        }
        let report = try fixture.merge()
        #expect(report.status?.state == .completedWithErrors)
        #expect(report.failed == [poor])
        #expect(report.failedTasks == "\(poor)")
    }

    @Test func versionsOfAllShardsAreKept() throws {
        let fixture = try Self.filled()
        var old = PictureVersions.present
        old.libpng = "1.2.3"
        try fixture.edit(3) { $0.versions = [old] }
        try fixture.edit(4) { $0.versions = nil }
        #expect(try fixture.merge().status?.versions == [.present, old])
    }

    // MARK: What is missing

    @Test(arguments: [nil, RunPlan.TaskArray(first: 0, step: 1), .init(first: 10, step: 5)])
    func missingShardsAreListed(array: RunPlan.TaskArray?) throws {
        let fixture = try ShardFixture(images: 400, count: 8)
        for number in [1, 2, 4, 5, 6] { try fixture.run(number, array: array) }
        try fixture.run(3, ends: false)
        let report = try fixture.merge()
        var counts = Status.Counts()
        counts.total = try fixture.names(of: 3).count
        counts.new = counts.total
        #expect(
            report.missing == [
                .init(shard: 3, reason: .unfinished(counts)), .init(shard: 7, reason: .notBegun),
                .init(shard: 8, reason: .notBegun),
            ])
        let tasks = [nil: "3,7,8", 0: "2,6,7", 10: "20,40,45"][array?.first]
        #expect(report.idleTasks == tasks)
        #expect(report.status == nil)
        #expect(try !Self.hasStatus(fixture))
    }

    @Test(arguments: [nil, []] as [[UInt8]?])
    func aMissingOutputIsListed(content: [UInt8]?) throws {
        let fixture = try Self.filled()
        let number = try #require(try (1...4).first { try fixture.names(of: $0).count > 1 })
        for name in try fixture.names(of: number).prefix(2) {
            let file = FileName("\(name).png")
            try fixture.folder().remove(file)
            if let content { try fixture.folder().write(content, to: file, durably: false) }
        }
        for quick in [false, true] {
            let report = try fixture.merge(quick: quick)
            #expect(report.missing == [.init(shard: number, reason: .outputsGone(2))])
            #expect(report.faults == [])
        }
        #expect(try !Self.hasStatus(fixture))
        #expect(try !fixture.folder(".darkroom").exists("status.new"))
        // The shard makes them again.
        if content == nil {
            try fixture.run(number)
            #expect(try fixture.merge().status?.state == .completed)
        }
    }

    /// An earlier whole status stays.
    @Test func aStatusIsNotReplacedByALesserOne() throws {
        let fixture = try Self.filled()
        _ = try fixture.merge()
        let before = try fixture.folder().read(BatchFile.status)
        try fixture.shardFolder(2).remove(BatchFile.status)
        #expect(try fixture.merge().missing.map(\.shard) == [2])
        #expect(try fixture.folder().read(BatchFile.status) == before)
    }

    /// The shard with the most images.
    private static func rich(_ fixture: ShardFixture) throws -> Int {
        let counts = try (1...fixture.count).map { (try fixture.names(of: $0).count, $0) }
        return try #require(counts.max { $0.0 < $1.0 }).1
    }

    private static func fail(_ names: [String], _ number: Int, _ fixture: ShardFixture) throws {
        try fixture.edit(number) { status in
            for index in status.images.indices where names.contains(status.images[index].name) {
                status.images[index].state = .failed
                status.images[index].output = nil
                status.images[index].error = Failure(code: "file-exists", message: "m")
            }
            status.counts = Status.Counts(of: status.images)
            status.state = .completedWithErrors
        }
    }

    /// They have failed because something about them has changed. Their outputs of that time stay, and are told.
    @Test(arguments: [true, false]) func aFailedImageLeavesItsFormerOutput(prunes: Bool) throws {
        let fixture = try Self.filled()
        #expect(try fixture.merge().status?.state == .completed)
        let number = try Self.rich(fixture)
        let names = Array(try fixture.names(of: number).prefix(2))
        try Self.fail(names, number, fixture)
        let report = try fixture.merge(prunes: prunes)
        #expect(report.faults == [] && report.lost == [] && report.gone == [])
        #expect(report.stale == names.map { "\($0).png" }.sorted())
        #expect(report.status?.counts.failed == 2)
        for name in names {
            #expect(try fixture.folder().exists(FileName("\(name).png")))
        }
        #expect(try fixture.merge(prunes: prunes).stale.count == 2)
    }

    @Test(arguments: ["status.json", "progress.json"], [true, false])
    func anAnswerInTheWayIsRefused(name: FileName, isOfARun: Bool) throws {
        let fixture = try Self.filled()
        #expect(try fixture.merge().status?.state == .completed)
        var status = try #require(try Status(in: fixture.folder()))
        (status.id, status.manifest.sha256) = ("y", "00")
        let folder = try fixture.folder()
        let progress = BatchProgress(of: status)
        for name in [BatchFile.status, BatchFile.progress] { try folder.remove(name) }
        let foreign = name == BatchFile.status ? status.encoded() : progress.encoded()
        let content = isOfARun ? foreign : [1]
        try folder.write(content, to: name, durably: false)
        #expect(throws: RunError.inTheWay("\(fixture.path)/\(name.text)")) { try fixture.merge() }
        #expect(try folder.read(name) == content)
        #expect(try !fixture.folder(".darkroom").exists("status.new"))
        try folder.remove(name)
        #expect(try fixture.merge().status?.state == .completed)
    }

    /// It was killed before the status was renamed.
    @Test func itMayBeRepeatedAfterItsProgress() throws {
        let fixture = try Self.filled()
        #expect(try fixture.merge().status?.state == .completed)
        try fixture.folder().remove(BatchFile.status)
        #expect(try fixture.merge().status?.state == .completed)
        #expect(try Self.hasStatus(fixture))
    }

    /// The outputs are gone, or others: then the new status is right, and the report tells it.
    @Test func whatFailsAnewIsTold() throws {
        let fixture = try Self.filled()
        #expect(try fixture.merge().status?.state == .completed)
        let number = try Self.rich(fixture)
        let names = Array(try fixture.names(of: number).prefix(2))
        try Self.fail(names, number, fixture)
        try fixture.folder().remove(FileName("\(names[0]).png"))
        try fixture.folder().put([1], to: FileName("\(names[1]).png"))
        let report = try fixture.merge()
        #expect(report.faults == [] && report.lost == names && report.lostCount == 2)
        #expect(report.blockedCount == 2 && report.failed == [number])
        #expect(report.blockingFiles == names.map { "\($0).png" })
        #expect(try Status(in: fixture.folder())?.counts.failed == 2)
        // Now both statuses say the same.
        let again = try fixture.merge()
        #expect(again.lost == [] && again.status?.counts.failed == 2)
    }

    // MARK: What is wrong

    private func fault(_ report: MergeReport) -> String {
        #expect(report.status == nil)
        #expect(report.missing == [])
        #expect(report.faultCount == report.faults.count)
        return report.faults.map { "\($0.shard) \($0.image ?? "-") \($0.message)" }
            .joined(separator: "\n")
    }

    @Test func aChangedOutputIsAFault() throws {
        let fixture = try Self.filled()
        let number = try #require(try (1...4).first { try !fixture.names(of: $0).isEmpty })
        let name = try fixture.names(of: number)[0]
        let file = FileName("\(name).png")
        let other = ShardFixture.content(of: "0.pnG").prefix(
            ShardFixture.content(of: file.text).count)
        var content = ShardFixture.content(of: file.text)
        content[0] ^= 1
        try fixture.folder().put(content, to: file)
        #expect(other.count > 0)
        let digest = SHA256Digest.hex(of: content).prefix(16)
        #expect(
            fault(try fixture.merge())
                == "\(number) \(name) \(name).png: it was changed: its SHA-256 is \(digest)…, not that of the status"
        )
        // Only the length is compared.
        #expect(try fixture.merge(quick: true).status?.state == .completed)
        try fixture.folder().put([1], to: file)
        let expected = ShardFixture.content(of: file.text).count
        #expect(
            fault(try fixture.merge(quick: true))
                == "\(number) \(name) \(name).png: it was changed: it has 1 byte, and the status has \(expected) bytes"
        )
    }

    /// Each image has exactly one answer.
    @Test(arguments: ["twice", "lost", "moved", "other", "renamed"])
    func otherImagesAreAFault(change: String) throws {
        let fixture = try Self.filled()
        let number = try #require(try (1...4).first { try fixture.names(of: $0).count > 2 })
        let names = try fixture.names(of: number)
        try fixture.edit(number) { status in
            switch change {
            case "twice": status.images.insert(status.images[1], at: 1)
            case "lost": status.images.remove(at: 1)
            case "moved": status.images.swapAt(0, 1)
            case "other": status.images[1].name = "nobody"
            default: status.images[1].output?.file = "\(names[0]).png"
            }
            status.counts = Status.Counts(of: status.images)
        }
        let message = fault(try fixture.merge())
        switch change {
        // The sums show it before the images are read.
        case "twice": #expect(message == "0 - the shards have 41 images, and the manifest has 40")
        case "lost": #expect(message == "0 - the shards have 39 images, and the manifest has 40")
        case "moved":
            #expect(
                message
                    == "\(number) \(names[0]) its status has the image \(names[1]) in this place")
        case "other":
            #expect(
                message == "\(number) \(names[1]) its status has the image nobody in this place")
        default: #expect(message == "\(number) \(names[1]) its status has another output")
        }
    }

    /// The statuses are read 1024 images at a time. Of a later piece, nothing is left to be read then.
    @Test func otherImagesInAnEarlierPieceAreAFault() throws {
        let fixture = try Self.filled(images: 1025, count: 1)
        try fixture.edit(1) { $0.images.swapAt(0, 1) }
        #expect(fault(try fixture.merge()) == "1 0 its status has the image 1 in this place")
        #expect(try !fixture.folder().exists(BatchFile.status))
    }

    /// The sums of the statuses hide it: one shard has an image too many, another too few.
    @Test func anImageInTwoShardsIsAFault() throws {
        let fixture = try Self.filled(images: 40, count: 2)
        let stranger = try #require(try fixture.names(of: 1).last)
        let image = try #require(
            try Status(in: fixture.shardFolder(1))?.images.first { $0.name == stranger })
        try fixture.edit(1) { $0.images.removeLast() }
        try fixture.edit(2) { $0.images.append(image) }
        for number in 1...2 {
            try fixture.edit(number) { $0.counts = Status.Counts(of: $0.images) }
        }
        #expect(
            fault(try fixture.merge()) == """
                1 \(stranger) its status lacks the image
                2 \(stranger) its status has the image once too often
                """)
    }

    @Test func theStatusOfAnotherRunIsAFault() throws {
        let fixture = try Self.filled()
        for (change, message) in [
            ({ $0.id = "y" }, "its status is that of another run, y"),
            ({ $0.manifest.sha256 = "00" }, "its status is that of another manifest"),
            ({ $0.shards?.number = 3 }, "its status is that of another shard"),
            ({ $0.shards = nil }, "its status is that of another shard"),
        ] as [((inout Status) -> Void, String)] {
            let before = try fixture.shardFolder(2).read(BatchFile.status)
            try fixture.edit(2, change)
            #expect(fault(try fixture.merge()) == "2 - \(message)")
            try fixture.shardFolder(2).put(before, to: BatchFile.status)
        }
        #expect(try fixture.merge().status != nil)
    }

    @Test(arguments: [
        ("", StatusDefect.unknown), ("{", StatusDefect.unknown),
        ("{}", "schemaVersion: it is missing"),
        ("{\n  \"images\" : [\n  ],\n  \"manifest\" : {\n", StatusDefect.unknown),
    ])
    func whatIsNoStatusIsAFault(text: String, reason: String) throws {
        let fixture = try Self.filled()
        try fixture.shardFolder(2).put(Array(text.utf8), to: BatchFile.status)
        #expect(
            fault(try fixture.merge())
                == "2 - its status.json: \(reason)")
    }

    @Test func aChangedManifestIsRefused() throws {
        let fixture = try Self.filled()
        try fixture.folder(".darkroom").put(
            Array(#"{"images": ["1.png"]}"#.utf8), to: "manifest.json")
        let path = "\(fixture.path)/.darkroom/manifest.json"
        #expect(throws: RunError.copyChanged(path)) { try fixture.merge() }
        try fixture.folder(".darkroom").remove("manifest.json")
        #expect(
            throws: RunError.unusable(
                folder: fixture.path,
                reason: "\(path) is gone; run any shard again, which writes it")
        ) { try fixture.merge() }
    }

    /// The copy beside the outputs is the user's.
    @Test func aManifestInTheWayIsRefused() throws {
        let fixture = try Self.filled()
        let path = "\(fixture.path)/manifest.json"
        try fixture.folder().write([1], to: "manifest.json", durably: false)
        #expect(throws: RunError.inTheWay(path)) { try fixture.merge() }
        try fixture.folder().rename("manifest.json", to: fixture.folder(), as: "real.json")
        #expect(symlink("real.json", path) == 0)
        #expect(throws: RunError.inTheWay(path)) { try fixture.merge() }
        #expect(try !Self.hasStatus(fixture))
        try fixture.folder().remove("manifest.json")
        #expect(try fixture.merge().status != nil)
        try fixture.folder().remove("manifest.json")
        try fixture.folder().write([1], to: "manifest.json", durably: false)
        #expect(throws: RunError.copyChanged(path)) { try fixture.merge() }
        #expect(try fixture.folder().read("manifest.json") == [1])
    }

    @Test func otherFoldersAreRefused() throws {
        let fixture = try Self.filled()
        _ = try fixture.runWhole()
        #expect(throws: RunError.notDivided("\(fixture.scratch.path)/whole")) {
            try ShardMerge("\(fixture.scratch.path)/whole", readsOutputs: true)
        }
        #expect(throws: RunError.noRun(fixture.scratch.path)) {
            try ShardMerge(fixture.scratch.path, readsOutputs: true)
        }
    }

    @Test func onlyOneMergesAtATime() throws {
        let fixture = try Self.filled()
        let first = try ShardMerge(fixture.path, readsOutputs: true)
        let error = #expect(throws: RunError.self) { try fixture.merge() }
        guard case .inUse(_, let holder)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(holder.hasPrefix("darkroom merge on \(Machine.name), process \(getpid()), since "))
        withExtendedLifetime(first) {}
    }
}

/// A status that is read image by image.
struct StatusStreamTests {
    private let scratch: ScratchDirectory
    private let folder: Directory

    init() throws {
        scratch = try ScratchDirectory()
        folder = try Directory(path: scratch.path)
    }

    private func write(_ status: Status) throws {
        try folder.put(status.encoded(), to: BatchFile.status)
    }

    private static func status(_ count: Int) -> Status {
        var status = Status.full
        status.errors = nil
        status.images = (0..<count).map { index in
            var image = Status.full.images[index % 2]
            image.name = "\(index) ], \"manifest\" : {\n    }"
            return image
        }
        return status
    }

    @Test(arguments: [0, 1, 2, 3, 300], [16, 100, 4096, 1 << 20])
    func givesTheTextOfEachImage(count: Int, piece: Int) throws {
        let status = Self.status(count)
        try write(status)
        var stream = try #require(try StatusStream(in: folder, piece: piece))
        var frame = status
        frame.images = []
        #expect(stream.frame == frame)
        var texts: [String] = []
        while let text = try stream.next() { texts.append(String(decoding: text, as: UTF8.self)) }
        #expect(texts.count == count)
        let (head, tail) = frame.encodedFrame()
        let joined =
            String(decoding: head, as: UTF8.self) + texts.joined(separator: ",\n") + "\n"
            + String(decoding: tail, as: UTF8.self)
        #expect(Array(joined.utf8) == status.encoded())
    }

    /// Commands before the images, and recipes after them, may be longer than what is read first.
    @Test func findsTheBeginningAndTheEndOfTheImages() throws {
        var status = Self.status(3)
        let comment = "# " + String(repeating: "t", count: 20_000)
        let recipe = try Recipe(named: "long", text: comment + "\nfilters: mono\n")
        status.recipes = [Status.RecipeReference(recipe)]
        status.commands = (0..<16).map {
            ControlRecord(.hold, time: "\($0)", uid: 1, file: String(repeating: "f", count: 2000))
        }
        try write(status)
        var stream = try #require(try StatusStream(in: folder))
        #expect(stream.frame.commands == status.commands)
        var count = 0
        while try stream.next() != nil { count += 1 }
        #expect(count == 3)
    }

    @Test func noticesAReplacement() throws {
        try write(Self.status(300))
        var stream = try #require(try StatusStream(in: folder, piece: 4096))
        _ = try stream.next()
        try folder.remove(BatchFile.status)
        try write(Self.status(300))
        #expect(throws: StatusStreamError.changed) { while try stream.next() != nil {} }
    }

    @Test func nothingIsNil() throws {
        #expect(try StatusStream(in: folder) == nil)
    }

    /// One that a program has written anew.
    @Test func anotherFormIsForeign() throws {
        let tidied = try JSONEncoder().encode(Self.status(3))
        try folder.write(Array(tidied), to: BatchFile.status, durably: false)
        #expect(throws: StatusStreamError.foreign) { try StatusStream(in: folder) }
    }
}
