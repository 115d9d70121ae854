import Foundation

/// The daemon's own view, by its mount table. That tells of itself which folder is the root, and what is bound there,
/// drop-ins included; an environment variable of the unit would go on saying so where a drop-in has taken
/// `RootDirectory=` back.
extension ServiceView {
    /// Of this process; nil where its root folder is the machine's.
    package static let current: ServiceView? = {
        func text(_ name: String) -> String {
            let bytes = FileManager.default.contents(atPath: "/proc/self/\(name)") ?? Data()
            return String(decoding: bytes, as: UTF8.self)
        }
        return ServiceView(mountTable: text("mountinfo"), membership: text("cgroup"))
    }()

    /// - Parameters:
    ///   - mountTable: the content of /proc/self/mountinfo.
    ///   - membership: that of /proc/self/cgroup.
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

    /// The root's folder within its file system, which is that of /run as a rule: the path without that.
    /// (Elsewhere a root is `/`, or a subvolume or a container's folder, of other names.)
    private static func isOwnRoot(_ source: String) -> Bool {
        [rootDirectory, String(rootDirectory.dropFirst("/run".count))].contains(source)
    }

    /// The last part of the control group's path: `darkroomd@prints` of …/darkroomd@prints.service.
    private static func unit(_ membership: String) -> String {
        let suffix = ".service"
        let names = membership.split(separator: "\n").flatMap { $0.split(separator: "/") }
        let service = names.last { $0.hasSuffix(suffix) && $0.hasPrefix("darkroomd") }
        return service.map { String($0.dropLast(suffix.count)) } ?? "darkroomd"
    }
}

/// A line of the mount table (proc(5)).
private struct Mount {
    /// The folder of its file system that is mounted.
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

    /// Spaces, tabs, line ends and backslashes are octal numbers.
    private static func unescaped(_ field: Substring) -> String {
        var text = String(field)
        for (code, character) in [("040", " "), ("011", "\t"), ("012", "\n"), ("134", "\\")] {
            text.replace("\\" + code, with: character)
        }
        return text
    }
}
