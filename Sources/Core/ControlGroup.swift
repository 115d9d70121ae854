import Foundation

/// The control group (version 2) this process is in, and what it says of memory. Where there is none, as on
/// systems that have only version 1, it says nothing.
package struct ControlGroup: Sendable, Equatable {
    /// Its folder and those above it, the own one first.
    let folders: [String]

    /// - Parameters:
    ///   - membership: The content of /proc/self/cgroup, of which the line `0::PATH` counts.
    ///   - root: Where the hierarchy is mounted.
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

    /// The most memory that the group may take before it is throttled or killed, in bytes; nil where
    /// nothing limits it.
    var memoryLimit: Int? {
        folders.flatMap { folder in
            ["memory.max", "memory.high"].compactMap { name in
                Self.text("\(folder)/\(name)").flatMap { Int($0) }
            }
        }.min()
    }

    /// How often the kernel has killed a process for want of memory, by folder: in this group and in the
    /// nearest one above that says so. A service manager may make the group anew with each start, which
    /// begins its count again; the one above goes on.
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
