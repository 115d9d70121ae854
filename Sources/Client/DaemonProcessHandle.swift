import CDarkroomShims
import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Foundation
import Glibc
import SystemPackage

/// The process of the daemon that works on a spool, so that a signal reaches this process and no other one.
package struct DaemonProcessHandle: ~Copyable {
    package let number: pid_t
    private let handle: Descriptor
    /// The system's unit of which it is the main process, such as `darkroomd.service`; nil if it is in none.
    package let unit: String?

    /// - Throws: `no-daemon` if no daemon of this machine works on the spool.
    package init(of spool: SpoolFolder) throws(ClientError) {
        let reported = try spool.queue()?.daemon.process
        guard case .process(let holder?) = LockHolder(of: spool, reportedBy: reported) else {
            throw Self.absence(spool)
        }
        handle = try Self.open(holder, of: spool, reportedBy: reported)
        number = holder
        unit = Self.unit(of: holder)
    }

    /// Opens the process, and makes sure that its number was not given to another process before.
    private static func open(
        _ process: pid_t, of spool: SpoolFolder, reportedBy reported: Int32?
    ) throws(ClientError) -> Descriptor {
        let number = darkroom_open_process(process)
        guard number >= 0 else { throw absence(spool) }
        let handle = Descriptor(owning: number)
        guard LockHolder(of: spool, reportedBy: reported) == .process(process),
            // The owner of the spool must not have others signal any process.
            LockHolder.isOfOwner(process, of: spool)
        else { throw absence(spool) }
        return handle
    }

    private static func absence(_ spool: SpoolFolder) -> ClientError {
        let isElsewhere = (try? DaemonState(of: spool))?.isElsewhere ?? false
        return ClientError(
            .noDaemon, code: "no-daemon",
            isElsewhere
                ? "The daemon of \(spool.path) works on another machine."
                : "No daemon works on \(spool.path).",
            remedy: isElsewhere ? "Run the command there." : "systemctl start darkroomd starts it.")
    }

    /// Sends a signal; returns the error of kill(2).
    package borrowing func send(_ signal: CInt) -> Errno? {
        darkroom_signal_process(handle.number, signal) == 0 ? nil : Errno(rawValue: errno)
    }

    /// Finds the unit in the process's control group: `0::/system.slice/darkroomd.service`.
    private static func unit(of process: pid_t) -> String? {
        guard
            let text = WholeFile.kernelText("/proc/\(process)/cgroup"),
            let group = text.split(separator: "\n").first(where: { $0.hasPrefix("0::") }),
            let last = group.split(separator: "/").last, group.contains("/system.slice/"),
            last.hasSuffix(".service")
        else { return nil }
        return String(last)
    }
}
