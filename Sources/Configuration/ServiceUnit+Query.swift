import DarkroomCore
import Foundation

extension ServiceUnit {
    /// Asks systemd, by `systemctl show`.
    ///
    /// - Returns: nil if there is no such unit, or if no systemd answers.
    package static func query(_ name: String) -> ServiceUnit? {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["systemctl", "show", "--no-pager"] + properties.flatMap { ["--property", $0] } + [name]
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        // If systemctl does not answer, it is killed after a time.
        let patience = DispatchWorkItem { kill(process.processIdentifier, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + 5, execute: patience)
        // The handle owns this descriptor and closes it.
        let copy = Descriptor(owning: dup(output.fileHandleForReading.fileDescriptor))
        let shown = try? copy.whole(upTo: FileLimit.answer, path: "systemctl show")
        process.waitUntilExit()
        patience.cancel()
        guard process.terminationStatus == 0, let shown else { return nil }
        return ServiceUnit(name: name, shown: String(decoding: shown, as: UTF8.self))
    }
}
