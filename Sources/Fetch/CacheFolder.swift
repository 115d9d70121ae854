import CDarkroomShims
import DarkroomCore
import Glibc
import Synchronization
import SystemPackage

/// The files of the cache: one for each response, with a header and a body, in 256 folders by the first digits of its
/// key.
///
/// ```
/// lock          locked by the daemon that uses the folder; contains its process ID
/// new/          files that are being written; emptied at the start
/// 00/ … ff/     the responses: CacheHead, then the body
/// ```
///
/// A rename gives each response its name when it is complete. Nothing is synced: a crash of the process loses no file
/// that has its name, and checksums detect files that a power cut has damaged.
package final class CacheFolder: Sendable {
    let root: Directory
    private static let new: FileName = "new"
    private let lock: Descriptor
    private let number = Atomic(0)

    var path: String { root.path }

    /// Opens the folder and locks it.
    ///
    /// - Parameter makes: whether to create the folder if it is missing. The folders above it are never created.
    package init(path: String, makes: Bool) throws(CacheFolderError) {
        do throws(FileError) {
            if makes, mkdir(path, Self.mode) != 0, errno != EEXIST {
                throw FileError(.createFolder, path, Errno(rawValue: errno))
            }
            root = try Directory(path: path)
            // A user who can put files there could replace pictures.
            guard try root.information().st_mode & S_IWOTH == 0 else {
                throw FileError(
                    .use, path, .notPermitted,
                    detail: "it as a cache, because everyone may write to it")
            }
        } catch {
            throw .file(error)
        }
        lock = try Self.lock(root)
        do throws(FileError) {
            let new = try root.folder(Self.new, mode: Self.mode)
            // A file that cannot be removed is not used by anyone.
            for name in try new.names() { try? new.remove(name) }
            let names = Set(try root.names())
            for name in Self.folders where !names.contains(name) {
                _ = try root.folder(name, mode: Self.mode)
            }
        } catch {
            throw .file(error)
        }
    }

    private static let folders = (UInt8.min...UInt8.max).map {
        FileName(bytes: Hexadecimal.digits(of: $0))
    }

    private static let mode: mode_t = 0o750

    /// Two daemons would each assume that they can use all of the space.
    private static func lock(_ root: Directory) throws(CacheFolderError) -> Descriptor {
        let path = root.path(of: "lock")
        do throws(FileError) {
            let lock = try root.openScratch("lock")
            if flock(lock.number, LOCK_EX | LOCK_NB) == 0 {
                try lock.truncate(to: 0, path: path)
                try lock.write(
                    Array("darkroomd, process \(getpid()), since \(Clock.timestamp)\n".utf8),
                    path: path)
                return lock
            }
            let cause = Errno(rawValue: errno)
            guard cause == .wouldBlock else { throw FileError(.lock, path, cause) }
        } catch {
            throw .file(error)
        }
        let text = (try? root.read("lock", upTo: 256)).map { String(decoding: $0, as: UTF8.self) }
        let line = text?.split(separator: "\n").first.map(String.init)
        throw .locked(folder: root.path, holder: line ?? "another darkroomd")
    }

    // MARK: Responses

    /// Opens a response for reading; nil if it does not exist.
    func open(_ key: CacheKey) throws(FileError) -> Descriptor? {
        return try ignoringMissing(Directory(key.folder, in: root).open(key.file))
    }

    /// Writes a response, and replaces an older one.
    ///
    /// - Parameter body: a file that begins with at least `length` bytes of the body.
    func write(
        _ head: [UInt8], _ body: borrowing Descriptor, length: Int, as key: CacheKey
    ) throws(FileError) {
        let name = FileName("\(number.add(1, ordering: .relaxed).newValue)")
        // Someone may have removed all files of the folder.
        let new = try root.folder(Self.new, mode: Self.mode)
        let path = new.path(of: name)
        do {
            let file = try new.openScratch(name)
            try file.write(head, path: path)
            FaultPoint.cacheHeadWritten.pass()
            try body.copy(length, to: file, at: head.count, path: path)
            try file.close(path: path)
            FaultPoint.cacheWritten.pass()
            let folder = try root.folder(key.folder, mode: Self.mode)
            try new.rename(name, to: folder, as: key.file, replacing: true)
            FaultPoint.cacheMoved.pass()
        } catch {
            // If this fails too, the next start removes it.
            try? new.remove(name)
            throw error
        }
    }

    /// Replaces the header of a response, if its file still has this inode number.
    func overwrite(_ head: [UInt8], of key: CacheKey, inode: ino_t) throws(FileError) {
        let folder = try Directory(key.folder, in: root)
        let path = folder.path(of: key.file)
        let number = key.file.withCString {
            openat(folder.number, $0, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        }
        guard number >= 0 else { throw FileError(.open, path, Errno(rawValue: errno)) }
        let file = Descriptor(owning: number)
        guard try file.information(path: path).st_ino == inode else { return }
        try file.write(head, path: path)
    }

    func remove(_ key: CacheKey) throws(FileError) {
        try ignoringMissing(Directory(key.folder, in: root).remove(key.file))
    }

    func path(of key: CacheKey) -> String { "\(root.path(of: key.folder))/\(key.file.text)" }

    // MARK: All responses

    struct Found: Sendable {
        let key: CacheKey
        let bytes: Int
        /// Seconds since 1970.
        let used: Int
    }

    /// The existing responses, in no particular order. Files with other names are ignored.
    ///
    /// - Parameter isStopped: checked between folders.
    func answers(now: Int, isStopped: () -> Bool) throws(FileError) -> [Found] {
        var found: [Found] = []
        for name in Self.folders {
            if isStopped() { break }
            let folder = try Directory(name, in: root)
            for file in try folder.names() {
                guard let key = CacheKey(folder: name, file: file),
                    let information = try folder.information(of: file),
                    information.isRegularFile
                else { continue }
                var used = information.st_mtim.tv_sec
                if used > now {
                    // The clock was set back. Otherwise the file would seem recently used for the same time.
                    used = now
                    _ = file.withCString { utimensat(folder.number, $0, nil, 0) }
                }
                found.append(Found(key: key, bytes: Self.room(information.length), used: used))
            }
        }
        return found
    }

    /// The space that a file of this size uses, in blocks of 4096 bytes.
    static func room(_ bytes: Int) -> Int { bytes.saturatingAdd(4095) / 4096 * 4096 }

    /// Whether this number of bytes may be written: 5 % of the file system, or 1 GiB if that is less, must stay free
    /// for others.
    func hasRoom(for bytes: Int) throws(FileError) -> Bool {
        var information = statvfs()
        guard fstatvfs(root.number, &information) == 0 else {
            throw FileError(.examine, root.path, Errno(rawValue: errno))
        }
        let room = information.room
        let reserve = min(room.all / 20, 1 << 30)
        return room.free >= reserve.saturatingAdd(UInt64(clamping: bytes))
    }
}

package enum CacheFolderError: CodedError, Equatable {
    case locked(folder: String, holder: String)
    case file(FileError)

    package var code: String {
        switch self {
        case .locked: "cache-locked"
        case .file(let error): error.code
        }
    }

    package var message: String {
        switch self {
        case .locked(let folder, let holder): "\(folder) is in use by \(holder)"
        case .file(let error): error.message
        }
    }

    package var isTransient: Bool {
        switch self {
        case .locked: true
        case .file(let error): error.isTransient
        }
    }
}

extension Descriptor {
    /// Copies `length` bytes from the position `start` to one in another file. Where the file system can share blocks
    /// between files, none is copied.
    func copy(
        _ length: Int, from start: Int = 0, to file: borrowing Descriptor, at place: Int,
        path: String
    ) throws(FileError) {
        var done = 0
        while done < length {
            do throws(Errno) {
                let count = try retryingInterrupts {
                    darkroom_copy_range(
                        number, Int64(start + done), file.number, Int64(place + done),
                        Int64(length - done))
                }
                // The source is shorter than announced.
                guard count > 0 else { throw .ioError }
                done += Int(count)
            } catch {
                // The call fails between some file systems, and with some system call filters. Then this code copies
                // the bytes itself.
                let isRefusal = [
                    .improperLink, .invalidArgument, .noFunction, .notSupported,
                    .notPermitted,
                ].contains(error)
                guard isRefusal else { throw FileError(.copy, path, error, detail: "to") }
                do throws(CopyError) {
                    done += try copyByHand(
                        length - done, from: start + done, to: file, at: place + done)
                    guard done == length else { throw .reading(.ioError) }
                } catch {
                    throw FileError(.copy, path, error.errno, detail: "to")
                }
            }
        }
    }

    /// The same without the help of the kernel.
    ///
    /// - Parameter body: gets each piece that was read.
    /// - Returns: the number of copied bytes; less than `length` if the file ends before.
    func copyByHand(
        _ length: Int, from start: Int, to file: borrowing Descriptor, at place: Int,
        _ body: (UnsafeRawBufferPointer) -> Void = { _ in }
    ) throws(CopyError) -> Int {
        var done = 0
        try withUnsafeTemporaryAllocation(byteCount: 128 << 10, alignment: 16) {
            buffer throws(CopyError) in
            while done < length {
                let wanted = min(buffer.count, length - done)
                let piece: UnsafeRawBufferPointer
                do throws(Errno) {
                    let count = try read(
                        into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]),
                        at: start + done)
                    if count == 0 { return }
                    piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                } catch {
                    throw .reading(error)
                }
                body(piece)
                do throws(Errno) {
                    try file.write(piece, at: place + done)
                } catch {
                    throw .writing(error)
                }
                done += piece.count
            }
        }
        return done
    }
}

/// Which side of a copy has failed.
enum CopyError: Error {
    case reading(Errno), writing(Errno)

    var errno: Errno {
        switch self {
        case .reading(let error), .writing(let error): error
        }
    }
}
