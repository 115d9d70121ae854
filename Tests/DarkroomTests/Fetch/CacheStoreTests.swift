import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import DarkroomConfiguration
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomFixtures

struct CacheStoreTests {
    private let fixture: CacheFixture

    init() throws { fixture = try CacheFixture() }

    @Test(arguments: [0, 1, 4096, 200_000])
    func givesBackWhatItWasGiven(length: Int) throws {
        let store = try fixture.open()
        #expect(fixture.find(1, in: store) == nil)
        #expect(try fixture.store(1, length: length, in: store))
        let entry = try #require(fixture.find(1, in: store))
        #expect(entry.record == CacheFixture.record(1))
        #expect(entry.length == length)
        #expect(try fixture.copy(entry, from: store) == CacheFixture.body(1, length: length))
        #expect(fixture.find(2, in: store) == nil)
        #expect(store.summary.count == 1)
        #expect(store.summary.bytes == CacheFolder.room(4096 + length))
        #expect(fixture.troubles == [])
    }

    @Test func remembersOverARestart() throws {
        try fixture.fill(1...3)
        let store = try fixture.open()
        #expect(store.summary.count == 3)
        #expect(store.summary.bytes == 3 * 8192)
        for number in 1...3 {
            #expect(try fixture.copy(number, from: store) == CacheFixture.body(number))
        }
    }

    @Test func takesTheNewerOfTwo() throws {
        let store = try fixture.open(keeping: 1...1)
        let before = try #require(fixture.find(1, in: store))
        try fixture.store(1, length: 5000, in: store)
        #expect(try fixture.copy(1, from: store) == CacheFixture.body(1, length: 5000))
        // Whoever has opened the other one still has it.
        #expect(try fixture.copy(before, from: store) == CacheFixture.body(1))
        #expect(store.summary.count == 1)
        #expect(store.summary.bytes == 12288)
    }

