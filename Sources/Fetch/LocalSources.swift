import CDarkroomShims
import DarkroomCore
import Glibc
import SystemPackage

/// The folders of this machine that manifests may take pictures from (`sources.roots`), and the only
/// way to open a file in them.
///
/// The kernel keeps a path beneath its root (`openat2` with RESOLVE_BENEATH), or a walk of our own does
/// where that call is refused: `..`, an absolute symbolic link and /proc's magic links cannot lead out
/// of it, whoever changes the folders meanwhile.
package struct LocalSources: Sendable, Equatable {
    /// Absolute paths, tried in this order. With none, no local source is allowed.
    package var roots: [String]
    /// The largest file that is taken, in bytes.
    package var maximumBytes: Int64
    private let resolution: Resolution
    /// What of the machine can be seen, where that is not all.
    private let view: ServiceView?

    /// Who keeps a path beneath its root.
    package enum Resolution: Sendable, CaseIterable {
        /// The kernel if it can, else the walk.
        case kernel
        case walk
    }

    package init(
        roots: [String], maximumBytes: Int64 = TransferLimits().bytes,
        resolution: Resolution = .kernel, view: ServiceView? = .current
    ) {
        self.roots = roots
        self.maximumBytes = maximumBytes
        self.resolution = resolution
        self.view = view
    }

    /// A regular file, open for reading.
    package struct OpenedFile: ~Copyable, Sendable {
        package let descriptor: Descriptor
        /// The root it lies beneath, joined with the way from there.
        package let path: String
        /// Its size when it was opened.
        package let bytes: Int64

        /// Hands the descriptor over.
        package consuming func takeDescriptor() -> Descriptor { descriptor }
    }

    /// Opens the file `path`, relative to the first root that has it, or absolute and beneath one.
    package func open(_ path: String) throws(FetchError) -> OpenedFile {
        let shown = RedactedURL(path)
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw FetchError(.badURL, "\(shown): not a path: it is empty or contains a NUL")
        }
        let places = roots.compactMap { Place(root: $0, path: path) }
        if places.isEmpty { throw forbidden(shown) }
        // Of a root that may not be entered, told only where no later one has it.
        var refusal: FetchError?
        for place in places {
            let descriptor: Descriptor
            do throws(Errno) {
                descriptor = try place.open(resolution)
            } catch .noSuchFileOrDirectory, .notDirectory {
                // Absent here; the next root may have it.
                continue
            } catch .improperLink {
                throw forbidden(shown)
            } catch .tooManySymbolicLinkLevels {
                throw FetchError(
                    .sourceUnreadable,
                    "\(shown): the symbolic links form a loop, or one is a special link of /proc; such "
                        + "links are not followed")
            } catch .noSuchAddressOrDevice {
                throw FetchError(.notAFile, "\(shown): a socket or a device, not a file")
            } catch {
                let failure = FetchError(
                    .sourceUnreadable, "\(shown): cannot be opened in \(place.root): \(error)",
                    fault: error.storageFault)
                // A file that may not be read is the one that is meant, whatever is in later roots.
                guard error == .permissionDenied, !place.mayBeEntered else { throw failure }
                refusal = refusal ?? failure
                continue
            }
            return try checked(descriptor, at: place, shown: shown)
        }
        if let refusal { throw refusal }
        let unseen = places.lazy.compactMap { view?.remedy(for: $0.root, wanting: .reading) }.first
        throw FetchError(
            .sourceMissing,
            "\(shown): \(unseen ?? "no such file in sources.roots (\(listOfRoots))")")
    }

    /// The file, if it is a regular one of a size that is taken and lies on no pseudo file system.
    private func checked(
        _ descriptor: consuming Descriptor, at place: Place, shown: RedactedURL
    ) throws(FetchError) -> OpenedFile {
        var status = stat()
        guard fstat(descriptor.number, &status) == 0 else {
            let cause = Errno(rawValue: errno)
            throw FetchError(.sourceUnreadable, "\(shown): its type cannot be determined: \(cause)")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            let kind = Self.words(ofKind: status.st_mode & S_IFMT)
            throw FetchError(.notAFile, "\(shown): \(kind), not a file")
        }
        let fileSystem = darkroom_filesystem_type(descriptor.number)
        guard !Self.pseudoFileSystems.contains(fileSystem) else {
            throw FetchError(
                .sourceForbidden, "\(shown): a file of the kernel (/proc, /sys), not a picture")
        }
        guard status.length <= maximumBytes else {
            throw FetchError(
                .tooLarge,
                "\(shown): the file has \(Units.bytes(status.length)), more than the limit of "
                    + Units.bytes(maximumBytes))
        }
        return OpenedFile(
            descriptor: descriptor, path: place.fullPath, bytes: Int64(status.length))
    }

    /// PROC_SUPER_MAGIC and SYSFS_MAGIC of linux/magic.h: their files have no size, and reading some
    /// of them does something.
    private static let pseudoFileSystems: Set<Int64> = [0x9FA0, 0x6265_6572]

    private static func words(ofKind kind: mode_t) -> String {
        switch kind {
        case S_IFDIR: "a folder"
        case S_IFIFO: "a fifo"
        case S_IFCHR, S_IFBLK: "a device"
        case S_IFSOCK: "a socket"
        default: "something else"
        }
    }

    private func forbidden(_ shown: RedactedURL) -> FetchError {
        FetchError(
            .sourceForbidden,
            roots.isEmpty
                ? "\(shown): local sources are not allowed: sources.roots is empty"
                : "\(shown): is not beneath one of sources.roots (\(listOfRoots)), or leads out of "
                    + "it by .. or a symbolic link; an absolute symbolic link always leads out")
    }

    private var listOfRoots: String { roots.joined(separator: ", ") }
}

