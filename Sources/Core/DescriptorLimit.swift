import Glibc

/// How many files the process may have open (RLIMIT_NOFILE).
///
/// If there are too few, chance decides what fails first: the source of a signal, so that the daemon ignores it, or the
/// opening of the spool. If the daemon has enough for one piece of work of each kind, it waits when it lacks more
/// (`StorageFailure.scarce`).
package struct DescriptorLimit: CodedError, Equatable {
    /// An idle daemon has about 30 open files: signals, queues, the spool and the cache. A transfer, a filter, a
    /// manifest and the committer together need about 15.
    static let least = 48

    package let message: String
    package var code: String { FileError.Code.tooManyFiles.rawValue }
    package var isTransient: Bool { false }

    /// Raises the limit to the highest that this process is allowed.
    ///
    /// - Throws: if fewer than `least` files can be opened even then.
    package static func raise() throws(DescriptorLimit) {
        guard var limit = current else { return }
        if limit.rlim_cur < limit.rlim_max {
            var highest = limit
            highest.rlim_cur = limit.rlim_max
            if setrlimit(resource, &highest) == 0 { limit = highest }
        }
        try check(limit: Int(clamping: limit.rlim_cur), isOpen: Self.isOpen)
    }

    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

    private static var current: rlimit? {
        var limit = rlimit()
        return getrlimit(resource, &limit) == 0 ? limit : nil
    }

    /// Makes sure that some more files can be opened, and leaves the limit as it is.
    package static func require(_ files: Int) throws(DescriptorLimit) {
        guard let limit = current else { return }
        try check(limit: Int(clamping: limit.rlim_cur), least: files, isOpen: Self.isOpen)
    }

    private static func isOpen(_ descriptor: CInt) -> Bool { fcntl(descriptor, F_GETFD) != -1 }

    /// - Parameters:
    ///   - least: how many more files are needed.
    ///   - isOpen: whether a descriptor is in use.
    static func check(
        limit: Int, least: Int = least, isOpen: (CInt) -> Bool
    ) throws(DescriptorLimit) {
        // The parent process has left few files open, usually three. So a high limit needs no count.
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
