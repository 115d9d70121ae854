import DarkroomCore
import Foundation
import SystemPackage

/// A relative reference to a file, from the folder of the page.
///
/// Each component is percent-encoded except letters, digits, `-`, `.` and `_`. So there is no scheme: it can be neither
/// `javascript:` nor the name of a host.
package struct PageLink: Sendable, Equatable {
    let text: String

    /// - Parameter components: the names of folders and, at the end, of the file; `..` is the folder above.
    package init(_ components: [ByteString]) {
        text = components.map { PercentEncoding.component($0) }.joined(separator: "/")
    }

    package init(_ components: String...) { self.init(components.map { ByteString($0) }) }

    private init(text: String) { self.text = text }

    func with(fragment: String) -> PageLink {
        PageLink(text: "\(text)#\(PercentEncoding.component(ByteString(fragment)))")
    }
}

extension PageLink {
    /// The components of the way from one folder to another one. A relative path begins in the current folder.
    ///
    /// A browser goes this way by names: for it, `..` after a symbolic link is the folder that has the link.
    static func way(from folder: String, to other: String) -> [ByteString] {
        let from = components(of: folder)
        let to = components(of: other)
        let same = zip(from, to).prefix { $0 == $1 }.count
        return from.dropFirst(same).map { _ in ".." } + to.dropFirst(same)
    }

    private static func components(of path: String) -> [ByteString] {
        FilePath(FileManager.default.currentDirectoryPath).pushing(FilePath(path))
            .lexicallyNormalized().components.map { ByteString($0.string) }
    }
}
