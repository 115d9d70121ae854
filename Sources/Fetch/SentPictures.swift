import DarkroomCore
import SystemPackage

/// The pictures that came into the spool together with a manifest, in one folder.
///
/// Their sources are looked for there first. A relative source is a path in the folder. An absolute one is a path as if
/// the folder were `/`: `/home/me/a.jpg` is `home/me/a.jpg` in the folder. So nobody has to rewrite a manifest in order
/// to send its pictures along, and its answer names the pictures as their owner does.
///
/// A source that begins with `./` is looked for there only (`isOnlySent`), also after the folder is gone: another file
/// of the same path in the roots is another picture. The manifests that the daemon writes have such sources. Once the
/// folder is gone, no relative source is looked for in the roots, because it may have been in the folder; an absolute
/// one is.
package enum SentPictures: Sendable {
    case here(Folder)
    /// They were removed when the batch ended, and a `retry` has reopened it.
    case gone

    package struct Folder: Sendable {
        package let directory: Directory
        /// Its owner. A picture of another user is refused: a hard link to it does not show that the submitter may
        /// read it.
        package let owner: UInt32

        package init(_ directory: Directory, owner: UInt32) {
            self.directory = directory
            self.owner = owner
        }
    }
}

extension SentPictures {
    /// Whether a source, or the folder of a pattern, means only what was sent along.
    static func isOnlySent(_ path: String) -> Bool {
        path == "." || path.utf8.starts(with: "./".utf8)
    }

    /// The same for a source of this batch. When the folder is gone, every relative source may have been in it.
    func isOnlySent(_ path: String) -> Bool {
        if case .gone = self, path.utf8.first != UInt8(ascii: "/") { return true }
        return Self.isOnlySent(path)
    }

    /// The path from the folder to a source; empty for the folder itself.
    static func relativePath(of source: String) -> String {
        String(Substring(source.utf8.drop { $0 == UInt8(ascii: "/") }))
    }
}

extension LocalSources {
    /// Whether a source of a batch was one of the pictures that came with its manifest, so that it is there no longer. An
    /// absolute path may have been one as well as a file in the roots; the roots are asked.
    package func isGone(_ source: SourceReference) -> Bool {
        guard let path = source.localPath else { return false }
        do throws(FetchError) {
            _ = try open(path, sent: .gone)
            return false
        } catch {
            return error.kind == .sourceGone
        }
    }

    /// nil if the folder has no such file, so that the roots are next.
    func openSent(
        _ path: String, in folder: SentPictures.Folder, _ shown: RedactedURL
    ) throws(FetchError) -> OpenedFile? {
        let relativePath = SentPictures.relativePath(of: path)
        guard !relativePath.isEmpty else { return nil }
        let descriptor: Descriptor
        do throws(Errno) {
            descriptor = try resolution.open(
                relativePath, beneath: folder.directory.number, followsLinks: false)
        } catch .noSuchFileOrDirectory, .notDirectory, .improperLink {
            return nil
        } catch .tooManySymbolicLinkLevels {
            throw FetchError(
                .sourceForbidden,
                "\(shown): a symbolic link; links in a submitted folder are not followed")
        } catch {
            throw .opening(shown, error, in: "the submitted folder")
        }
        return try checked(
            descriptor, path: "\(folder.directory.path)/\(relativePath)", owner: folder.owner,
            shown: shown)
    }
}

extension FetchError {
    /// The error for a file that is not among the pictures that were sent along.
    ///
    /// - Parameter roots: where else it is not; empty if it was looked for nowhere else.
    static func notSent(
        _ shown: RedactedURL, _ sent: SentPictures, roots: String = ""
    ) -> FetchError {
        switch sent {
        case .here:
            let places = roots.isEmpty ? "" : ", nor in sources.roots (\(roots))"
            return FetchError(
                .sourceMissing, "\(shown): no such file in the submitted folder\(places)")
        case .gone:
            return FetchError(
                .sourceGone,
                "\(shown): the pictures that came with the manifest were removed when the batch ended; submit "
                    + "them again")
        }
    }
}
