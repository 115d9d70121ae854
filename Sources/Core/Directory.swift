import CDarkroomShims
import Glibc
import SystemPackage

/// An open folder. Files are accessed relative to its descriptor, so the rename of a folder above does not matter.
/// Every error names the path of the file at the time when the folder was opened.
package final class Directory: Sendable {
    package let path: String
    private let descriptor: Descriptor

    package init(path: String) throws(FileError) {
        self.path = path
        descriptor = try Self.open(path, at: AT_FDCWD, FileName(path))
    }

    /// Opens the folder `name` within `parent`; does not follow a symbolic link.
    package init(_ name: FileName, in parent: Directory) throws(FileError) {
        path = parent.path(of: name)
        descriptor = try Self.open(path, at: parent.number, name)
    }

    private static func open(
        _ path: String, at number: CInt, _ name: FileName
    ) throws(FileError) -> Descriptor {
        let follow = number == AT_FDCWD ? 0 : O_NOFOLLOW
        return Descriptor(
            owning: try retryingInterrupts(.open, path) {
                name.withCString { openat(number, $0, O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow) }
            })
    }

    package var number: CInt { descriptor.number }

    package func path(of name: FileName) -> String { "\(path)/\(name.text)" }

    // MARK: Files

    /// Opens a file for reading. Does not follow a symbolic link, and does not block on a FIFO.
    package func open(_ name: FileName) throws(FileError) -> Descriptor {
        try open(.open, name, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    }

    private func open(
        _ step: FileError.Step, _ name: FileName, _ flags: CInt, mode: mode_t = 0
    ) throws(FileError) -> Descriptor {
        Descriptor(
            owning: try retryingInterrupts(step, path(of: name)) {
                name.withCString { openat(number, $0, flags | O_CLOEXEC | O_NOFOLLOW, mode) }
            })
    }

    /// Creates a file for writing. It must not exist yet; with `replacing`, an existing file is emptied.
    package func create(
        _ name: FileName, replacing: Bool = false, mode: mode_t = 0o666
    ) throws(FileError) -> Descriptor {
        try open(.create, name, O_RDWR | O_CREAT | (replacing ? O_TRUNC : O_EXCL), mode: mode)
    }

    /// Opens a file for writing over its content, and creates it if it is missing.
    package func openScratch(_ name: FileName) throws(FileError) -> Descriptor {
        try open(.open, name, O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY, mode: 0o600)
    }

    /// Opens a file for appending, and creates it if it is missing.
    package func append(to name: FileName) throws(FileError) -> Descriptor {
        try open(.open, name, O_RDWR | O_CREAT | O_APPEND, mode: 0o666)
    }

    /// Reads a whole file of at most `maximum` bytes. If the file is longer, the result has `maximum` + 1 bytes.
    package func read(_ name: FileName, upTo maximum: Int) throws(FileError) -> [UInt8] {
        let file = try open(name)
        return try file.readAll(upTo: maximum, path: path(of: name))
    }

    /// Reads a whole file. If it is longer than the limit, this is an error.
    package func read(_ name: FileName, limit: Int = FileLimit.other) throws(FileError) -> [UInt8] {
        let file = try open(name)
        return try file.whole(upTo: limit, path: path(of: name))
    }

    /// Writes a new file and, with `durably`, waits until it is on the disk. The folder's entry is durable only after
    /// `sync()`.
    package func write(
        _ bytes: [UInt8], to name: FileName, replacing: Bool = false, durably: Bool
    ) throws(FileError) {
        try write(to: name, replacing: replacing, durably: durably) {
            write throws(FileError) in try write(bytes)
        }
    }

    /// Writes a new file whose content comes in pieces: `content` receives a function that writes one piece.
    package func write(
        to name: FileName, replacing: Bool = false, durably: Bool,
        content: (_ write: ([UInt8]) throws(FileError) -> Void) throws(FileError) -> Void
    ) throws(FileError) {
        let file = try create(name, replacing: replacing)
        let path = path(of: name)
        try content { bytes throws(FileError) in try file.write(bytes, path: path) }
        if durably { try file.sync(path: path) }
        try file.close(path: path)
    }

    /// Writes bytes that come from somebody else. Blocks of zeros become holes, as in the original file, so that nobody
    /// can fill the disk with a file that is mostly a hole.
    package func write(
        sparsely bytes: [UInt8], to name: FileName, replacing: Bool = false, durably: Bool
    ) throws(FileError) {
        let file = try create(name, replacing: replacing)
        let path = path(of: name)
        try file.write(sparsely: bytes, path: path)
        if durably { try file.sync(path: path) }
        try file.close(path: path)
    }

    /// The attributes of a file, without following a symbolic link; nil if it does not exist.
    package func information(of name: FileName) throws(FileError) -> stat? {
        return try ifExists { () throws(FileError) -> stat? in
            var information = stat()
            _ = try retryingInterrupts(.examine, path(of: name)) {
                name.withCString { fstatat(number, $0, &information, AT_SYMLINK_NOFOLLOW) }
            }
            return information
        }
    }

    package func information() throws(FileError) -> stat { try descriptor.information(path: path) }

    package func exists(_ name: FileName) throws(FileError) -> Bool {
        try information(of: name) != nil
    }

    package func remove(_ name: FileName) throws(FileError) {
        _ = try retryingInterrupts(.remove, path(of: name)) {
            name.withCString { unlinkat(number, $0, 0) }
        }
    }

    // MARK: Folders

    /// Creates a folder; throws EEXIST if the name exists.
    package func makeDirectory(_ name: FileName, mode: mode_t = 0o777) throws(FileError) {
        _ = try retryingInterrupts(.createFolder, path(of: name)) {
            name.withCString { mkdirat(number, $0, mode) }
        }
    }

    package func removeDirectory(_ name: FileName) throws(FileError) {
        _ = try retryingInterrupts(.removeFolder, path(of: name)) {
            name.withCString { unlinkat(number, $0, AT_REMOVEDIR) }
        }
    }

    /// The names in the folder, without `.` and `..`, in no particular order.
    ///
    /// - Parameter most: when there are this many, the list ends. For a folder that others fill, whose names must not take
    ///   all memory.
    package func names(atMost most: Int = .max) throws(FileError) -> [FileName] {
        var names: [FileName] = []
        do throws(Errno) {
            _ = try Self.forEachEntry(of: number) { name, _ in
                if names.count < most { names.append(name) }
                return names.count < most
            }
        } catch {
            throw FileError(.list, path, error)
        }
        return names
    }

    /// Calls `body` for each entry of an open folder except `.` and `..`, with its name and its type as readdir(3) has
    /// it, until `body` returns false.
    ///
    /// - Returns: whether all entries were read.
    package static func forEachEntry(
        of folder: CInt, _ body: (FileName, _ type: Int) -> Bool
    ) throws(Errno) -> Bool {
        let copy = try retryingInterrupts {
            openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        guard let stream = fdopendir(copy) else {
            let error = Errno(rawValue: errno)
            _ = Glibc.close(copy)
            throw error
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw Errno(rawValue: errno) }
                return true
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { buffer in
                FileName(bytes: buffer.prefix { $0 != 0 })
            }
            if name == "." || name == ".." { continue }
            guard body(name, Int(entry.pointee.d_type)) else { return false }
        }
    }

    /// Whether this process may list the folder, and create and remove entries in it.
    package var isUsable: Bool { faccessat(number, ".", R_OK | W_OK | X_OK, AT_EACCESS) == 0 }

    /// Waits until all written data of the folder's file system is on the disk.
    package func syncFileSystem() throws(FileError) {
        _ = try retryingInterrupts(.sync, path) { darkroom_sync_file_system(number) }
    }

    /// Waits until the folder's entries are on the disk.
    package func sync() throws(FileError) {
        _ = try retryingInterrupts(.sync, path) { fsync(number) }
    }
}
