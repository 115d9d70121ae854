import Foundation
import SystemPackage
import TestSupport

@testable import DarkroomCore
@testable import DarkroomFetch

/// A cache in a folder of its own, which remembers what it has said.
final class CacheFixture: Sendable {
    let scratch: ScratchDirectory
    let path: String
    let log: EventLog
    private let journal: RecordedJournal

    init(in folder: String? = nil) throws {
        scratch = try ScratchDirectory()
        path = "\(folder ?? scratch.path)/cache"
        journal = RecordedJournal()
        log = journal.log(from: .debug)
    }

    /// Opens the cache, as a start does, and keeps these answers. The one before must be let go of.
    func open(
        limit: Int = 1 << 20, keeping numbers: ClosedRange<Int>? = nil
    ) throws -> CacheStore<CacheRecord> {
        let store = CacheStore<CacheRecord>(try folder(), limit: limit, log: log)
        store.start()
        store.settle()
        if let numbers { for number in numbers { try self.store(number, in: store) } }
        return store
    }

    /// A program that another test starts has the former lock, too, until it has begun.
    func folder() throws -> CacheFolder {
        for _ in 0..<1000 {
            do throws(CacheFolderError) {
                return try CacheFolder(path: path, makes: true)
            } catch {
                guard error.code == "cache-locked" else { throw error }
                usleep(10_000)
            }
        }
        return try CacheFolder(path: path, makes: true)
    }

    /// The ids of the events told, of those that are no mere information.
    var troubles: [Event] { journal.records.compactMap(\.event).filter { $0 != .cacheEvicted } }

    /// A key for each number.
    static func key(_ number: Int) -> CacheKey {
        CacheKey(bytes: (0..<32).map { UInt8(truncatingIfNeeded: $0 == 0 ? number : number >> 8) })
    }

    static func record(_ number: Int = 0) -> CacheRecord {
        CacheRecord(
            url: "http://a.example/\(number)", validators: Validators(entityTag: "\"\(number)\""),
            received: 1_640_995_200, age: 0, freshness: CacheRecord.Freshness(lifetime: 60))
    }

    static func body(_ number: Int, length: Int = 1000) -> [UInt8] {
        (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }
    }

    /// Keeps an answer whose content is by its number.
    @discardableResult
    func store(_ number: Int, length: Int = 1000, in store: CacheStore<CacheRecord>) throws -> Bool
    {
        let file = try file("in")
        let body = Self.body(number, length: length)
        try file.write(body, path: "in")
        return store.store(
            Self.key(number), Self.record(number), body: file, length: length,
            crc: TransferOutput.crc(body))
    }

    /// Keeps answers in a cache that is let go of.
    func fill(_ numbers: ClosedRange<Int>) throws { _ = try open(keeping: numbers) }

    func find(_ number: Int, in store: CacheStore<CacheRecord>) -> CacheEntry<CacheRecord>? {
        store.find(Self.key(number))
    }

    /// What is copied of an answer; nil where there is none that could be.
    func copy(_ number: Int, from store: CacheStore<CacheRecord>) throws -> [UInt8]? {
        guard let entry = find(number, in: store) else { return nil }
        return try copy(entry, from: store)
    }

    func copy(_ entry: CacheEntry<CacheRecord>, from store: CacheStore<CacheRecord>) throws
        -> [UInt8]?
    {
        let file = try file("out")
        guard try store.copyBody(of: entry, to: file, path: "out") else { return nil }
        return Array(try Data(contentsOf: scratch.url.appending(path: "out")))
    }

    /// A new file.
    private func file(_ name: String) throws -> Descriptor {
        let path = scratch.url.appending(path: name).path
        unlink(path)
        return Descriptor(
            owning: try FileDescriptor.open(
                path, .readWrite, options: [.create, .exclusiveCreate],
                permissions: [.ownerReadWrite]
            ).rawValue)
    }

    /// Where an answer's file is.
    func url(_ number: Int) -> URL {
        let key = Self.key(number)
        return URL(filePath: path).appending(path: key.folder.text).appending(path: key.file.text)
    }

    func exists(_ number: Int) -> Bool { FileManager.default.fileExists(atPath: url(number).path) }

    /// Gives the file other bytes from `offset` on.
    func overwrite(_ number: Int, at offset: Int, _ bytes: [UInt8]) throws {
        let handle = try FileHandle(forUpdating: url(number))
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: Data(bytes))
        try handle.close()
    }

    /// Has it look as if it was used so many seconds ago.
    func age(_ number: Int, seconds: Double) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -seconds)],
            ofItemAtPath: url(number).path)
    }
}

extension TransferOutput {
    static func crc(_ bytes: [UInt8]) -> UInt32 {
        // Bit by bit, by the polynomial of PNG's specification, to have another one than the cache's.
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return ~crc
    }
}