    @Test func noSecretIsReadableByOthers() throws {
        try fixture.fill(1...1)
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.url(1).path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    // MARK: Damage

    /// Each is discarded once it is used, which is told, and then is as if it had never been.
    @Test(arguments: [
        "flipped-body", "flipped-last", "flipped-head", "flipped-magic", "flipped-version",
        "short-body", "long-body", "short-head", "empty", "swapped", "foreign",
    ])
    func damageIsTold(kind: String) throws {
        let store = try fixture.open(keeping: 1...2)
        let file = fixture.url(1)
        switch kind {
        case "flipped-body": try fixture.overwrite(1, at: 4096 + 500, [0])
        case "flipped-last":
            try fixture.overwrite(1, at: 4096 + 999, [CacheFixture.body(1)[999] ^ 1])
        case "flipped-head": try fixture.overwrite(1, at: 100, [0])
        case "flipped-magic": try fixture.overwrite(1, at: 0, [0])
        case "flipped-version": try fixture.overwrite(1, at: 8, [2])
        case "short-body": truncate(file.path, 4096 + 999)
        case "long-body": truncate(file.path, 4096 + 1001)
        case "short-head": truncate(file.path, 100)
        case "empty": truncate(file.path, 0)
        case "swapped":
            try FileManager.default.removeItem(at: file)
            try FileManager.default.copyItem(at: fixture.url(2), to: file)
        default: try Data(CacheFixture.body(7, length: 9000)).write(to: file)
        }
        #expect(try fixture.copy(1, from: store) == nil)
        #expect(fixture.troubles == [.cacheDiscarded])
        #expect(!fixture.exists(1))
        #expect(try fixture.copy(1, from: store) == nil)
        #expect(fixture.troubles == [.cacheDiscarded])
        #expect(store.summary.count == 1)
        // Nothing of it stands in the way of another.
        try fixture.store(1, in: store)
        #expect(try fixture.copy(1, from: store) == CacheFixture.body(1))
        #expect(try fixture.copy(2, from: store) == CacheFixture.body(2))
    }

    @Test func whatIsNotItsOwnIsLeftAlone() throws {
        do { _ = try fixture.open() }
        let folder = URL(filePath: fixture.path)
        let names = ["note", "00/note", "00/\(String(repeating: "G", count: 62))", "more"]
        for name in names.dropLast() { try Data([1]).write(to: folder.appending(path: name)) }
        try FileManager.default.makeFolder(at: folder.appending(path: "more"))
        try Data([1]).write(to: folder.appending(path: "new/7"))
        let store = try fixture.open()
        #expect(store.summary.count == 0)
        for name in names {
            #expect(FileManager.default.fileExists(atPath: folder.appending(path: name).path))
        }
        // This is its own, of one who died in the middle of writing it.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/new") == [])
    }

    @Test func linksAreNotFollowed() throws {
        let store = try fixture.open(keeping: 1...1)
        let elsewhere = fixture.scratch.url.appending(path: "elsewhere")
        try FileManager.default.moveItem(at: fixture.url(1), to: elsewhere)
        #expect(symlink(elsewhere.path, fixture.url(1).path) == 0)
        #expect(fixture.find(1, in: store) == nil)
        #expect(fixture.troubles == [.cacheTroubled])
    }

    @Test func whatSomeoneRemovedIsMissed() throws {
        let store = try fixture.open(keeping: 1...1)
        try FileManager.default.removeItem(at: fixture.url(1))
        #expect(fixture.find(1, in: store) == nil)
        #expect(store.summary.count == 0)
        #expect(fixture.troubles == [])
    }

    // MARK: Confirmations

    @Test func refreshesItsRecord() throws {
        let store = try fixture.open(keeping: 1...1)
        var record = CacheFixture.record(1)
        record.received += 100
        record.freshness.requiresRevalidation = true
        store.refresh(try #require(fixture.find(1, in: store)), record)
        #expect(fixture.find(1, in: store)?.record == record)
        #expect(try fixture.copy(1, from: store) == CacheFixture.body(1))
        // One that has been replaced since is another.
        let old = try #require(fixture.find(1, in: store))
        try fixture.store(1, length: 50, in: store)
        store.refresh(old, record)
        #expect(fixture.find(1, in: store)?.record == CacheFixture.record(1))
        // And one that is gone stays so.
        store.discard(CacheFixture.key(1))
        store.refresh(old, record)
        #expect(!fixture.exists(1))
        #expect(fixture.troubles == [])
    }

    @Test func recordThatIsTooLongIsNotKept() throws {
        let store = try fixture.open(keeping: 1...1)
        var record = CacheFixture.record(1)
        record.url = ByteString(String(repeating: "ü", count: 2100))
        store.refresh(try #require(fixture.find(1, in: store)), record)
        #expect(!fixture.exists(1))
        #expect(
            CacheHead(key: CacheFixture.key(1), bodyLength: 0, bodyCRC: 0, record: record).encoded()
                == nil)
    }

    // MARK: Bounds

    @Test func letsGoOfWhatWasUsedLongestAgo() throws {
        let store = try fixture.open(limit: 10 * 8192, keeping: 1...10)
        #expect(store.summary.count == 10)
        #expect(try fixture.copy(1, from: store) != nil)
        try fixture.store(11, in: store)
        store.settle()
        #expect((1...11).filter(fixture.exists) == [1] + Array(3...11))
        #expect(store.summary.bytes == 10 * 8192)
        #expect(fixture.log.metrics.cacheEvictions.value == 1)
        #expect(fixture.log.metrics.cacheStored.value == 11)
        store.setLimit(4 * 8192)
        store.settle()
        #expect((1...11).filter(fixture.exists) == [1, 10, 11])
    }

    @Test func ordersFormerAnswersByTheirUse() throws {
        try fixture.fill(1...4)
        // The third was used in the future, that is, the clock has gone back: now.
        for (number, age) in [(1, 50.0), (2, 1000), (3, -5000), (4, 500)] {
            try fixture.age(number, seconds: age)
        }
        let store = try fixture.open(limit: 5 * 8192)
        for (number, gone) in [
            (5, []), (6, [2]), (7, [2, 4]), (8, [2, 4, 1]), (9, [2, 4, 1, 3]),
        ] {
            try fixture.store(number, in: store)
            store.settle()
            #expect((1...number).filter { !fixture.exists($0) } == gone.sorted())
        }
    }

    @Test func futureUseIsCorrected() throws {
        try fixture.fill(1...1)
        try fixture.age(1, seconds: -5000)
        _ = try fixture.open()
        var information = stat()
        #expect(stat(fixture.url(1).path, &information) == 0)
        // The clock of files may be ahead of time(2) by a tick.
        #expect(information.st_mtim.tv_sec <= time(nil) + 1)
    }

    @Test func aSmallerLimitHoldsFromTheStart() throws {
        try fixture.fill(1...10)
        #expect(try fixture.open(limit: 5 * 8192).summary.count == 4)
    }

    @Test func whatIsLargerThanAQuarterIsNotKept() throws {
        let store = try fixture.open(limit: 16 * 4096)
        #expect(try fixture.store(1, length: 3 * 4096, in: store))
        #expect(try !fixture.store(2, length: 3 * 4096 + 1, in: store))
        #expect(store.summary.count == 1)
        #expect(fixture.troubles == [])
    }

    @Test func isOffWithoutALimit() throws {
        let store = try fixture.open(keeping: 1...1)
        store.setLimit(0)
        #expect(fixture.find(1, in: store) == nil)
        #expect(try !fixture.store(2, in: store))
        store.setLimit(1 << 20)
        #expect(try fixture.copy(1, from: store) == CacheFixture.body(1))
    }

    // MARK: Folders

    @Test func oneDaemonAtATime() throws {
        let store = try fixture.open()
        let error = #expect(throws: CacheFolderError.self) {
            try CacheFolder(path: fixture.path, makes: true)
        }
        #expect(error?.code == "cache-locked")
        #expect(error?.message.contains("process \(getpid())") == true)
        #expect(store.summary.count == 0)
    }

    @Test func folderThatEveryoneMayWriteToIsRefused() throws {
        #expect(mkdir(fixture.path, 0o700) == 0)
        #expect(chmod(fixture.path, 0o777) == 0)
        #expect(throws: CacheFolderError.self) {
            try CacheFolder(path: fixture.path, makes: true)
        }
    }

