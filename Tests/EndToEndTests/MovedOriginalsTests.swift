import DarkroomAnswer
import DarkroomCore
import Foundation
import Glibc
import TestSupport
import Testing

/// Originals of a hot folder that move into another folder (`originals: {move: FOLDER}`).
@Suite(.fewAtATime) struct MovedOriginalsTests {
    private static func fixture(
        ifExists: String? = nil, options: String = ", within: 200ms"
    ) throws -> HotFolderFixture {
        let rest = ifExists.map { ", ifExists: \($0)" } ?? ""
        return try HotFolderFixture(originals: "{move: DONE\(rest)}", options: options)
    }

    private static func list(_ folder: String) -> [String] {
        ((try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    private static func content(_ path: String) -> Data? {
        FileManager.default.contents(atPath: path)
    }

    @Test func movesEachOriginal() async throws {
        let fixture = try Self.fixture()
        try fixture.put("a.png", 1)
        try fixture.put("sub/deep/b é.png", 2)
        let time = timespec(tv_sec: 1_000_000_000, tv_nsec: 0)
        #expect(utimensat(AT_FDCWD, fixture.path("a.png"), [time, time], 0) == 0)
        try fixture.put("broken.png", Data("no picture".utf8))
        let daemon = try await fixture.run()
        let answers = try await fixture.expectAnswers(
            ["a.png", "broken.png", "sub-deep-b é.png"], daemon)
        #expect(answers.map(\.state) == [.filtered, .failed, .filtered])
        #expect(
            answers.map(\.image.originalAt)
                == ["\(fixture.done)/a.png", nil, "\(fixture.done)/sub/deep/b é.png"])
        #expect(Self.content("\(fixture.done)/a.png") == HotFolderFixture.picture(1))
        #expect(Self.content("\(fixture.done)/sub/deep/b é.png") == HotFolderFixture.picture(2))
        var information = stat()
        #expect(stat("\(fixture.done)/a.png", &information) == 0)
        #expect(information.st_mtim.tv_sec == 1_000_000_000)
        // The original of a picture that has failed stays, as with `move`.
        #expect(fixture.left == ["broken.png", "sub", "sub/deep"])
        try await fixture.waitForNoRecords(daemon)
        let report = try await fixture.waitForReport(daemon, "the rule") { $0.originalsTo != nil }
        #expect(report.originals == .move && report.originalsTo == fixture.done)
        // Whoever puts one back under the same name gets another answer.
        try fixture.put("a.png", 3)
        let all = try await fixture.expectAnswers(
            ["a.png", "a.png", "broken.png", "sub-deep-b é.png"], daemon)
        #expect(
            Set(all.compactMap(\.image.originalAt?.value))
                == Set(["a.png", "a-2.png", "sub/deep/b é.png"].map { "\(fixture.done)/\($0)" }))
        #expect(try await daemon.stop() == .exited(0))
    }

    struct Taken: Sendable {
        let ifExists: String?
        var isFolder = false
        /// The name that the original gets; nil if it stays.
        let name: String?
    }

    @Test(arguments: [
        Taken(ifExists: nil, name: "a-3.png"), Taken(ifExists: "number", name: "a-3.png"),
        Taken(ifExists: "replace", name: "a.png"), Taken(ifExists: "fail", name: nil),
        Taken(ifExists: "number", isFolder: true, name: "a-3.png"),
        Taken(ifExists: "replace", isFolder: true, name: nil),
        Taken(ifExists: "fail", isFolder: true, name: nil),
    ]) func aNameIsTaken(_ taken: Taken) async throws {
        let fixture = try Self.fixture(ifExists: taken.ifExists)
        if taken.isFolder {
            try FileManager.default.makeFolder(atPath: "\(fixture.done)/a.png")
        } else {
            try Data("x".utf8).write(to: URL(filePath: "\(fixture.done)/a.png"))
        }
        try Data("y".utf8).write(to: URL(filePath: "\(fixture.done)/a-2.png"))
        try fixture.put("a.png", 1)
        let daemon = try await fixture.run()
        let answers = try await fixture.expectAnswers(["a.png"], daemon)
        let image = answers[0].image
        #expect(image.state == .filtered)
        #expect(image.originalAt == taken.name.map { "\(fixture.done)/\($0)" })
        let names: Set<String> = ["a.png", "a-2.png", taken.name ?? "a.png"]
        #expect(Self.list(fixture.done) == names.sorted())
        if let name = taken.name {
            #expect(Self.content("\(fixture.done)/\(name)") == HotFolderFixture.picture(1))
            #expect(fixture.left == [] && image.warnings == nil)
        } else {
            #expect(fixture.left == ["a.png"])
            #expect(image.warnings?.first?.hasPrefix("its original stays: ") == true)
            let status = try fixture.spool.status(of: answers[0].id)
            #expect(status?.counts.warned == 1)
        }
        try await fixture.waitForNoRecords(daemon)
        // It is not taken again.
        try fixture.put("last.png", 2)
        try await fixture.expectAnswers(["a.png", "last.png"], daemon)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// So that there are many batches.
    private static let small = ", within: 0s, batch: 1"

    static let renaming: [FaultPoint] = [
        .hotOriginalHidden, .placePromised, .placeRenamed, .placeSynced, .publishJournalTorn,
        .publishJournalSynced, .finalStatusMoved, .activeRemoved, .hotForgotten,
    ]

    /// At each step, twice: one file of each original, also if somebody takes it away at once.
    @Test(arguments: renaming, ["number", "fail"])
    func aKillMovesOnce(point: FaultPoint, ifExists: String) async throws {
        let fixture = try Self.fixture(ifExists: ifExists, options: Self.small)
        try await kills(at: point, fixture, takesAway: true)
    }

    static let copying: [FaultPoint] =
        [.placeCopied, .hotOriginalRemoved] + renaming.filter { $0 != .publishJournalTorn }

    @Test(
        .enabled(if: SmallDisk.isAvailable, "only root can mount another file system"),
        arguments: copying, ["number", "fail"])
    func aKillMovesOnceToAnotherFileSystem(point: FaultPoint, ifExists: String) async throws {
        let disk = try SmallDisk(kilobytes: 4096)
        let fixture = try Self.fixture(ifExists: ifExists, options: Self.small)
        #expect(mount(disk.root.path, fixture.done, nil, UInt(MS_BIND), nil) == 0)
        defer { umount2(fixture.done, CInt(MNT_DETACH)) }
        try await kills(at: point, fixture, takesAway: false)
    }

    /// - Parameter takesAway: whether somebody takes each file away when it is there. A copy that is taken away before
    ///   the journal has it comes twice.
    private func kills(
        at point: FaultPoint, _ fixture: HotFolderFixture, takesAway: Bool
    ) async throws {
        var seeds = Array(0..<5)
        for seed in seeds { try fixture.put("sub/\(seed).png", seed) }
        var taken: [String: Data] = [:]
        func takeAway() throws {
            for path in Self.list(fixture.done)
            where path.hasSuffix(".png") && !path.contains("/.") {
                #expect(taken[path] == nil, "\(path) comes twice")
                taken[path] = Self.content("\(fixture.done)/\(path)")
                try FileManager.default.removeItem(atPath: "\(fixture.done)/\(path)")
            }
        }
        for passing in 1...2 {
            // All others may have had their promises written together with the first.
            if passing == 2 {
                for seed in 5..<7 { try fixture.put("sub/\(seed).png", seed) }
                seeds += 5..<7
            }
            try await fixture.die(at: "\(point.rawValue):\(passing)")
            // Each original is there, or in its new place.
            let there = Set(
                (Self.list(fixture.folder).map { "\(fixture.folder)/\($0)" }
                    + Self.list(fixture.done).map { "\(fixture.done)/\($0)" })
                    .compactMap(Self.content) + Array(taken.values))
            #expect(there.isSuperset(of: seeds.map(HotFolderFixture.picture)))
            if takesAway { try takeAway() }
        }
        let daemon = try await fixture.run()
        let expected = Dictionary(
            uniqueKeysWithValues: seeds.map {
                ("sub/\($0).png", HotFolderFixture.picture($0))
            })
        let answers = try await fixture.expectAnswers(
            expected.keys.map { $0.replacing("/", with: "-") }, daemon)
        try await fixture.waitForNoRecords(daemon)
        for answer in answers {
            let path = expected.keys.first { $0.replacing("/", with: "-") == answer.source }
            #expect(answer.image.originalAt == path.map { "\(fixture.done)/\($0)" })
            // Of one that is taken away in that moment, nothing tells that it was there.
            #expect(takesAway || answer.image.warnings == nil)
        }
        #expect(fixture.left == ["sub"])
        try takeAway()
        #expect(taken == expected)
        #expect(Self.list(fixture.done) == ["sub"])
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A folder that is away keeps its batches waiting, and no others; each notice of an end comes after the move.
    @Test func aFolderIsAwayAndComesBack() async throws {
        let fixture = try Self.fixture()
        try FileManager.default.removeItem(atPath: fixture.done)
        try fixture.put("a.png", 1)
        try fixture.put("b.png", 2)
        var daemon = try await fixture.run()
        let found = try await fixture.waiting("originals", daemon)
        #expect(found.status.state == .processing && found.status.counts.filtered == 2)
        #expect(
            found.waiting.message
                == "2 originals cannot be moved: \(fixture.done): cannot open: No such file or directory"
        )
        #expect(fixture.spool.exists("outbox/\(found.id)/a.png"))
        #expect(fixture.left == ["a.png", "b.png"])
        try await daemon.says("originals of \(fixture.folder) cannot be moved there")
        // Others go on.
        try fixture.base.drop("c", images: [("c", "\(fixture.folder)/a.png")])
        _ = try await fixture.spool.finish("c", daemon)
        #expect(try await daemon.stop() == .exited(0))

        daemon = try await fixture.run()
        _ = try await fixture.waiting("originals", daemon)
        try FileManager.default.makeFolder(atPath: fixture.done)
        let status = try await fixture.spool.finish(found.id, daemon)
        #expect(status.state == .completed && status.waiting == nil)
        #expect(status.images.allSatisfy { $0.originalAt != nil && $0.attempts == 1 })
        #expect(Self.list(fixture.done) == ["a.png", "b.png"] && fixture.left == [])
        try await daemon.says("can be moved there again")
        try await fixture.waitForNoRecords(daemon)
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func theHotFolderIsAway() async throws {
        let fixture = try Self.fixture()
        try fixture.put("a.png", 1)
        try await fixture.die(at: FaultPoint.publishJournalSynced.rawValue)
        #expect(rename(fixture.folder, "\(fixture.folder)-away") == 0)
        try FileManager.default.makeFolder(atPath: fixture.folder)
        let daemon = try await fixture.run()
        let found = try await fixture.waiting("originals", daemon)
        #expect(found.waiting.message.contains("not the folder from which the pictures were taken"))
        #expect(rmdir(fixture.folder) == 0)
        #expect(rename("\(fixture.folder)-away", fixture.folder) == 0)
        _ = try await fixture.spool.finish(found.id, daemon)
        #expect(Self.list(fixture.done) == ["a.png"] && fixture.left == [])
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func aCancelEndsTheWait() async throws {
        let fixture = try Self.fixture()
        try FileManager.default.removeItem(atPath: fixture.done)
        try fixture.put("a.png", 1)
        let daemon = try await fixture.run()
        let found = try await fixture.waiting("originals", daemon)
        try fixture.spool.drop("\(found.id).cancel", "")
        let status = try await fixture.spool.finish(found.id, daemon)
        #expect(status.state == .completed && status.images[0].originalAt == nil)
        #expect(
            status.images[0].warnings == [
                "its original stays: \(fixture.done): cannot open: No such file or directory"
            ])
        try await fixture.waitForNoRecords(daemon)
        #expect(fixture.left == ["a.png"])
        try FileManager.default.makeFolder(atPath: fixture.done)
        try fixture.put("b.png", 2)
        try await fixture.expectAnswers(["a.png", "b.png"], daemon)
        #expect(Self.list(fixture.done) == ["b.png"] && fixture.left == ["a.png"])
        #expect(try await daemon.stop() == .exited(0))
    }

    /// The present configuration decides: another folder, or none.
    @Test func theConfigurationMayChange() async throws {
        let fixture = try Self.fixture()
        try FileManager.default.removeItem(atPath: fixture.done)
        try fixture.put("a.png", 1)
        var daemon = try await fixture.run()
        var found = try await fixture.waiting("originals", daemon)
        #expect(try await daemon.stop() == .exited(0))
        let other = "\(fixture.scratch.path)/delivered"
        daemon = try await fixture.run([
            "folders": fixture.setting.replacing(fixture.done, with: other)
        ])
        var status = try await fixture.spool.finish(found.id, daemon)
        #expect(status.images[0].originalAt == "\(other)/a.png")
        #expect(try await daemon.stop() == .exited(0))

        try fixture.put("b.png", 2)
        daemon = try await fixture.run()
        found = try await fixture.waiting("originals", daemon)
        #expect(try await daemon.stop() == .exited(0))
        daemon = try await fixture.run(["folders": "[{path: \(fixture.folder), recipe: small}]"])
        status = try await fixture.spool.finish(found.id, daemon)
        #expect(
            status.images[0].warnings == [
                "its original stays: the configuration does not move it any more"
            ])
        #expect(fixture.left == ["b.png"])
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A picture that gets another content while its batch is in work, and its old size and time, stays.
    @Test func anOriginalWithTheOldTimeIsNotTheOldOne() async throws {
        let fixture = try Self.fixture()
        for (seed, name) in ["a.png", "b.png"].enumerated() { try fixture.put(name, seed) }
        try fixture.pause()
        let daemon = try await fixture.run()
        try await fixture.waitForRecords(1, daemon)
        let changed = Data(HotFolderFixture.picture(0).reversed())
        try FileManager.default.exchange(contentOf: fixture.path("a.png"), with: changed)
        daemon.send(SIGUSR2)
        let answers = try await fixture.expectAnswers(["a.png", "b.png"], daemon)
        #expect(answers.map(\.image.originalAt) == [nil, "\(fixture.done)/b.png"])
        let report = try await fixture.waitForReport(daemon, "the original") {
            $0.files.map(\.reason) == [.originalKept]
        }
        #expect(
            report.files.map(\.message) == [
                "batch \(answers[0].id) has its outputs, but the original stays: "
                    + "its content is another one now"
            ])
        #expect(fixture.left == ["a.png"] && Self.list(fixture.done) == ["b.png"])
        #expect(Self.content(fixture.path("a.png")) == changed)
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
    func aFullDiskGetsSpace() async throws {
        let disk = try SmallDisk(kilobytes: 256)
        try disk.fill(butFor: 0)
        let fixture = try Self.fixture()
        #expect(mount(disk.root.path, fixture.done, nil, UInt(MS_BIND), nil) == 0)
        defer { umount2(fixture.done, CInt(MNT_DETACH)) }
        try fixture.put("a.png", 1)
        try fixture.put("b.png", 2)
        let daemon = try await fixture.run()
        let found = try await fixture.waiting("originals", daemon)
        #expect(found.waiting.message.contains("No space left on device"))
        #expect(fixture.left == ["a.png", "b.png"])
        #expect(Self.list(fixture.done) == ["filler"])
        disk.empty()
        let status = try await fixture.spool.finish(found.id, daemon)
        #expect(status.state == .completed)
        #expect(Self.list(fixture.done) == ["a.png", "b.png"] && fixture.left == [])
        #expect(try await daemon.stop() == .exited(0))
    }

    /// Two mounts of one file system, as systemd makes them: the originals are copied.
    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount"))
    func anotherMountOfTheFileSystem() async throws {
        let fixture = try Self.fixture()
        #expect(mount(fixture.done, fixture.done, nil, UInt(MS_BIND), nil) == 0)
        defer { umount2(fixture.done, CInt(MNT_DETACH)) }
        for seed in 0..<3 { try fixture.put("\(seed).png", seed) }
        let daemon = try await fixture.run()
        let names = (0..<3).map { "\($0).png" }
        let answers = try await fixture.expectAnswers(names, daemon)
        #expect(answers.map(\.image.originalAt) == names.map { "\(fixture.done)/\($0)" })
        #expect(Self.list(fixture.done) == names && fixture.left == [])
        for seed in 0..<3 {
            #expect(Self.content("\(fixture.done)/\(seed).png") == HotFolderFixture.picture(seed))
        }
        #expect(try await daemon.stop() == .exited(0))
    }

    /// Several images of a picture: it moves when all are filtered, and all say where it is.
    @Test func variantsShareTheOriginal() async throws {
        let fixture = try Self.fixture()
        try fixture.recipe(
            "filters: {resize: 8}\nvariants: [{suffix: -s}, {suffix: -l, filters: {resize: 12}}]\n")
        try fixture.put("a.png", 1)
        let daemon = try await fixture.run()
        let answers = try await fixture.expectAnswers(["a.png", "a.png"], daemon)
        #expect(answers.allSatisfy { $0.image.originalAt == "\(fixture.done)/a.png" })
        #expect(fixture.left == [])
        #expect(try await daemon.stop() == .exited(0))
    }
}
