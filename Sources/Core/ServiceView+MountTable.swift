/// The daemon's own view, according to its mount table. The mount table shows the root folder and the folders that are
/// bound there, including those of drop-ins. An environment variable of the unit would not notice a drop-in that resets
/// `RootDirectory=`.
extension ServiceView {
    /// The view of this process; nil if its root folder is that of the machine.
    package static let current: ServiceView? = {
        func text(_ name: String) -> String { WholeFile.kernelText("/proc/self/\(name)") ?? "" }
        return ServiceView(mountTable: text("mountinfo"), membership: text("cgroup"))
    }()

    /// - Parameters:
    ///   - mountTable: the content of /proc/self/mountinfo.
    ///   - membership: the content of /proc/self/cgroup.
    init?(mountTable: String, membership: String) {
        let mounts = mountTable.split(separator: "\n").compactMap(MountEntry.init)
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

extension MountEntry {
    /// systemd's empty folder that nobody may enter (`InaccessiblePaths=`, `ProtectHome=`).
    fileprivate var isHidden: Bool { source.hasSuffix("/systemd/inaccessible/dir") }

    /// The service's own /tmp or /var/tmp (`PrivateTmp=`).
    fileprivate var isTemporary: Bool { source.contains("/systemd-private-") }
}