extension LocalSources {
    /// A root and the way from it to a file.
    private struct Place {
        var root: String
        var way: String

        var fullPath: String { root.utf8.last == UInt8(ascii: "/") ? root + way : root + "/" + way }

        /// The way is `path` itself if it is relative; nil if it is absolute and, as far as its text
        /// tells, not beneath the root. `..` stays in it for the kernel to judge.
        init?(root: String, path: String) {
            self.root = root
            guard path.utf8.first == UInt8(ascii: "/") else {
                way = path
                return
            }
            let rootParts = Self.parts(of: root)
            let pathParts = Self.parts(of: path)
            guard pathParts.starts(with: rootParts) else { return nil }
            let rest = pathParts.dropFirst(rootParts.count)
            way = rest.isEmpty ? "." : rest.map(\.string).joined(separator: "/")
        }

        private static func parts(of path: String) -> [ByteString] {
            path.utf8.split(separator: UInt8(ascii: "/")).map { ByteString($0) }
                .filter { $0 != "." }
        }

        var mayBeEntered: Bool { faccessat(AT_FDCWD, root, X_OK, AT_EACCESS) == 0 }

        /// `improperLink` (EXDEV) is the answer to a way out of the root.
        func open(_ resolution: Resolution) throws(Errno) -> Descriptor {
            // The root is opened each time: what is mounted there may have changed.
            let folder = Descriptor(
                owning: try retryingInterrupts { darkroom_open_folder(root) })
            if resolution == .walk { return try walk(from: folder) }
            // EAGAIN: a rename or mount elsewhere made the kernel unsure of "..", says openat2(2).
            for _ in 1..<8 {
                do throws(Errno) {
                    return Descriptor(
                        owning: try retryingInterrupts {
                            darkroom_open_beneath(folder.number, way)
                        })
                } catch .resourceTemporarilyUnavailable {
                    continue
                } catch .noFunction, .notPermitted {
                    // The call is not there, or a filter for system calls does not let it through.
                    return try walk(from: folder)
                }
            }
            throw .resourceTemporarilyUnavailable
        }

        private func walk(from folder: borrowing Descriptor) throws(Errno) -> Descriptor {
            Descriptor(
                owning: try retryingInterrupts { darkroom_walk_beneath(folder.number, way) })
        }
    }
}
