import Foundation

/// The daemon's own view, according to its mount table. The mount table shows the root folder and the folders that are
/// bound there, including those of drop-ins. An environment variable of the unit would not notice a drop-in that resets
/// `RootDirectory=`.
extension ServiceView {
    /// The view of this process; nil if its root folder is that of the machine.
    package static let current: ServiceView? = {
        func text(_ name: String) -> String {
            let bytes = FileManager.default.contents(atPath: "/proc/self/\(name)") ?? Data()
            return String(decoding: bytes, as: UTF8.self)
        }
        return ServiceView(mountTable: text("mountinfo"), membership: text("cgroup"))
    }()

    /// - Parameters:
    ///   - mountTable: the content of /proc/self/mountinfo.
    ///   - membership: the content of /proc/self/cgroup.
    init?(mountTable: String, membership: String) {
        let mounts = mountTable.split(separator: "\n").compactMap(Mount.init)
        guard let root = mounts.last(where: { $0.point == "/" }),
            Self.isOwnRoot(root.source)
        else { return nil }
        self.init(
            unit: Self.unit(membership),
            hidesHomes: mounts.contains { $0.point == "/root" && $0.isHidden },
            folders: mounts.map { mount in
                let isPrivate =
                    mount.isHidden || mount.isTemporary || mount.point == "/"
                    || mount.source.hasPrefix(root.source + "/")
                return (mount.point, isPrivate ? .nothing : mount.isReadOnly ? .reading : .writing)
            })
    }

    /// Whether the source of the root mount is the service's own root folder. The folder is usually within the file
    /// system of /run, so its path there lacks /run. (Elsewhere the source of a root is `/`, or a subvolume or a
    /// container's folder with another name.)
    private static func isOwnRoot(_ source: String) -> Bool {
        [rootDirectory, String(rootDirectory.dropFirst("/run".count))].contains(source)
    }

    /// The last component of the control group's path: `darkroomd@prints` of …/darkroomd@prints.service.
    private static func unit(_ membership: String) -> String {
        let suffix = ".service"
        let names = membership.split(separator: "\n").flatMap { $0.split(separator: "/") }
        let service = names.last { $0.hasSuffix(suffix) && $0.hasPrefix("darkroomd") }
        return service.map { String($0.dropLast(suffix.count)) } ?? "darkroomd"
    }
}

/// A line of the mount table (proc(5)).
private struct Mount {
    /// The mounted folder, as a path in its file system.
    let source: String
    let point: String
    let isReadOnly: Bool

    init?(_ line: Substring) {
        // 36 35 98:0 /source /point rw,noatime …
        let fields = line.split(separator: " ")
        guard fields.count > 5 else { return nil }
        source = Self.unescaped(fields[3])
        point = Self.unescaped(fields[4])
        isReadOnly = fields[5].split(separator: ",").first == "ro"
    }

    /// systemd's empty folder that nobody may enter (`InaccessiblePaths=`, `ProtectHome=`).
    var isHidden: Bool { source.hasSuffix("/systemd/inaccessible/dir") }

    /// The service's own /tmp or /var/tmp (`PrivateTmp=`).
    var isTemporary: Bool { source.contains("/systemd-private-") }

    /// Spaces, tabs, newlines and backslashes are written as octal numbers.
    private static func unescaped(_ field: Substring) -> String {
        var text = String(field)
        for (code, character) in [("040", " "), ("011", "\t"), ("012", "\n"), ("134", "\\")] {
            text.replace("\\" + code, with: character)
        }
        return text
    }
}
