import Foundation

/// The control group (version 2) of this process, and its memory limits. On systems that have only version 1, all
/// values are missing.
package struct ControlGroup: Sendable, Equatable {
    /// The group's folder and those above it, beginning with the group's own.
    let folders: [String]

    /// - Parameters:
    ///   - membership: the content of /proc/self/cgroup; only the line `0::PATH` is used.
    ///   - root: the mount point of the hierarchy.
    init(membership: String, root: String) {
        let prefix = "0::/"
        guard let line = membership.split(separator: "\n").first(where: { $0.hasPrefix(prefix) })
        else {
            folders = []
            return
        }
        var names = line.dropFirst(prefix.count).split(separator: "/").map(String.init)
        var folders: [String] = []
        while !names.isEmpty {
            folders.append(([root] + names).joined(separator: "/"))
            names.removeLast()
        }
        self.folders = folders + [root]
    }

    package static var current: ControlGroup {
        let membership = try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)
        return ControlGroup(membership: membership ?? "", root: "/sys/fs/cgroup")
    }

    /// The memory that the group may use before it is throttled or killed, in bytes; nil if there is no limit.
    var memoryLimit: Int? {
        folders.flatMap { folder in
            ["memory.max", "memory.high"].compactMap { name in
                Self.text("\(folder)/\(name)").flatMap { Int($0) }
            }
        }.min()
    }

    /// The number of processes that the kernel has killed because of a lack of memory, by folder: for this group and
    /// for the nearest group above it that has this number. A service manager may create the group anew at each start,
    /// so that its count begins again; the count of the group above continues.
    package var outOfMemoryKills: [String: Int] {
        var kills: [String: Int] = [:]
        for folder in folders where kills.count < 2 {
            let lines = Self.text("\(folder)/memory.events")?.split(separator: "\n") ?? []
            let words = lines.map { $0.split(separator: " ") }
            if let line = words.first(where: { $0.first == "oom_kill" }), line.count == 2 {
                kills[folder] = Int(line[1])
            }
        }
        return kills
    }

    private static func text(_ path: String) -> String? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
