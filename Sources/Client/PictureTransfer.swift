import CDarkroomShims
import DarkroomCore
import Glibc
import SystemPackage

/// Copies a picture into a staged folder. A file system that can (Btrfs, XFS) shares the bytes.
///
/// A hard link would cost less, but the daemon refuses files with further links: such a picture could change until it is
/// filtered.
struct PictureTransfer: ~Copyable {
    /// In bytes: between two pieces, the progress is told and an interruption is noticed.
    private static let piece = 16 << 20

    private let file: Descriptor
    /// For messages.
    private let path: String

    /// Opens the picture at `path`. Symbolic links are followed, as by the user's other programs.
    init(_ path: String) throws(FileError) {
        let shown = FileName(path).text
        let file = try Descriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY, shown: shown)
        guard try file.information(path: shown).isRegularFile else {
            throw FileError(
                .send, shown, .notSupported, detail: "it along (it is not a regular file)")
        }
        self.file = file
        self.path = shown
    }

    /// - Parameter told: receives the number of bytes of each piece; returns false to stop.
    /// - Throws: ECANCELED if it was stopped.
    func put(
        into folder: Directory, of staged: StagedFolder, as name: FileName,
        told: (Int) -> Bool
    ) throws(FileError) {
        try copy(to: folder.create(name), folder.path(of: name), of: staged, told: told)
    }

    private func tell(_ count: Int, _ told: (Int) -> Bool) throws(FileError) {
        guard told(count) else { throw FileError(.copy, path, .canceled) }
    }

    private func copy(
        to copy: consuming Descriptor, _ target: String, of staged: StagedFolder,
        told: (Int) -> Bool
    ) throws(FileError) {
        staged.share(copy)
        var place = 0
        while true {
            let count: Int64
            do {
                count = try retryingInterrupts {
                    darkroom_copy_range(
                        file.number, Int64(place), copy.number, Int64(place), Int64(Self.piece))
                }
            } catch  where Self.needsReading.contains(error) {
                break
            } catch {
                throw FileError(.copy, path, error, detail: "to \(target)")
            }
            if count == 0 { break }
            place += Int(count)
            try tell(Int(count), told)
        }
        // At the end of the file this reads nothing. Some file systems give the kernel nothing, or refuse.
        try copyBytes(from: place, to: copy, target, told)
    }

    /// The errors of a kernel that cannot copy between two files.
    private static let needsReading: [Errno] = [
        .improperLink, .invalidArgument, .notSupported, .noFunction, .notPermitted,
    ]

    private func copyBytes(
        from start: Int, to copy: borrowing Descriptor, _ target: String, _ told: (Int) -> Bool
    ) throws(FileError) {
        guard lseek(copy.number, start, SEEK_SET) >= 0 else {
            throw FileError(.write, target, Errno(rawValue: errno))
        }
        var place = start
        while true {
            let piece = try file.read(1 << 20, at: place, path: path)
            if piece.isEmpty { return }
            try copy.write(piece, path: target)
            place += piece.count
            try tell(piece.count, told)
        }
    }
}
