import CDarkroomShims
import DarkroomCore
import Glibc
import SystemPackage

/// Looks for files in the folders from which manifests may take pictures. The rules for a folder are those for a file:
/// the kernel keeps its path beneath a root, and links in a submitted folder are not followed.
extension LocalSources {
    package enum Listing: Sendable, Equatable {
        /// The sources of the files, sorted by the bytes of their names. Those in a root are absolute, so that no other
        /// root is tried for them.
        case sources([ByteString])
        case nothing(String)
        /// There are more files than the limit, or too many entries in the folder.
        case tooMany
    }

    /// A folder with more entries than this is not read to its end.
    static let mostEntries = 2_000_000

    /// The files of a folder whose names match: in the folder that was sent along or, if that has none, in the first
    /// root that has any. A folder that begins with `./` is looked for in no root if one was sent along.
    ///
    /// Names that are not the user's (`ignored`) are left out. Regular files and symbolic links count. Where a link leads
    /// is examined when it is opened, as for a single source.
    ///
    /// - Parameters:
    ///   - folder: the path of the folder as a manifest names it; empty for the roots themselves.
    ///   - limit: the maximum number of files.
    package func list(
        _ folder: String, sent: SentPictures? = nil, limit: Int, matches wanted: (FileName) -> Bool
    ) -> Listing {
        /// nil if the open folder has no such file.
        func listing(of place: borrowing Descriptor, as folder: String) throws(Errno) -> Listing? {
            let names = try Self.names(in: place.number, limit: limit) {
                wanted($0) && !ignored.contains($0)
            }
            guard let names else { return .tooMany }
            return names.isEmpty ? nil : Self.sources(names, in: folder)
        }
        var reason: String?
        if case .here(let pictures)? = sent {
            let path = SentPictures.relativePath(of: folder)
            do throws(Errno) {
                let place = try resolution.open(
                    path.isEmpty ? "." : path, beneath: pictures.directory.number,
                    followsLinks: false)
                if let found = try listing(of: place, as: folder) { return found }
            } catch {
                reason = Self.words(for: error, sent: true)
            }
            if SentPictures.isOnlySent(folder) {
                return .nothing(reason ?? "there is no such file in the submitted folder")
            }
        }
        if let base {
            // This process may read any file.
            let joined = folder.isEmpty ? base : Self.joined(base, folder)
            let path = joined.isEmpty ? "/" : joined
            do throws(Errno) {
                let place = Descriptor(
                    owning: try retryingInterrupts { darkroom_open_folder(path) })
                return try listing(of: place, as: folder)
                    ?? .nothing("there is no such file in \(FileName(path).text)")
            } catch {
                return .nothing("\(FileName(path).text): \(error)")
            }
        }
        for root in roots where !hidden.contains(ByteString(root)) {
            guard let place = Place(root: root, path: folder) else { continue }
            do throws(Errno) {
                let shown = place.path == "." ? root : place.fullPath
                if let found = try listing(of: place.open(resolution), as: shown) { return found }
            } catch {
                reason = reason ?? Self.words(for: error, sent: false)
            }
        }
        return .nothing(reason ?? "there is no such file in \(places(sent))")
    }

    private func places(_ sent: SentPictures?) -> String {
        let list =
            roots.isEmpty ? "sources.roots, which is empty" : "sources.roots (\(listOfRoots))"
        if case .here? = sent { return "the submitted folder, nor in \(list)" }
        return list
    }

    private static func words(for error: Errno, sent: Bool) -> String? {
        switch error {
        case .noSuchFileOrDirectory, .notDirectory: nil
        case .improperLink:
            "its folder is not beneath one of sources.roots, or leads out of it by .. or a symbolic link"
        case .tooManySymbolicLinkLevels:
            sent
                ? "its folder is a symbolic link; links in a submitted folder are not followed"
                : "the symbolic links form a loop, or one is a special link of /proc"
        default: "its folder cannot be read: \(error)"
        }
    }

    /// The names of the files, sorted; nil if there are too many.
    private static func names(
        in folder: CInt, limit: Int, matches: (FileName) -> Bool
    ) throws(Errno) -> [FileName]? {
        var names: [FileName] = []
        var left = mostEntries
        let isWhole = try entries(of: folder, &left) { name, type in
            guard matches(name), kind(of: name, type, in: folder) == .file else { return true }
            guard names.count < limit else { return false }
            names.append(name)
            return true
        }
        return isWhole ? names.sorted() : nil
    }

    /// Like `Directory.forEachEntry`, for at most `left` entries, from which it takes those that it has read.
    static func entries(
        of folder: CInt, _ left: inout Int, _ body: (FileName, Int) -> Bool
    ) throws(Errno) -> Bool {
        try Directory.forEachEntry(of: folder) { name, type in
            left -= 1
            return left >= 0 && body(name, type)
        }
    }

    enum Kind {
        case file, folder, other
    }

    /// - Parameter type: as readdir(3) has it.
    static func kind(of name: FileName, _ type: Int, in folder: CInt) -> Kind {
        switch type {
        case Int(DT_REG), Int(DT_LNK): return .file
        case Int(DT_DIR): return .folder
        case Int(DT_UNKNOWN): break
        default: return .other
        }
        var information = stat()
        let result = name.withCString { fstatat(folder, $0, &information, AT_SYMLINK_NOFOLLOW) }
        guard result == 0 else { return .other }
        return switch information.st_mode & S_IFMT {
        case mode_t(S_IFREG), mode_t(S_IFLNK): .file
        case mode_t(S_IFDIR): .folder
        default: .other
        }
    }

    /// The sources of files in a folder, or why one of them cannot be a source.
    static func sources(_ names: [FileName], in folder: String) -> Listing {
        var sources: [ByteString] = []
        sources.reserveCapacity(names.count)
        for name in names {
            if let fault = name.textFault {
                return .nothing("the name of \(name.text) \(fault); rename it")
            }
            let text = name.text
            var source = folder.isEmpty ? text : joined(folder, text)
            // Otherwise the text before a colon would be a scheme.
            if !SourceReference.isPath(source) { source = "./" + source }
            sources.append(ByteString(source))
        }
        return .sources(sources)
    }
}
