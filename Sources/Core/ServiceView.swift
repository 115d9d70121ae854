import SystemPackage

/// What a service with a root folder of its own (`RootDirectory=`) sees of the machine's files: the folders that its
/// unit binds there, and nothing else.
package struct ServiceView: Sendable, Equatable {
    package enum Access: Sendable, Comparable {
        case nothing
        case reading
        case writing
    }

    /// Where the units have it, by which the daemon knows that it is in there. A test holds it against them.
    static let rootDirectory = "/run/darkroom/root"

    /// The unit, as `systemctl edit` takes it: `darkroomd`, `darkroomd@prints`.
    let unit: String
    /// Whether home folders are hidden even where they are bound (`ProtectHome=yes`).
    package let hidesHomes: Bool
    /// What is decided for a folder and all that is beneath it. Of several the nearest counts, and of one that is
    /// there twice the last.
    let folders: [(path: FilePath, access: Access)]

    package init(unit: String, hidesHomes: Bool, folders: [(path: String, access: Access)]) {
        self.unit = unit
        self.hidesHomes = hidesHomes
        self.folders = folders.map { (FilePath($0.path).lexicallyNormalized(), $0.access) }
    }

    package static func == (a: ServiceView, b: ServiceView) -> Bool {
        a.unit == b.unit && a.hidesHomes == b.hidesHomes
            && a.folders.elementsEqual(b.folders) { $0 == $1 }
    }

    package func access(to path: String) -> Access {
        let path = FilePath(path).lexicallyNormalized()
        var nearest: (length: Int, access: Access) = (0, .nothing)
        for folder in folders where path.starts(with: folder.path) {
            let length = folder.path.components.count
            if length >= nearest.length { nearest = (length, folder.access) }
        }
        return nearest.access
    }

    /// What an administrator has to do for the service to get at a folder; nil where it can already, as far as it is
    /// for the unit.
    package func remedy(for folder: String, wanting wanted: Access) -> String? {
        let access = access(to: folder)
        guard access < wanted else { return nil }
        let path = FilePath(folder).lexicallyNormalized()
        let key = wanted == .writing ? "BindPaths" : "BindReadOnlyPaths"
        let isHome = hidesHomes && Self.homes.contains { path.starts(with: FilePath($0)) }
        let lines = (isHome ? "ProtectHome=read-only and " : "") + "\(key)=\(Self.escaped(path))"
        let trouble =
            access == .nothing
            ? "the service has its own root folder and does not see \(path)"
            : "the service may not write to \(path)"
        return "\(trouble): add \(lines) to a drop-in (systemctl edit \(unit)) and restart it"
    }

    /// The same for a file, whose folder is named.
    package func remedy(forFile file: String, wanting wanted: Access) -> String? {
        remedy(for: FilePath(file).removingLastComponent().string, wanting: wanted)
    }

    /// What `ProtectHome=` is about.
    private static let homes = ["/home", "/root", "/run/user"]

    /// As a unit file has it (systemd.exec(5), systemd.syntax(7)).
    private static func escaped(_ path: FilePath) -> String {
        let text = path.string.replacing("%", with: "%%").replacing(":", with: "\\:")
        return text.contains(" ") ? "\"\(text)\"" : text
    }
}
