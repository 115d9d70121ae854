import Foundation
import Glibc

/// What there is to know of the machine that Darkroom runs on.
enum Machine {
    /// Names the time since the machine was started; empty where that cannot be known.
    ///
    /// A service that sees nothing of /proc but its own processes is told by its unit, in `BOOT_ID`.
    static var bootID: String {
        let path = "/proc/sys/kernel/random/boot_id"
        let text =
            (try? String(contentsOfFile: path, encoding: .utf8))
            ?? ProcessInfo.processInfo.environment["BOOT_ID"] ?? ""
        // The kernel writes it with hyphens, systemd without.
        return text.trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
            .filter { $0.isHexDigit }
    }

    /// The memory this process could take, in bytes: that of the machine, or what its control group
    /// allows where that is less.
    static var memory: Int {
        let pages = sysconf(Int32(_SC_PHYS_PAGES))
        // Where the system does not say, nothing is known to limit it.
        let physical =
            pages > 0 ? pages.saturatingMultiply(sysconf(Int32(_SC_PAGESIZE))) : .max
        return min(physical, ControlGroup.current.memoryLimit ?? .max)
    }
}