    @Test func opensWhatTheConfigurationSays() throws {
        var configuration = Configuration()
        let open = { (environment: [String: String]) throws in
            try CacheStore.open(configuration, environment: environment, log: fixture.log)
        }
        #expect(try open(["CACHE_DIRECTORY": fixture.path]) == nil)
        #expect(fixture.troubles == [])
        configuration.cacheBytes = 1 << 20
        // One that is given and not there is told of; it is not ours to make.
        #expect(try open(["CACHE_DIRECTORY": fixture.path]) == nil)
        #expect(fixture.troubles == [.cacheUnused])
        configuration.cacheFolder = "\(fixture.path)/deep"
        #expect(throws: ConfigurationError.self) { _ = try open([:]) }
        configuration.cacheFolder = fixture.path
        let store = try #require(try open(["CACHE_DIRECTORY": "/nowhere"]))
        #expect(store.path == fixture.path)
        #expect(try open([:]) == nil)
        #expect(fixture.troubles == [.cacheUnused, .cacheOpened, .cacheUnused])
    }

    /// A daemon in a terminal need not hear of a folder that only a service has.
    @Test func missesNoFolderThatNobodyHasNamed() throws {
        var configuration = Configuration()
        configuration.cacheBytes = 1 << 20
        let journal = RecordedJournal()
        let open = { (environment: [String: String]) throws in
            try CacheStore.open(
                configuration, environment: environment, standardPath: fixture.path,
                log: journal.log())
        }
        #expect(try open([:]) == nil)
        #expect(try open(["CACHE_DIRECTORY": fixture.path]) == nil)
        // One that is there and cannot be used is missed.
        #expect(mkdir(fixture.path, 0o700) == 0)
        #expect(chmod(fixture.path, 0o777) == 0)
        #expect(try open([:]) == nil)
        #expect(journal.all(.cacheUnused).map(\.level) == [.debug, .notice, .notice])
    }
}

@Suite(.enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
struct CacheDiskTests {
    private let disk: SmallDisk
    private let fixture: CacheFixture

    init() throws {
        disk = try SmallDisk(kilobytes: 2048)
        fixture = try CacheFixture(in: disk.root.path)
    }

    @Test func leavesRoomForOthers() throws {
        let store = try fixture.open()
        // 5 % of 2 MiB are 102 KiB.
        try disk.fill(butFor: 200)
        #expect(try fixture.store(1, length: 80_000, in: store))
        #expect(try !fixture.store(2, length: 80_000, in: store))
        #expect(try !fixture.store(3, length: 80_000, in: store))
        #expect(fixture.troubles == [.cacheTroubled])
        #expect(try fixture.copy(1, from: store) == CacheFixture.body(1, length: 80_000))
        disk.empty()
        #expect(try fixture.store(2, length: 80_000, in: store))
    }

    @Test func folderThatTakesNothingIsReadFrom() throws {
        let store = try fixture.open(keeping: 1...1)
        try FileManager.default.removeItem(atPath: "\(fixture.path)/new")
        #expect(FileManager.default.createFile(atPath: "\(fixture.path)/new", contents: nil))
        #expect(try !fixture.store(2, in: store))
        #expect(try !fixture.store(3, in: store))
        #expect(fixture.troubles == [.cacheTroubled])
        #expect(try fixture.copy(1, from: store) == CacheFixture.body(1))
    }

    /// People clear caches with `rm -rf`.
    @Test func aClearedFolderIsFilledAgain() throws {
        let store = try fixture.open(keeping: 1...1)
        for name in try FileManager.default.contentsOfDirectory(atPath: fixture.path) {
            try FileManager.default.removeItem(atPath: "\(fixture.path)/\(name)")
        }
        #expect(try fixture.copy(1, from: store) == nil)
        #expect(try fixture.store(1, in: store) && fixture.store(2, in: store))
        #expect(try fixture.copy(2, from: store) == CacheFixture.body(2))
        #expect(fixture.troubles.isEmpty)
    }

    /// What is damaged and cannot be removed is not read again and again.
    @Test func damageThatStaysIsDistrusted() throws {
        let store = try fixture.open(keeping: 1...1)
        try fixture.overwrite(1, at: 5000, [0])
        // What is mounted cannot be unlinked.
        let path = fixture.url(1).path
        #expect(mount(path, path, nil, UInt(MS_BIND), nil) == 0)
        defer { umount2(path, CInt(MNT_DETACH)) }
        for _ in 0..<3 { #expect(try fixture.copy(1, from: store) == nil) }
        #expect(fixture.troubles == [.cacheDiscarded, .cacheTroubled])
        #expect(store.summary.count == 0)
    }
}
