import Foundation
import Glibc

/// What there is to know of the machine that Darkroom runs on.
package enum Machine {
    /// Names the time since the machine was started; empty where that cannot be known.
    ///
    /// A service that sees nothing of /proc but its own processes is told by its unit, in `BOOT_ID`.
    package static var bootID: String {
        let path = "/proc/sys/kernel/random/boot_id"
        let text =
            (try? String(contentsOfFile: path, encoding: .utf8))
            ?? ProcessInfo.processInfo.environment["BOOT_ID"] ?? ""
        // The kernel writes it with hyphens, systemd without.
        return text.trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
            .filter { $0.isHexDigit }
    }

    /// The time of this program's file, in seconds since 1970: a package has that of the commit it was built from. 0
    /// where it is not known.
    package static let programTime: Double = {
        var information = stat()
        guard stat("/proc/self/exe", &information) == 0 else { return 0 }
        return Double(information.st_mtim.tv_sec)
    }()

    /// The memory this process could take, in bytes: that of the machine, or what its control group
    /// allows where that is less.
    package static var memory: Int {
        let pages = sysconf(Int32(_SC_PHYS_PAGES))
        // Where the system does not say, nothing is known to limit it.
        let physical =
            pages > 0 ? pages.saturatingMultiply(sysconf(Int32(_SC_PAGESIZE))) : .max
        return min(physical, ControlGroup.current.memoryLimit ?? .max)
    }
}
