import CDarkroomShims
import Foundation
import Glibc

package enum Machine {
    /// Identifies the current boot of the machine; empty if it is unknown.
    ///
    /// A service that sees only its own processes in /proc gets it from its unit, in `BOOT_ID`.
    package static var bootID: String {
        let path = "/proc/sys/kernel/random/boot_id"
        let text =
            WholeFile.kernelText(path) ?? ProcessInfo.processInfo.environment["BOOT_ID"] ?? ""
        // The kernel writes it with hyphens, systemd without.
        return text.trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
            .filter { $0.isHexDigit }
    }

    /// The name of this machine, for people.
    package static var name: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "this machine" }
        return String(
            decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The time of this program's file, in seconds since 1970: in a package, that of the commit from which it was
    /// built. 0 if it is unknown.
    package static let programTime: Double =
        stat(path: "/proc/self/exe").map { Double($0.st_mtim.tv_sec) } ?? 0

    /// The number of cores that this process can use: those on which it may run (sched_setaffinity(2)), or the time of
    /// its control group in cores, rounded up, if that is less.
    package static var cores: Int {
        max(1, min(allowedCores, ControlGroup.current.coreLimit ?? .max))
    }

    /// The cores on which this thread may run, and those that it starts. `ProcessInfo` counts those of the machine.
    private static var allowedCores: Int {
        let count = Int(darkroom_allowed_cores())
        return count > 0 ? count : ProcessInfo.processInfo.activeProcessorCount
    }

    /// The memory that this process can use, in bytes: that of the machine, or the limit of its control group if that
    /// is lower.
    package static var memory: Int {
        let pages = sysconf(Int32(_SC_PHYS_PAGES))
        // If the system does not tell the size, there is no known limit.
        let physical = pages > 0 ? pages.saturatingMultiply(sysconf(Int32(_SC_PAGESIZE))) : .max
        return min(physical, ControlGroup.current.memoryLimit ?? .max)
    }
}
