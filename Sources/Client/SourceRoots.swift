import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Foundation

/// Where a daemon can read local pictures, as far as its last report tells.
package struct SourceRoots: Sendable {
    private let limits: QueueReport.Limits

    package init(_ limits: QueueReport.Limits) {
        self.limits = limits
    }

    /// Whether the daemon can read files at this path.
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
            "darkroomd cannot read \(first)\(more): \(reason(first))",
            remedy: "Nothing was submitted. \(remedy)")
    }

    private func reason(_ path: String) -> String {
        if limits.sourceRoots.contains(where: { Self.contains($0, path) }) {
            return "its service does not see this folder"
        }
        if limits.sourceRoots.isEmpty { return "sources.roots allows no local pictures" }
        return "it is not in one of sources.roots (\(limits.sourceRoots.joined(separator: ", ")))"
    }

    private var remedy: String {
        guard let root = limits.readableRoots.first else {
            return "Send the pictures along with --copy, or name them by URLs."
        }
        return "Send the pictures along with --copy, put them into \(root), or name them by URLs."
    }

    /// Whether the path is beneath the folder.
    private static func contains(_ root: String, _ path: String) -> Bool {
        let parts = root.utf8.split(separator: UInt8(ascii: "/"))
        let others = path.utf8.split(separator: UInt8(ascii: "/"))
        return others.count > parts.count
            && zip(parts, others).allSatisfy { $0.elementsEqual($1) }
    }
}

extension Manifest {
    /// The local files that it names by absolute paths or by `file:` URLs. A relative path begins at each of the roots
    /// in turn, so only the daemon can tell which file it means.
    package var absolutePaths: [String] {
        images.compactMap { image in
            guard case .source(let source) = image.origin else { return nil }
            if source.utf8.first == UInt8(ascii: "/") { return source.string }
            guard source.asciiLowercased.hasPrefix("file:/") else { return nil }
            return URL(string: source.string)?.path(percentEncoded: false)
        }
    }
}
