import Glibc

/// The state of a thread of this process, as the kernel shows it (proc_pid_stat(5)).
package struct ThreadState: Sendable {
    /// The thread's folder beneath /proc, `PID/task/TID`; nil if there is no /proc.
    private let folder: String?

    /// The calling thread.
    package static var current: ThreadState {
        var bytes = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/thread-self", &bytes, bytes.count)
        let text = bytes.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }
        return ThreadState(folder: text.isEmpty ? nil : String(decoding: text, as: UTF8.self))
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
