import Foundation
import Glibc
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomFixtures
@testable import DarkroomPicture
@testable import DarkroomWork

/// A store of results in a folder of its own.
final class ResultFixture: Sendable {
    private let cache: CacheFixture

    init(in folder: String? = nil) throws { cache = try CacheFixture(in: folder) }

    var scratch: ScratchDirectory { cache.scratch }

    /// How often the store has said so.
    func count(_ event: Event) -> Int { cache.troubles.count { $0 == event } }

    /// Opens the store, as a start does. The one before must be let go of.
    func open(limit: Int = 1 << 20) throws -> (store: ResultStore, files: CacheStore<ResultRecord>)
    {
        let files = CacheStore<ResultRecord>(
            try cache.folder(), limit: limit, log: cache.log)
        files.start()
        files.settle()
        return (ResultStore(files), files)
    }

    static func key(_ number: Int) -> CacheKey { CacheFixture.key(number) }

    static func body(_ number: Int, _ length: Int = 1000) -> [UInt8] {
        CacheFixture.body(number, length: length)
    }

    static func report(
        _ body: [UInt8], _ libraries: [String: String]? = nil
    ) -> PictureReport {
        PictureReport(
            format: .webp, width: 3, height: 2, channels: 4, depth: 8, bytes: body.count,
            sha256: SHA256Digest.hex(of: body),
            chosen: ChosenQuality(71, similarity: 0.98, QualitySearch(maxBytes: nil, ssim: 0.98)),
            warnings: ["w"], metadata: ["Exif": "dropped"],
            libraries: libraries)
    }

    private var folder: Directory { get throws { try Directory(path: scratch.path) } }

    /// Adds a result.
    func keep(
        _ number: Int, _ length: Int = 1000, in store: ResultStore
    ) throws {
        let body = Self.body(number, length)
        try folder.write(body, to: "output", replacing: true, durably: false)
        store.keep(Self.key(number), Self.report(body), try folder.open("output"))
    }

    /// What is copied of a result, with its report; nil if it must be made, and then nothing may have been written.
    func take(
        _ number: Int, from store: ResultStore
    ) throws -> (body: [UInt8], report: PictureReport)? {
        let file = try folder.create("copy", replacing: true)
        let report = store.take(Self.key(number), to: file, path: "copy")
        let body = try folder.read("copy")
        if report == nil { #expect(body == []) }
        return report.map { (body, $0) }
    }

    func url(_ number: Int) -> URL { cache.url(number) }
}

/// Results are given back as they were kept, or not at all.
struct ResultStoreTests {
    private let fixture: ResultFixture

    init() throws { fixture = try ResultFixture() }

    @Test(arguments: [1, 4096, 200_000]) func givesBackWhatItWasGiven(length: Int) throws {
        do {
            let (store, _) = try fixture.open()
            #expect(try fixture.take(1, from: store) == nil)
            try fixture.keep(1, length, in: store)
        }
        // Also after a restart.
        let (store, _) = try fixture.open()
        let taken = try #require(try fixture.take(1, from: store))
        #expect(taken.body == ResultFixture.body(1, length))
        #expect(taken.report == ResultFixture.report(taken.body))
        #expect(try fixture.take(2, from: store) == nil)
        #expect(store.report?.count == 1)
    }

    @Test func countsWhatItDoes() throws {
        let (store, files) = try fixture.open()
        try fixture.keep(1, in: store)
        _ = try fixture.take(1, from: store)
        _ = try fixture.take(2, from: store)
        let report = try #require(store.report)
        #expect(report.count == 1 && report.bytes == 8192)
        #expect(report.hits == 1 && report.misses == 1 && report.savedBytes == 1000)
        let metrics = files.log.metrics
        #expect(metrics.resultsStored.value == 1 && metrics.resultsStoredBytes.value == 1000)
        #expect(metrics.cacheStored.value == 0)
    }

    /// Whatever becomes of its file: the picture is made, and after that kept again.
    @Test(arguments: [
        "flipped", "last", "record", "short", "head", "long", "empty", "gone", "swapped", "link",
        "fifo", "folder",
    ])
    func damageIsNoticed(kind: String) throws {
        let (store, _) = try fixture.open()
        try fixture.keep(1, in: store)
        try fixture.keep(2, in: store)
        let file = fixture.url(1)
        var bytes = try Data(contentsOf: file)
        let foreign = fixture.scratch.url.appending(path: "foreign")
        try bytes.write(to: foreign)
        switch kind {
        case "flipped": bytes[4096 + 500] ^= 1
        case "last": bytes[bytes.count - 1] ^= 1
        case "record": bytes[100] ^= 1
        case "short": bytes.removeLast()
        case "head": bytes = bytes.prefix(4000)
        case "long": bytes.append(0)
        case "empty": bytes = Data()
        case "swapped": bytes = try Data(contentsOf: fixture.url(2))
        default: break
        }
        try FileManager.default.removeItem(at: file)
        switch kind {
        case "gone": break
        case "link": try #require(symlink(foreign.path, file.path) == 0)
        case "fifo": try #require(mkfifo(file.path, 0o600) == 0)
        case "folder": try #require(mkdir(file.path, 0o700) == 0)
        default: try bytes.write(to: file)
        }
        #expect(try fixture.take(1, from: store) == nil)
        #expect(try fixture.take(1, from: store) == nil)
        try fixture.keep(1, in: store)
        // Only a folder is in the way for good.
        #expect(
            try fixture.take(1, from: store)?.body
                == (kind == "folder" ? nil : ResultFixture.body(1)))
        #expect(try fixture.take(2, from: store)?.body == ResultFixture.body(2))
        #expect(try Data(contentsOf: foreign).count == 5096)
        #expect((fixture.count(.cacheDiscarded) > 0) == !["gone", "link"].contains(kind))
    }

