import CDarkroomDeflate
import DarkroomCore
import Dispatch
import Glibc
import Synchronization
import SystemPackage

/// The cache: responses on the disk that all manifests use, even after a restart, with a limited size. The store of
/// results (`ResultStore`) is another one, with other records.
///
/// A problem of the cache never makes an image fail: a response that cannot be read is fetched again, and one that
/// cannot be written is not kept. Bodies are copied before they are used, so a response may be removed at any time.
package final class CacheStore<Record: CachedRecord>: Sendable {
    let folder: CacheFolder
    private let state: Mutex<State>
    /// A header is replaced in place and must never be read while it is being written.
    private let heads = Mutex<Void>(())
    package let log: EventLog
    /// The queue that scans the folder and removes files.
    private let cleaning = DispatchQueue(label: "darkroom.cache", qos: .utility)
    private let stopped = Atomic(false)

    private struct State {
        var index = CacheIndex()
        /// In bytes; 0 while the cache is disabled.
        var limit: Int
        /// Responses that must not be used and could not be removed.
        var distrusted: Set<CacheKey> = []
        /// When each kind of problem was last logged, in nanoseconds.
        var lastLogged: [String: UInt64] = [:]
    }

    /// - Parameter limit: the number of bytes that all responses together may use, in blocks of 4096.
    package init(_ folder: CacheFolder, limit: Int, log: EventLog) {
        self.folder = folder
        self.log = log
        state = Mutex(State(limit: limit))
    }

    var path: String { folder.path }

    /// The number of known responses, and the space that they use.
    package var summary: (count: Int, bytes: Int) {
        state.withLock { ($0.index.count, $0.index.bytes) }
    }

    // MARK: Start and stop

    /// Scans the responses that previous daemons have left, in parallel with the work. A requested response is found
    /// without this scan.
    package func start() { cleaning.async { [self] in scan() } }

    package func stop() {
        stopped.store(true, ordering: .releasing)
        settle()
    }

    package func setLimit(_ limit: Int) {
        state.withLock { $0.limit = limit }
        if limit > 0 { makeRoom(for: 0) }
    }

    package var isEnabled: Bool { state.withLock { $0.limit > 0 } }

    private var isStopped: Bool { stopped.load(ordering: .acquiring) }

    private func scan() {
        do {
            let now = Int(time(nil))
            let found = try folder.answers(now: now) { isStopped }
            let ordered = found.sorted { $0.used > $1.used }
            state.withLock { state in
                for answer in ordered { state.index.insertOldest(answer.key, bytes: answer.bytes) }
            }
            makeRoom(for: 0)
        } catch {
            report(error)
        }
    }

    /// Waits until pending scans and removals have ended.
    func settle() { cleaning.sync {} }

    // MARK: Reading

    /// The response with this key, fresh or stale; nil if there is none.
    package func find(_ key: CacheKey) -> CacheEntry<Record>? {
        guard state.withLock({ $0.limit > 0 && !$0.distrusted.contains(key) }) else { return nil }
        do {
            guard let file = try folder.open(key) else {
                state.withLock { $0.index.remove(key) }
                return nil
            }
            return try read(key, file)
        } catch {
            report(error)
            return nil
        }
    }

    private func read(
        _ key: CacheKey, _ file: consuming Descriptor
    ) throws(FileError) -> CacheEntry<Record>? {
        let path = folder.path(of: key)
        let information = try file.information(path: path)
        guard information.isRegularFile else {
            discard(key, because: CacheDamage.kind.words)
            return nil
        }
        let block = try heads.withLock { _ throws(FileError) in
            try file.read(CacheHead<Record>.length, at: 0, path: path)
        }
        do throws(CacheDamage) {
            let head = try CacheHead<Record>(
                decoding: block, key: key, fileLength: information.length)
            return CacheEntry(head: head, file: file, inode: information.st_ino)
        } catch {
            discard(key, because: error.words)
            return nil
        }
    }

    /// Copies the body of a response to the beginning of a file, and records its use. False if the body is damaged;
    /// then the response has been removed, and a part of the body may have been written.
    ///
    /// - Throws: the error of writing to the file.
    package func copyBody(
        of entry: CacheEntry<Record>, to file: borrowing Descriptor, path: String
    ) throws(FileError) -> Bool {
        let key = entry.head.key
        do throws(CopyError) {
            guard try entry.copyBody(to: file) == entry.head.bodyCRC else {
                discard(key, because: "its body is damaged")
                return false
            }
        } catch {
            switch error {
            case .writing(let errno): throw FileError(.write, path, errno)
            case .reading(let errno):
                report(FileError(.read, folder.path(of: key), errno))
                return false
            }
        }
        used(entry)
        return true
    }

    /// Copies the body of an entry to the beginning of an empty file, by sharing its blocks if that is possible, and
    /// records its use. False if the body does not have this digest, or if anything cannot be read or written; then
    /// the file is empty again.
    package func shareBody(
        of entry: CacheEntry<Record>, sha256: String, to file: borrowing Descriptor, path: String
    ) -> Bool {
        let key = entry.head.key
        do throws(FileError) {
            let body = try entry.file.sha256(
                from: CacheHead<Record>.length, path: folder.path(of: key))
            guard body == sha256 else {
                discard(key, because: "its body is damaged")
                return false
            }
            do throws(FileError) {
                try entry.file.copy(
                    entry.length, from: CacheHead<Record>.length, to: file, at: 0, path: path)
            } catch {
                try file.truncate(to: 0, path: path)
                throw error
            }
        } catch {
            report(error)
            return false
        }
        used(entry)
        return true
    }

    private func used(_ entry: CacheEntry<Record>) {
        // If this fails, the response is only removed earlier than others.
        _ = futimens(entry.file.number, nil)
        let room = CacheFolder.room(CacheHead<Record>.length + entry.head.bodyLength)
        state.withLock { $0.index.use(entry.head.key, bytes: room) }
    }

    /// Removes a response that must not be used again.
    package func discard(_ key: CacheKey, because reason: String? = nil) {
        if let reason { log.cacheDiscarded(Record.contents, folder.path(of: key), because: reason) }
        state.withLock { $0.index.remove(key) }
        do {
            try folder.remove(key)
        } catch {
            state.withLock { state in
                // A disk that refuses writes may have many of them. If they do not fit into memory, the cache is
                // disabled.
                if state.distrusted.count < 10_000 {
                    state.distrusted.insert(key)
                } else {
                    state.limit = 0
                }
            }
            report(error)
        }
    }

    // MARK: Writing

    /// Adds a response to the cache. Returns whether it was added.
    ///
    /// - Parameters:
    ///   - body: a file that begins with the `length` bytes of the body.
    ///   - crc: the CRC-32 of the body.
    package func store(
        _ key: CacheKey, _ record: Record, body: borrowing Descriptor, length: Int, crc: UInt32
    ) -> Bool {
        let room = CacheFolder.room(CacheHead<Record>.length + length)
        let limit = state.withLock(\.limit)
        // A larger one would displace many others.
        guard room <= limit / 4 else { return false }
        let head = CacheHead(key: key, bodyLength: length, bodyCRC: crc, record: record)
        guard let block = head.encoded() else { return false }
        do throws(FileError) {
            guard try folder.hasRoom(for: room) else {
                logHourly("cache-low-space") { log.cacheHasNoRoom(Record.contents, folder.path) }
                return false
            }
            makeRoom(for: room)
            try folder.write(block, body, length: length, as: key)
        } catch {
            report(error)
            return false
        }
        state.withLock { state in
            state.index.insert(key, bytes: room)
            state.distrusted.remove(key)
        }
        log.cacheStored(Record.contents, bytes: length)
        return true
    }

    /// Updates the record of a response after a confirmation by the server.
    package func refresh(_ entry: CacheEntry<Record>, _ record: Record) {
        var head = entry.head
        head.record = record
        guard let block = head.encoded() else { return discard(head.key) }
        do throws(FileError) {
            try heads.withLock { _ throws(FileError) in
                try folder.overwrite(block, of: head.key, inode: entry.inode)
            }
        } catch  where error.errno == .noSuchFileOrDirectory {
            // It was removed to make room.
        } catch {
            report(error)
        }
    }

    /// Removes the least recently used responses until there is room.
    private func makeRoom(for bytes: Int) {
        let victims = state.withLock { state in
            state.limit > 0 ? state.index.makeRoom(for: bytes, limit: state.limit) : []
        }
        guard !victims.isEmpty else { return }
        let sum = victims.map(\.bytes).saturatingSum()
        log.cacheEvicted(Record.contents, victims.count, bytes: sum)
        cleaning.async { [self] in
            for victim in victims where !state.withLock({ $0.index.contains(victim.key) }) {
                do throws(FileError) {
                    try folder.remove(victim.key)
                } catch {
                    report(error)
                }
            }
        }
    }

    // MARK: Problems

    private func report(_ error: FileError) {
        logHourly(error.code) { log.cacheTroubled(Record.contents, error) }
    }

    private static var hour: UInt64 { 3_600_000_000_000 }

    /// Logs each kind of problem once an hour, so that a problem of every image is not logged for each one.
    private func logHourly(_ code: String, _ body: () -> Void) {
        let now = Clock.nanoseconds
        let isNews = state.withLock { state in
            if let last = state.lastLogged[code], now - last < Self.hour { return false }
            state.lastLogged[code] = now
            return true
        }
        if isNews { body() }
    }
}

/// A response that was found. Its file is open, so it can be copied even if it has been removed since.
package final class CacheEntry<Record: CachedRecord>: Sendable {
    let head: CacheHead<Record>
    let inode: ino_t
    fileprivate let file: Descriptor

    package var record: Record { head.record }
    /// The length of the body, in bytes.
    package var length: Int { head.bodyLength }

    fileprivate init(head: CacheHead<Record>, file: consuming Descriptor, inode: ino_t) {
        self.head = head
        self.file = file
        self.inode = inode
    }

    /// Copies the body and returns its CRC-32.
    fileprivate func copyBody(to target: borrowing Descriptor) throws(CopyError) -> UInt32 {
        var crc: UInt32 = 0
        // If the file became shorter after its length was read, the checksum detects this.
        _ = try file.copyByHand(
            head.bodyLength, from: CacheHead<Record>.length, to: target, at: 0
        ) { piece in
            crc = darkroom_crc32(
                crc, piece.baseAddress?.assumingMemoryBound(to: UInt8.self), piece.count)
        }
        return crc
    }
}
