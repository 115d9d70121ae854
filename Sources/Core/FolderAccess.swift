import Glibc
import SystemPackage

/// Why the user of this process cannot use a folder of the daemon, and what helps. It is determined without changing
/// anything: by the check of a configuration, and after a failed start.
package struct FolderAccess: Equatable {
    /// The problem, with the file and the system's error.
    let obstacle: String
    /// What an administrator has to do; nil if that is obvious.
    package let remedy: String?

    package var words: String { obstacle + (remedy.map { "; \($0)" } ?? "") }

    /// The kind of a folder of the daemon, and the access that the daemon needs to its content.
    private struct Kind {
        let name: String
        let contents: [(name: String, access: CInt)]
        /// Files that show that an existing folder is of this kind.
        let signs: [String]
    }

    private static let all = R_OK | W_OK | X_OK

    /// - Returns: nil if there is no problem, or if it cannot be determined.
    package static func ofSpool(_ path: String) -> FolderAccess? {
        of(
            path,
            Kind(
                name: "spool",
                contents: [
                    ("lock", R_OK | W_OK), ("attempts", R_OK | W_OK), ("inbox", all),
                    ("tmp", R_OK | X_OK), ("active", all), ("outbox", all),
                ], signs: ["active", "outbox"]))
    }

    /// - Returns: nil if there is no problem, or if it cannot be determined.
    package static func ofCache(_ path: String) -> FolderAccess? {
        of(
            path,
            Kind(
                name: "cache", contents: [("lock", R_OK | W_OK), ("new", all), ("00", all)],
                signs: ["new", "00"]))
    }

    /// Why this user cannot add or replace files in a folder; nil if it can.
    package static func toWriteInto(_ folder: String) -> String? {
        errno(folder, W_OK | X_OK).map { "\(folder) cannot be written by user \(user): \($0)" }
    }

    /// Why this user cannot take pictures from a folder; nil if it can.
    ///
    /// - Parameter changing: whether it must be able to remove them.
    package static func toTake(from folder: String, changing: Bool) -> String? {
        errno(folder, R_OK | X_OK | (changing ? W_OK : 0)).map {
            "\(folder) cannot be \(changing ? "changed" : "read") by user \(user): \($0)"
        }
    }

    private static func of(_ path: String, _ kind: Kind) -> FolderAccess? {
        let path = FilePath(path).lexicallyNormalized()
        var parent = FilePath(root: path.root)
        for component in path.components {
            let folder = parent.appending(component)
            switch errno(folder.string, X_OK) {
            case nil: break
            case .noSuchFileOrDirectory?: return missing(path, below: parent, kind)
            case .permissionDenied? where folder != path:
                return FolderAccess(
                    obstacle: "\(folder) cannot be entered by user \(user)",
                    remedy:
                        "let the user that runs the daemon enter \(folder), or use another folder for the \(kind.name)"
                )
            case .permissionDenied?: break
            default: return nil
            }
            parent = folder
        }
        return present(path, kind)
    }

    private static func missing(
        _ path: FilePath, below parent: FilePath, _ kind: Kind
    ) -> FolderAccess? {
        guard let error = errno(parent.string, W_OK | X_OK) else { return nil }
        let isDeep = path.removingLastComponent() != parent
        let obstacle =
            isDeep
            ? "there is no folder \(path.removingLastComponent()), and user \(user) may not create one in \(parent)"
            : "user \(user) may not create it in \(parent)"
        guard error == .permissionDenied else {
            return FolderAccess(obstacle: "\(obstacle): \(error)", remedy: nil)
        }
        let command = "install -d -o \(user) -g \(getegid()) \(path.string.shellQuoted)"
        return FolderAccess(
            obstacle: obstacle,
            remedy: (isDeep ? "correct the path, or let" : "let")
                + " root create the \(kind.name) for the user that runs the daemon: \(command)")
    }

    private static func present(_ path: FilePath, _ kind: Kind) -> FolderAccess? {
        let parts = [(path, all)] + kind.contents.map { (path.appending($0.name), $0.access) }
        for (part, access) in parts {
            guard let error = errno(part.string, access), error != .noSuchFileOrDirectory
            else { continue }
            return FolderAccess(
                obstacle: "\(part) cannot be used by user \(user): \(error)",
                remedy: error == .permissionDenied ? handOver(path, kind) : nil)
        }
        return nil
    }

    /// The commands that give a folder to this user. Only an empty folder, or one that Darkroom has created, is given
    /// with its content, because the path may be wrong.
    private static func handOver(_ path: FilePath, _ kind: Kind) -> String {
        let words = "the \(kind.name) must belong to the user that runs the daemon (\(user))"
        if kind.signs.allSatisfy({ errno(path.appending($0).string, F_OK) == nil }) {
            return "\(words): chown -R \(user) \(path.string.shellQuoted)"
        }
        if let folder = try? Directory(path: path.string), (try? folder.names())?.isEmpty == true {
            return "\(words): chown \(user) \(path.string.shellQuoted)"
        }
        return "\(words); use a separate folder for it"
    }

    private static var user: UInt32 { geteuid() }

    /// Why this user does not have this access to a file; nil if it has.
    private static func errno(_ path: String, _ access: CInt) -> Errno? {
        faccessat(AT_FDCWD, path, access, AT_EACCESS) == 0 ? nil : Errno(rawValue: Glibc.errno)
    }
}
