import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import Foundation
import Glibc

/// Where a daemon can read local pictures, as far as its last report tells.
package struct SourceRoots: Sendable {
    private let limits: QueueReport.Limits

    package init(_ limits: QueueReport.Limits) { self.limits = limits }

    /// The names that no listing of a folder has.
    var ignoredNames: IgnoredNames { limits.ignoredNames }

    func contain(_ path: String) -> Bool {
        limits.readableRoots.contains { Self.contains($0, path) }
    }

    /// The first of the paths that the daemon cannot read, with the reason; nil if it can read all of them.
    package func obstacle(among paths: [String]) -> ClientError? {
        let unreadable = paths.filter { !contain($0) }
        guard let first = unreadable.first else { return nil }
        let more = unreadable.count > 1 ? " and \(unreadable.count - 1) more" : ""
        return ClientError(
            .rejected, code: "source-forbidden",
            "darkroomd cannot read \(first.visible)\(more): \(reason(first))",
            remedy: "Nothing was submitted. \(remedy)\nWith --anyway it is submitted nevertheless.")
    }

    /// The first of the relative paths that is in none of the roots; nil if there is none, or if this user may not look
    /// into all roots.
    package func absence(among paths: [String]) -> ClientError? {
        let roots = limits.readableRoots
        guard !roots.isEmpty, roots.allSatisfy({ access($0, X_OK) == 0 }) else { return nil }
        let absent = paths.filter { path in roots.allSatisfy { Self.lacks($0, path) } }
        guard let first = absent.first else { return nil }
        let more = absent.count > 1 ? " and \(absent.count - 1) more" : ""
        return ClientError(
            .rejected, code: "source-missing",
            "\(first.visible)\(more): no such file beside the manifest, nor in sources.roots (\(roots.joined(separator: ", ").visible))",
            remedy:
                "Nothing was submitted. Put the files there, or correct their paths; or submit with --anyway, if the files come before their turn."
        )
    }

    /// What a relative path means for the daemon.
    enum Meaning: Equatable {
        /// Nothing, or this user may not see it.
        case unknown
        case same
        /// Another file, in this root.
        case other(String)
    }

    /// Whether a relative path means this file or folder for the daemon: it takes the first root that has one.
    ///
    /// - Parameter counts: whether a root counts.
    func meaning(of path: String, _ way: String, where counts: (String) -> Bool) -> Meaning {
        guard let own = stat(path: path) else { return .unknown }
        var isSure = true
        for root in limits.readableRoots {
            guard let other = stat(path: "\(root)/\(way)") else {
                if errno != ENOENT, errno != ENOTDIR { isSure = false }
                continue
            }
            guard counts(root) else { continue }
            let isSame = (own.st_dev, own.st_ino) == (other.st_dev, other.st_ino)
            return isSame ? isSure ? .same : .unknown : .other(root)
        }
        return .unknown
    }

    private static func lacks(_ root: String, _ path: String) -> Bool {
        let found = stat(path: "\(root)/\(path)", followsLink: false)
        return found == nil && (errno == ENOENT || errno == ENOTDIR)
    }

    private func reason(_ path: String) -> String {
        if limits.sourceRoots.contains(where: { Self.contains($0, path) }) {
            return "its service does not see this folder"
        }
        if limits.sourceRoots.isEmpty { return "sources.roots allows no local pictures" }
        return
            "it is not in one of sources.roots (\(limits.sourceRoots.joined(separator: ", ").visible))"
    }

    private var remedy: String {
        guard let root = limits.readableRoots.first else {
            return "Send the pictures along with --copy, or name them by URLs."
        }
        return
            "Send the pictures along with --copy, put them into \(root.visible), or name them by URLs."
    }

    private static func contains(_ root: String, _ path: String) -> Bool {
        let parts = root.utf8.split(separator: UInt8(ascii: "/"))
        let others = path.utf8.split(separator: UInt8(ascii: "/"))
        return others.count > parts.count
            && zip(parts, others).allSatisfy { $0.elementsEqual($1) }
    }
}

extension Manifest {
    /// The local files that it names by relative paths. Such a path begins at each of the roots in turn.
    package var relativePaths: [String] { localPaths { $0.utf8.first != UInt8(ascii: "/") } }

    /// The local files that it names by absolute paths or by `file:` URLs.
    package var absolutePaths: [String] { localPaths { $0.utf8.first == UInt8(ascii: "/") } }

    private func localPaths(_ isWanted: (String) -> Bool) -> [String] {
        images.compactMap { $0.source?.localPath }.filter(isWanted)
    }
}
