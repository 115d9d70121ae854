import CDarkroomShims

/// The state of a thread of this process, as the kernel shows it (proc_pid_stat(5)).
package struct ThreadState: Sendable {
    /// The thread's folder beneath /proc, `PID/task/TID`; nil if there is no /proc.
    let folder: String?

    package static var current: ThreadState {
        let text = String(cString: darkroom_thread_folder())
        return ThreadState(folder: text.isEmpty ? nil : text)
    }

    /// Whether the thread waits in the kernel for a disk or a file server, in a call that a signal cannot end.
    package var waitsForDisk: Bool {
        guard let folder, let directory = try? Directory(path: "/proc/\(folder)"),
            let stat = try? directory.read("stat", upTo: 512)
        else { return false }
        return Self.waitsForDisk(stat: String(decoding: stat, as: UTF8.self))
    }

    /// The state is the letter after the name. The name is in parentheses and may contain any character.
    static func waitsForDisk(stat: String) -> Bool {
        guard let end = stat.lastIndex(of: ")") else { return false }
        return stat[stat.index(after: end)...].split(separator: " ").first == "D"
    }
}