    /// A record that is whole and says another digest: somebody has exchanged the body and the record.
    @Test func aRecordThatIsNotOfItsBodyIsNoticed() throws {
        let (store, files) = try fixture.open()
        let folder = try Directory(path: fixture.scratch.path)
        try folder.write(ResultFixture.body(1), to: "output", durably: false)
        let other = ResultRecord(ResultFixture.report(ResultFixture.body(2)))
        #expect(
            files.store(
                ResultFixture.key(1), other, body: try folder.open("output"), length: 1000, crc: 0))
        #expect(try fixture.take(1, from: store) == nil)
        #expect(fixture.count(.cacheDiscarded) == 1)
    }

    /// The codec programs that took part, and their libraries, must be those that they were.
    @Test func anotherLibraryMakesThePicture() throws {
        let (store, _) = try fixture.open()
        let body = ResultFixture.body(1)
        let present = ["webp": try #require(CodecLibraries.present("webp"))]
        let identity = try #require(CodecLibraries.identity("webp"))
        let kinds: [([String: String]?, [String: String]?, Bool)] = [
            (nil, nil, true), (present, ["webp": identity], true),
            (present, ["webp": identity + "0"], false), (present, [:], false),
            (present, nil, false), (["none": "x"], ["none": "x"], false),
        ]
        let folder = try Directory(path: fixture.scratch.path)
        for (libraries, identities, isTaken) in kinds {
            try folder.write(body, to: "output", replacing: true, durably: false)
            var report = ResultFixture.report(body, libraries)
            report.identities = identities
            store.keep(ResultFixture.key(1), report, try folder.open("output"))
            let taken = try fixture.take(1, from: store)?.report
            #expect((taken != nil) == isTaken, "\(String(describing: identities))")
            #expect(taken?.libraries == (isTaken ? libraries : nil))
        }
    }

    @Test func letsGoOfWhatWasUsedLongestAgo() throws {
        let (store, files) = try fixture.open(limit: 10 * 8192)
        for number in 1...10 { try fixture.keep(number, in: store) }
        #expect(try fixture.take(1, from: store) != nil)
        try fixture.keep(11, in: store)
        files.settle()
        let kept = try (1...11).filter { try fixture.take($0, from: store) != nil }
        #expect(kept.contains(1) && kept.contains(11) && !kept.contains(2))
        #expect(files.log.metrics.resultEvictions.value == 11 - kept.count)
        // One that would displace many others is not kept.
        try fixture.keep(12, 20_000, in: store)
        #expect(try fixture.take(12, from: store) == nil)
        // Nothing is taken or kept while it is disabled.
        store.setLimit(0)
        #expect(try fixture.take(1, from: store) == nil)
        #expect(store.report == nil && !store.isEnabled)
    }
}

@Suite(.enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
struct ResultDiskTests {
    @Test func aFullDiskOfTheStoreKeepsNothing() throws {
        let disk = try SmallDisk(kilobytes: 2048)
        let fixture = try ResultFixture(in: disk.root.path)
        let (store, _) = try fixture.open()
        try fixture.keep(1, 50_000, in: store)
        try disk.fill(butFor: 8)
        try fixture.keep(2, 50_000, in: store)
        #expect(try fixture.take(2, from: store) == nil)
        #expect(try fixture.take(1, from: store)?.body == ResultFixture.body(1, 50_000))
        #expect(fixture.count(.cacheTroubled) == 1)
    }

    /// Then the picture is made, and that learns what the disk says.
    @Test func aFullDiskOfTheSpoolLeavesAnEmptyFile() throws {
        let fixture = try ResultFixture()
        let (store, _) = try fixture.open()
        try fixture.keep(1, 100_000, in: store)
        let disk = try SmallDisk(kilobytes: 256)
        let folder = try Directory(path: disk.root.path)
        let file = try folder.create("copy")
        try disk.fill(butFor: 40)
        #expect(store.take(ResultFixture.key(1), to: file, path: "copy") == nil)
        #expect(try folder.read("copy") == [])
        disk.empty()
        #expect(store.take(ResultFixture.key(1), to: file, path: "copy") != nil)
        #expect(try folder.read("copy") == ResultFixture.body(1, 100_000))
    }
}
