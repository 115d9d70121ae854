import CDarkroomShims
import DarkroomCore
import Glibc
import SystemPackage

/// The folders of this machine from which manifests may take pictures (`sources.roots`), and the only way to open a
/// file in them.
///
/// A person who works on pictures of their own needs no such folders: `init(relativeTo:)` opens any file that the
/// process may read.
///
/// No path leads out of its root, whatever links it has (`PathResolution`).
package struct LocalSources: Sendable, Equatable {
    /// Absolute paths, which are tried in this order. If the list is empty, no local source is allowed.
    package var roots: [String]
    package var maximumBytes: Int64
    /// The names that no listing of a folder has.
    package var ignored = IgnoredNames.standard
    /// What comes before all folders if nothing was sent along.
    package var kept: KeptPictures?
    let resolution: PathResolution
    /// The folder at which relative paths begin if any file may be opened; nil if only those in the roots may.
    private(set) var base: String?
    /// The files that the service can see, if it cannot see all of the machine.
    private let view: ServiceView?
    /// The roots that the service does not have, for a process that speaks for it and has them.
    let hidden: Set<ByteString>

    package init(
        roots: [String], maximumBytes: Int64 = TransferLimits().bytes,
        resolution: PathResolution = .kernel, view: ServiceView? = .current,
        hidden: Set<ByteString> = []
    ) {
        self.roots = roots
        self.maximumBytes = maximumBytes
        self.resolution = resolution
        self.view = view
        self.hidden = hidden
    }

    /// Any file that this process may read, wherever it is and whatever links lead to it.
    ///
    /// - Parameter base: the folder at which relative paths begin, absolute.
    package init(relativeTo base: String, maximumBytes: Int64) {
        self.init(roots: [], maximumBytes: maximumBytes, view: nil)
        self.base = base
    }

    /// A regular file that is open for reading.
    package struct OpenedFile: ~Copyable, Sendable {
        package let descriptor: Descriptor
        /// The root, joined with the path from there.
        package let path: String
        package let information: stat

        package var bytes: Int64 { Int64(information.length) }

        package consuming func takeDescriptor() -> Descriptor { descriptor }
    }

    /// Opens the file `path`: the one that was sent along, or else one in the roots, unless it begins with `./`.
    ///
    /// - Parameter sent: the pictures that came with the manifest; nil if it came without a folder.
    package func open(_ path: String, sent: SentPictures? = nil) throws(FetchError) -> OpenedFile {
        let shown = RedactedURL(path)
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw FetchError(.badURL, "\(shown): not a path: it is empty or contains a NUL")
        }
        if case .here(let folder)? = sent, let found = try openSent(path, in: folder, shown) {
            return found
        }
        if sent == nil, let kept, let found = try openKept(path, in: kept, shown) { return found }
        if let sent, sent.isOnlySent(path) { throw .notSent(shown, sent) }
        if let base { return try open(path, from: base, shown) }
        do throws(FetchError) {
            return try open(path, shown)
        } catch {
            guard let sent, [.sourceMissing, .sourceForbidden].contains(error.kind) else {
                throw error
            }
            throw .notSent(shown, sent, roots: listOfRoots)
        }
    }

    private func open(
        _ path: String, from base: String, _ shown: RedactedURL
    ) throws(FetchError) -> OpenedFile {
        let isAbsolute = path.utf8.first == UInt8(ascii: "/")
        let whole = Self.joined(base, path)
        let descriptor: Descriptor
        do throws(Errno) {
            // Opening a device may have an effect. A fifo does not wait for a writer.
            descriptor = Descriptor(owning: try retryingInterrupts { darkroom_open_regular(whole) })
        } catch .noSuchFileOrDirectory, .notDirectory {
            let place = isAbsolute ? "" : " in \(base), where relative paths begin"
            throw FetchError(.sourceMissing, "\(shown): no such file\(place)")
        } catch {
            throw .opening(shown, error)
        }
        return try checked(descriptor, path: whole, shown: shown)
    }

    /// Opens the file `path` in the roots. If it is relative, it is the one in the first root that has it. If it is
    /// absolute, it must be beneath a root.
    private func open(_ path: String, _ shown: RedactedURL) throws(FetchError) -> OpenedFile {
        let places = roots.compactMap { Place(root: $0, path: path) }
        if places.isEmpty { throw forbidden(shown) }
        // The error of a root that may not be entered; it is thrown only if no later root has the file.
        var refusal: FetchError?
        for place in places where !hidden.contains(ByteString(place.root)) {
            let descriptor: Descriptor
            do throws(Errno) {
                descriptor = try place.open(resolution)
            } catch .noSuchFileOrDirectory, .notDirectory {
                // The file is not in this root; the next one may have it.
                continue
            } catch .improperLink {
                throw forbidden(shown)
            } catch .tooManySymbolicLinkLevels {
                throw FetchError(
                    .sourceUnreadable,
                    "\(shown): the symbolic links form a loop, or one is a special link of /proc; such "
                        + "links are not followed")
            } catch {
                let failure = FetchError.opening(shown, error, in: FileName(place.root).text)
                // If the file exists but may not be read, it is the requested one; later roots are not tried.
                guard error == .permissionDenied, !place.mayBeEntered else { throw failure }
                refusal = refusal ?? failure
                continue
            }
            return try checked(descriptor, path: place.fullPath, shown: shown)
        }
        if let refusal { throw refusal }
        let unseen = places.lazy.compactMap { view?.remedy(for: $0.root, wanting: .reading) }.first
        throw FetchError(
            .sourceMissing,
            "\(shown): \(unseen ?? "no such file in sources.roots (\(listOfRoots))")")
    }

    /// Returns the file if it is a regular file of an allowed size, and not on a pseudo file system.
    ///
    /// - Parameter owner: for a picture that was sent along: who must own it. It must have one link only.
    func checked(
        _ descriptor: consuming Descriptor, path: String, owner: UInt32? = nil, shown: RedactedURL
    ) throws(FetchError) -> OpenedFile {
        guard let status = stat(of: descriptor.number) else {
            let cause = Errno(rawValue: errno)
            throw FetchError(.sourceUnreadable, "\(shown): its type cannot be determined: \(cause)")
        }
        guard status.isRegularFile else {
            let kind = Self.words(ofKind: status.st_mode & S_IFMT)
            throw FetchError(.notAFile, "\(shown): \(kind), not a file")
        }
        guard owner == nil || owner == status.st_uid else {
            throw FetchError(
                .sourceForbidden,
                "\(shown): it belongs to user \(status.st_uid), but the folder in which it was submitted "
                    + "belongs to user \(owner ?? 0)")
        }
        // The submitter may have any number of links to a file of his own, but what they lead to can change later.
        guard owner == nil || status.st_nlink <= 1 else {
            throw FetchError(
                .sourceForbidden,
                "\(shown): it has \(status.st_nlink) hard links, so it can be changed from elsewhere; put a copy "
                    + "into the folder")
        }
        guard !Self.isOfKernel(descriptor, status) else {
            throw FetchError(
                .sourceForbidden, "\(shown): a file of the kernel (/proc, /sys), not a picture")
        }
        guard status.length <= maximumBytes else {
            throw FetchError(
                .tooLarge,
                "\(shown): the file has \(Units.bytes(status.length)), more than the limit of "
                    + Units.bytes(maximumBytes))
        }
        return OpenedFile(descriptor: descriptor, path: path, information: status)
    }

    /// PROC_SUPER_MAGIC and SYSFS_MAGIC of linux/magic.h: their files have no size, and reading some of them has side
    /// effects.
    private static let pseudoFileSystems: Set<Int64> = [0x9FA0, 0x6265_6572]

    /// Whether an open file is one of /proc or /sys.
    package static func isOfKernel(_ file: borrowing Descriptor, _ status: stat) -> Bool {
        // Most files are on a device. Then the kernel need not be asked.
        !darkroom_is_on_device(UInt64(status.st_dev))
            && pseudoFileSystems.contains(darkroom_filesystem_type(file.number))
    }

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

    var listOfRoots: String { roots.map { FileName($0).text }.joined(separator: ", ") }
}

