import Dispatch
import Foundation
import Synchronization

/// The service manager's side of sd_notify: a datagram socket that a daemon finds in NOTIFY_SOCKET.
///
/// It is read all the time, as systemd does: a sender whose datagrams nobody takes would block.
package final class NotifySocket: Sendable {
    package let path: String
    private let state = Mutex<[String]>([])
    // Set once, by init; a dispatch source may be cancelled from any thread.
    nonisolated(unsafe) private let source: any DispatchSourceRead

    /// What has come so far: the lines of all datagrams in their order, each `KEY=VALUE`.
    package var lines: [String] { state.withLock { $0 } }

    /// The newest value of `key`, or nil if none has come.
    package func last(_ key: String) -> String? {
        state.withLock { lines in
            lines.last { $0.hasPrefix(key + "=") }.map { String($0.dropFirst(key.count + 1)) }
        }
    }

    /// Makes the socket at `path`, which is at most 107 bytes long.
    package init(path: String) throws {
        self.path = path
        let number = Glibc.socket(
            AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard number >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        precondition(bytes.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0 else {
            let error = errno
            Glibc.close(number)
            throw POSIXError(.init(rawValue: error) ?? .EIO)
        }
        source = DispatchSource.makeReadSource(
            fileDescriptor: number, queue: DispatchQueue(label: "notify-socket"))
        source.setEventHandler { @Sendable [weak self] in self?.receive(number) }
        source.setCancelHandler { @Sendable in Glibc.close(number) }
        source.activate()
    }

    deinit { source.cancel() }

    private func receive(_ number: CInt) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.recv(number, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            let text = String(decoding: buffer[..<count], as: UTF8.self)
            state.withLock { $0 += text.split(separator: "\n").map(String.init) }
        }
    }
}
