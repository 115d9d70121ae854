import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomSpool
import Foundation
import Glibc

/// The pictures that lie beside the file of a manifest.
///
/// A relative source of a submitted manifest means such a picture first, and only then one in the daemon's roots. The
/// daemon does not know where the manifest lay, so it gets the absolute path, unless the relative one leads it to the same
/// picture. With `--copy` it gets the picture itself, and looks for it by the same rule.
package struct NearbySources: Sendable {
    /// Absolute.
    private let folder: String
    /// Where the daemon can read; nil if this is not known.
    private let roots: SourceRoots?
    private let local: LocalSources

    /// - Parameter folder: the folder of the manifest's file, or the working folder for standard input.
    package init(beside folder: String, roots: SourceRoots?) {
        self.folder = PictureSource.absolute(folder, in: FileManager.default.currentDirectoryPath)
        self.roots = roots
        var local = LocalSources(relativeTo: self.folder, maximumBytes: .max)
        local.ignored = roots?.ignoredNames ?? .standard
        self.local = local
    }

    /// What becomes of the relative sources of a manifest.
    package struct Placement: Sendable {
        /// For each source that is beside the manifest and has to be changed, what it is called for the daemon.
        package fileprivate(set) var changes: [ByteString: ByteString] = [:]
        /// The absolute paths of the patterns and folders among these.
        package fileprivate(set) var patterns: [String] = []
        /// The sources of which there is another file in one of the daemon's roots.
        fileprivate var doubtful: [(source: ByteString, root: String)] = []

        /// Which of two files is taken, as a sentence; nil if there is no doubt.
        package var note: String? {
            guard let first = doubtful.first else { return nil }
            let more = doubtful.count > 1 ? " (and \(doubtful.count - 1) more)" : ""
            return
                "‘\(first.source.string.visible)’\(more) is beside the manifest and in \(FileName(first.root).text), one of sources.roots; the one beside the manifest is taken"
        }
    }

    /// - Throws: if a pattern cannot name the files that are beside the manifest.
    package func placement(of sources: some Sequence<ByteString>) throws(ClientError) -> Placement {
        var placement = Placement()
        var seen: Set<ByteString> = []
        for source in sources where seen.insert(source).inserted {
            guard let way = Self.relativePath(source), let found = try place(of: source, way)
            else { continue }
            switch meaning(of: found) {
            case .same: continue
            case .other(let root): placement.doubtful.append((source, root))
            case .unknown: break
            }
            placement.changes[source] = found.source
            if let pattern = found.pattern { placement.patterns.append(pattern) }
        }
        return placement
    }

    /// Looks for the files of relative patterns beside the manifest first, and for relative files to count their pages.
    package func finder(before other: SourceFinder) -> SourceFinder {
        .live { pattern, limit in
            guard Self.relativePath(pattern.text) != nil, !pattern.includesFolders else {
                return other.find(pattern, limit: limit)
            }
            switch local.list(pattern.folder, limit: limit, matches: pattern.matches) {
            case .sources(let files):
                return .files(
                    files.map { file in
                        ByteString(seen(.unchecked(file.string, in: folder)).source)
                    })
            case .nothing: return other.find(pattern, limit: limit)
            case .tooMany: return .tooMany
            }
        } pages: { source, limit in
            Self.relativePath(source).flatMap { local.pages(of: $0, limit) }
                ?? other.pages(of: source, limit)
        }
    }

    // MARK: One source

    private struct Place {
        /// For the daemon.
        let source: ByteString
        /// A pattern with its path; that of a folder ends in `*`.
        var pattern: String?
        var files: SourcePattern?
        /// The file, or the folder of a pattern, to compare it with others.
        let compared: String
        /// The relative path of the same.
        let way: String
    }

    private static func relativePath(_ source: ByteString) -> String? {
        guard let path = SourceReference(source).localPath, path.utf8.first != UInt8(ascii: "/")
        else { return nil }
        return path
    }

    /// nil if there is no such file.
    private func place(of source: ByteString, _ way: String) throws(ClientError) -> Place? {
        let pattern: SourcePattern?
        do {
            pattern = try SourcePattern(source)
        } catch {
            // The check of the manifest says it.
            return nil
        }
        if let pattern { return try place(of: pattern) }
        // A folder is no picture: then the roots may have one.
        guard stat(path: "\(folder)/\(way)")?.isFolder == false else { return nil }
        let picture = seen(.unchecked(way, in: folder))
        guard let path = picture.path else { return nil }
        return Place(source: ByteString(picture.source), compared: path, way: way)
    }

    private func place(of pattern: SourcePattern) throws(ClientError) -> Place? {
        switch local.list(pattern.folder, limit: 1, matches: pattern.matches) {
        case .nothing: return nil
        case .sources, .tooMany: break
        }
        let text = pattern.text.string
        let place = PictureSource.absolute(pattern.folder, in: folder)
        let whole = roots.map { PictureSource.folder(place, seenIn: $0) } ?? place
        guard !whole.unicodeScalars.contains(where: { $0.isControl || $0 == "*" }) else {
            throw ClientError(
                .rejected, code: "bad-source",
                "\(text.visible): it means files in \(FileName(whole).text), and a pattern cannot name a folder whose path has ‘*’ or a control character",
                remedy: "Nothing was submitted. Send the pictures along with --copy.")
        }
        let name = text.utf8.split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
        ).last.map { String(Substring($0)) }
        let end = whole.utf8.last == UInt8(ascii: "/") ? whole : whole + "/"
        let path = end + (name ?? "")
        return Place(
            source: ByteString(path),
            pattern: path.utf8.last == UInt8(ascii: "/") ? path + "*" : path,
            files: pattern, compared: whole, way: pattern.folder.isEmpty ? "." : pattern.folder)
    }

    private func meaning(of place: Place) -> SourceRoots.Meaning {
        guard let roots else { return .unknown }
        return roots.meaning(of: place.compared, place.way) { root in
            guard let pattern = place.files else { return true }
            let listing = LocalSources(roots: [root], view: nil).list(
                pattern.folder, limit: 1, matches: pattern.matches)
            if case .nothing = listing { return false }
            return true
        }
    }

    private func seen(_ picture: PictureSource) -> PictureSource {
        roots.map { picture.seen(in: $0) } ?? picture
    }
}

extension Manifest {
    /// Whether a source may be a relative path.
    package var namesRelativeFiles: Bool {
        hasUnknownSources || !found.isEmpty || !relativePaths.isEmpty
    }

    package func replacing(_ changes: [ByteString: ByteString]) -> Manifest {
        var manifest = self
        for index in images.indices {
            guard let source = images[index].source, let new = changes[source.text]
            else { continue }
            manifest.images[index].origin = .source(SourceReference(new))
        }
        return manifest
    }
}
