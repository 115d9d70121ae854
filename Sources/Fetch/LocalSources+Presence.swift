import DarkroomCore
import Glibc
import SystemPackage

/// Looks at a source without reading it.
extension LocalSources {
    package enum Presence: Sendable {
        case file(stat)
        /// Its folder has no such file.
        case gone
        /// It cannot be looked at, is not a regular file, or its folder is not there: a file system may not be mounted. Who
        /// opens it learns why.
        case unknown
    }

    /// What `open` would find now. Without roots, this is one call of the system for a file that is there.
    package func presence(of path: String) -> Presence {
        guard let base else {
            do throws(FetchError) {
                return .file(try open(path).information)
            } catch {
                let isGone =
                    error.kind == .sourceMissing
                    && roots.allSatisfy { Self.isFolder($0) }
                    && roots.contains { Self.lacksOnlyTheFile(Self.joined($0, path)) }
                return isGone ? .gone : .unknown
            }
        }
        let whole = Self.joined(base, path)
        guard let information = stat(path: whole) else {
            return errno == ENOENT && Self.lacksOnlyTheFile(whole) ? .gone : .unknown
        }
        return information.isRegularFile ? .file(information) : .unknown
    }

    /// Whether the folder of a file that is gone is on another device than the file was: then its file system is probably
    /// not mounted there.
    ///
    /// - Parameter identity: the former one of the file (`SourceIdentity.text`); nil if it is not known.
    package func mayBeUnmounted(_ path: String, formerly identity: String?) -> Bool {
        guard let device = identity.flatMap(SourceIdentity.device) else { return false }
        let folders = base.map { [Self.joined($0, path)] } ?? roots.map { Self.joined($0, path) }
        return folders.allSatisfy { file in
            let folder = stat(path: FilePath(file).removingLastComponent().string)
            return folder.map { UInt64($0.st_dev) != device } ?? true
        }
    }

    /// Whether the folder of a file is there, and has not even a link of this name: a link may lead to a file system that
    /// is not mounted.
    private static func lacksOnlyTheFile(_ path: String) -> Bool {
        guard stat(path: path, followsLink: false) == nil, errno == ENOENT else { return false }
        return isFolder(FilePath(path).removingLastComponent().string)
    }

    private static func isFolder(_ path: String) -> Bool { stat(path: path)?.isFolder == true }

    /// Reads a source: its SHA-256 in hexadecimal, and what it was before; nil if it cannot be read or is being changed.
    package func digest(of path: String) -> (sha256: String, identity: SourceIdentity?)? {
        // Before it is opened: a change between the two must not look old.
        let now = Clock.wall
        guard let file = try? open(path),
            let sha256 = try? file.descriptor.sha256(path: file.path),
            let after = try? file.descriptor.information(path: file.path),
            SourceIdentity(after) == SourceIdentity(file.information)
        else { return nil }
        return (sha256, SourceIdentity(settled: file.information, at: now))
    }
}
