import Foundation

/// The control group of this process, of version 1 or 2, and its limits. A process has one group of version 2 and one
/// for each controller of version 1; each controller is in use in one of the versions.
package struct ControlGroup: Sendable, Equatable {
    /// A controller whose limits count here.
    enum Controller: String, CaseIterable {
        case memory, cpu
    }

    /// The group's folder of version 2 and those above it, beginning with the group's own.
    let folders: [String]
    /// The same for the controllers of version 1.
    let oldFolders: [Controller: [String]]

    /// - Parameters:
    ///   - membership: the content of /proc/self/cgroup.
    ///   - mounts: the content of /proc/self/mountinfo.
    init(membership: String, mounts: String) {
        let mounts = mounts.split(separator: "\n").compactMap { MountEntry($0) }
        var folders: [String] = []
        var oldFolders: [Controller: [String]] = [:]
        for line in membership.split(separator: "\n") {
            // "4:memory:/group", or "0::/group" for version 2.
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { continue }
            if fields[0] == "0", fields[1].isEmpty {
                let found = mounts.filter { $0.fileSystem == "cgroup2" }
                folders = Self.mount(of: fields[2], among: found)?.folders(of: fields[2]) ?? []
            }
            for name in fields[1].split(separator: ",") {
                guard let controller = Controller(rawValue: String(name)) else { continue }
                let found = mounts.filter { $0.fileSystem == "cgroup" && $0.options.contains(name) }
                oldFolders[controller] = Self.mount(of: fields[2], among: found)?
                    .folders(of: fields[2])
            }
        }
        self.folders = folders
        self.oldFolders = oldFolders
    }

    /// The first mount that shows the group. A part of the hierarchy may be mounted elsewhere, too.
    private static func mount(of group: Substring, among mounts: [MountEntry]) -> MountEntry? {
        mounts.first { $0.shows(group) } ?? mounts.first
    }

    package static var current: ControlGroup {
        let texts = ["cgroup", "mountinfo"].map { WholeFile.kernelText("/proc/self/\($0)") ?? "" }
        return ControlGroup(membership: texts[0], mounts: texts[1])
    }

    /// The memory that the group may use before it is throttled or killed, in bytes; nil if there is no limit.
    var memoryLimit: Int? {
        let new = folders.flatMap { ["\($0)/memory.max", "\($0)/memory.high"] }
        let old = (oldFolders[.memory] ?? []).map { "\($0)/memory.limit_in_bytes" }
        return (new + old).compactMap { Self.text($0).flatMap { Int($0) } }.min()
    }

    /// The number of cores whose whole time the group may use, rounded up; nil if there is no limit.
    var coreLimit: Int? {
        let new = folders.compactMap { folder -> Double? in
            // "QUOTA PERIOD" or "max PERIOD", in microseconds.
            let words = Self.text("\(folder)/cpu.max")?.split(separator: " ") ?? []
            return words.count == 2 ? Self.cores(words[0], words[1]) : nil
        }
        let old = (oldFolders[.cpu] ?? []).compactMap { folder -> Double? in
            // A quota of -1 is no limit.
            guard let quota = Self.text("\(folder)/cpu.cfs_quota_us"),
                let period = Self.text("\(folder)/cpu.cfs_period_us")
            else { return nil }
            return Self.cores(quota, period)
        }
        return (new + old).min().map { max(1, Int(clamping: $0.rounded(.up))) }
    }

    private static func cores(
        _ quota: some StringProtocol, _ period: some StringProtocol
    ) -> Double? {
        guard let quota = Double(quota), let period = Double(period), quota > 0, period > 0
        else { return nil }
        return quota / period
    }

    /// The number of processes that the kernel has killed because of a lack of memory, by folder: for this group and
    /// for the nearest group above it that has this number. A service manager may create the group anew at each start,
    /// so that its count begins again; the count of the group above continues.
    package var outOfMemoryKills: [String: Int] {
        var kills: [String: Int] = [:]
        let files =
            folders.map { ($0, "memory.events") }
            + (oldFolders[.memory] ?? []).map { ($0, "memory.oom_control") }
        for (folder, file) in files where kills.count < 2 {
            let lines = Self.text("\(folder)/\(file)")?.split(separator: "\n") ?? []
            let words = lines.map { $0.split(separator: " ") }
            if let line = words.first(where: { $0.first == "oom_kill" }), line.count == 2 {
                kills[folder] = Int(line[1])
            }
        }
        return kills
    }

    private static func text(_ path: String) -> String? {
        WholeFile.kernelText(path)?.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

extension MountEntry {
    fileprivate func shows(_ group: Substring) -> Bool {
        group.split(separator: "/").starts(with: source.split(separator: "/"))
    }

    /// The folders of a control group, beginning with its own. In a container that sees only a part of the hierarchy, a
    /// group outside of it is that part.
    fileprivate func folders(of group: Substring) -> [String] {
        let names = group.split(separator: "/")
        let root = source.split(separator: "/")
        var rest = names.starts(with: root) ? names.dropFirst(root.count) : []
        var folders: [String] = []
        while !rest.isEmpty {
            folders.append(([point] + rest.map(String.init)).joined(separator: "/"))
            rest.removeLast()
        }
        return folders + [point]
    }
}