extension FetchError {
    /// Why a file that is there cannot be opened.
    ///
    /// - Parameter place: where it is; nil if its path tells that.
    static func opening(_ shown: RedactedURL, _ error: Errno, in place: String? = nil) -> FetchError
    {
        if error == .noSuchAddressOrDevice {
            return FetchError(.notAFile, "\(shown): a socket or a device, not a file")
        }
        let words = place.map { "cannot be opened in \($0)" } ?? "cannot be opened"
        return FetchError(
            .sourceUnreadable, "\(shown): \(words): \(error)", storageFailure: error.storageFailure)
    }
}

extension LocalSources {
    /// The path of a file from a folder, joined with that of the folder. An absolute one stays as it is.
    static func joined(_ folder: String, _ path: String) -> String {
        if path.utf8.first == UInt8(ascii: "/") { return path }
        return folder.utf8.last == UInt8(ascii: "/") ? folder + path : "\(folder)/\(path)"
    }

    /// A root and the path from it to a file or a folder.
    struct Place {
        var root: String
        /// `.` for the root itself.
        var path: String

        var fullPath: String { joined(root, path) }

        /// If `path` is relative, it is the path from the root. If it is absolute, the result is nil unless its text
        /// begins with the root. `..` stays in it; the kernel checks it.
        init?(root: String, path: String) {
            self.root = root
            guard path.utf8.first == UInt8(ascii: "/") else {
                self.path = path.isEmpty ? "." : path
                return
            }
            let (rootParts, pathParts) = (root.pathParts, path.pathParts)
            guard pathParts.starts(with: rootParts) else { return nil }
            let rest = pathParts.dropFirst(rootParts.count)
            self.path = rest.isEmpty ? "." : rest.map(\.string).joined(separator: "/")
        }

        var mayBeEntered: Bool { faccessat(AT_FDCWD, root, X_OK, AT_EACCESS) == 0 }

        /// Throws `improperLink` (EXDEV) if the path leads out of the root.
        func open(_ resolution: PathResolution) throws(Errno) -> Descriptor {
            // The root is opened each time, because what is mounted there may have changed.
            let folder = Descriptor(owning: try retryingInterrupts { darkroom_open_folder(root) })
            return try resolution.open(path, beneath: folder.number, followsLinks: true)
        }
    }
}
