import DarkroomCore
import Glibc

/// How many files the process may have open (RLIMIT_NOFILE).
///
/// With too few, what fails first is by chance: a signal's source, so that no signal is heard, or the opening of the
/// spool. A daemon that has what it needs for one piece of work of each kind at a time waits where it lacks more
/// (`StorageFault.scarce`).
package struct DescriptorLimit: CodedError, Equatable {
    /// What a daemon has open when it does nothing is some 30, signals, queues, the spool and the cache; a transfer, a
    /// filter, a manifest and the publisher at work at once take some 15.
    static let least = 48

    package let message: String
    package var code: String { FileError.Code.tooManyFiles.rawValue }
    package var isTransient: Bool { false }

    /// Raises the limit to the highest that this process is allowed.
    ///
    /// - Throws: where even so fewer than `least` can be opened.
    package static func raise() throws(DescriptorLimit) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        if limit.rlim_cur < limit.rlim_max {
            var highest = limit
            highest.rlim_cur = limit.rlim_max
            if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &highest) == 0 {
                limit = highest
            }
        }
        try check(limit: Int(clamping: limit.rlim_cur)) { fcntl($0, F_GETFD) != -1 }
    }

    /// - Parameter isOpen: whether a descriptor is in use.
    static func check(limit: Int, isOpen: (CInt) -> Bool) throws(DescriptorLimit) {
        // Whoever started the daemon has left few open, mostly three: a high limit needs no counting.
        guard limit < 1024 else { return }
        let open = (0..<CInt(max(limit, 0))).count(where: isOpen)
        guard limit - open < least else { return }
        throw DescriptorLimit(
            message:
                "the limit of open files (RLIMIT_NOFILE) is \(limit), and \(open) are open already, but at least "
                + "\(least) more are needed; raise it with LimitNOFILE= in the unit, or with ulimit -n"
        )
    }
}
