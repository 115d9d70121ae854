import SystemPackage

/// The files of the machine that a service with its own root folder (`RootDirectory=`) sees: the folders that its unit
/// binds there, and nothing else.
package struct ServiceView: Sendable, Equatable {
    package enum Access: Sendable, Comparable {
        case nothing
        case reading
        case writing
    }

    /// The root folder of the units, by which the daemon recognizes that it runs in it. A test compares it with the
    /// units.
    static let rootDirectory = "/run/darkroom/root"

    /// The name of the unit for `systemctl edit`: `darkroomd`, `darkroomd@prints`.
    package let unit: String
    /// Whether home folders are hidden even if they are bound (`ProtectHome=yes`).
    package let hidesHomes: Bool
    /// The access to a folder and everything beneath it. The nearest folder applies, and of two equal ones the last.
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

    /// What an administrator has to do to give the service access to a folder; nil if it has access, as far as the unit
    /// is concerned.
    package func remedy(for folder: String, wanting wanted: Access) -> String? {
        let access = access(to: folder)
        guard access < wanted else { return nil }
        let path = FilePath(folder).lexicallyNormalized()
        let lines = lines(for: folder, wanting: wanted).joined(separator: " and ")
        let trouble =
            access == .nothing
            ? "the service has its own root folder and does not see \(path)"
            : "the service may not write to \(path)"
        return "\(trouble): add \(lines) to a drop-in (systemctl edit \(unit)) and restart it"
    }

    /// The lines of the section [Service] that give the service access to a folder; empty if it has access.
    package func lines(for folder: String, wanting wanted: Access) -> [String] {
        guard access(to: folder) < wanted else { return [] }
        let path = FilePath(folder).lexicallyNormalized()
        let key = wanted == .writing ? "BindPaths" : "BindReadOnlyPaths"
        let isHome = hidesHomes && Self.homes.contains { path.starts(with: FilePath($0)) }
        return (isHome ? ["ProtectHome=read-only"] : []) + ["\(key)=\(Self.escaped(path))"]
    }

    /// The same for a file; the folder of the file is named.
    package func remedy(forFile file: String, wanting wanted: Access) -> String? {
        remedy(for: FilePath(file).removingLastComponent().string, wanting: wanted)
    }

    /// The folders that `ProtectHome=` hides.
    private static let homes = ["/home", "/root", "/run/user"]

    /// The path as a unit file needs it (systemd.exec(5), systemd.syntax(7)).
    private static func escaped(_ path: FilePath) -> String {
        let text = path.string.replacing("%", with: "%%").replacing(":", with: "\\:")
        return text.contains(" ") ? "\"\(text)\"" : text
    }
}
