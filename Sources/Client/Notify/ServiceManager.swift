import DarkroomCore
import Foundation
import Glibc

/// Tells the service manager what this command does, by the protocol of sd_notify(3). Without a service manager it does
/// nothing. libsystemd is not used, so that the command also runs where there is none.
package final class ServiceManager {
    private let address: String?
    private var lastStatus = ""

    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        address = environment["NOTIFY_SOCKET"]
    }

    func ready() { send("READY=1") }

    func stopping() { send("STOPPING=1") }

    /// The text that `systemctl status` shows.
    func status(_ text: String) {
        guard text != lastStatus else { return }
        lastStatus = text
        send("STATUS=\(text)")
    }

    /// A failure cannot be reported anywhere.
    private func send(_ state: String) {
        var target = sockaddr_un()
        guard let address, address.hasPrefix("/") || address.hasPrefix("@"),
            address.utf8.count < MemoryLayout.size(ofValue: target.sun_path)
        else { return }
        target.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(address.utf8)
        // The name of an abstract socket begins with a NUL.
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: bytes) }
        let number = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return }
        let descriptor = Descriptor(owning: number)
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let text = Array(state.utf8)
        withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor.number, text, text.count, CInt(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}
