import Foundation

extension DaemonProcess {
    // MARK: Limits

    /// How many files it has open.
    package func openFiles() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/fd").count
    }

    /// Sets one of its limits while it runs, by prlimit(1): `nofile` or `fsize`.
    package func limit(_ resource: String, to value: Int) throws {
        // The colon leaves the hard limit as it is.
        let (status, _) = try SystemProgram.run(
            "/usr/bin/prlimit", ["--pid", "\(identifier)", "--\(resource)=\(value):"])
        guard status == 0 else { throw POSIXError(.EPERM) }
    }

    // MARK: Without inotify

    static let unshare = "/usr/bin/unshare"

    /// In a user namespace of its own the limit of inotify instances is its root's to set.
    static let withoutInotify = [
        "--user", "--map-root-user", "/bin/sh", "-c",
        "echo 0 > /proc/sys/user/max_inotify_instances && exec \"$0\" \"$@\"",
    ]

    package static var canForbidInotify: Bool {
        (try? SystemProgram.run(unshare, withoutInotify + ["/bin/true"]))?.status == 0
    }
}
