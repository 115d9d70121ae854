import Foundation

extension DaemonProcess {
    // MARK: Limits

    /// How many files it has open.
    package func openFiles() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/fd").count
    }

    /// Sets one of its limits while it runs, by prlimit(1): `nofile` or `fsize`.
    package func limit(_ resource: String, to value: Int) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/prlimit")
        // The colon leaves the hard limit as it is.
        process.arguments = ["--pid", "\(identifier)", "--\(resource)=\(value):"]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw POSIXError(.EPERM) }
    }

    // MARK: Without inotify

    static let unshare = "/usr/bin/unshare"

    /// In a user namespace of its own the limit of inotify instances is its root's to set.
    static let withoutInotify = [
        "--user", "--map-root-user", "/bin/sh", "-c",
        "echo 0 > /proc/sys/user/max_inotify_instances && exec \"$0\" \"$@\"",
    ]

    package static var canForbidInotify: Bool {
        let process = Process()
        process.executableURL = URL(filePath: unshare)
        process.arguments = withoutInotify + ["/bin/true"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
