import Foundation

/// TCP on this machine, 127.0.0.1 where nothing else is said, in as many calls as the origins need.
enum LoopbackSocket {
    /// A listening socket on this port; on one that the system chooses if it is 0.
    static func listen(
        address text: String = "127.0.0.1", port: UInt16 = 0, backlog: CInt = 128
    ) throws -> (socket: CInt, port: UInt16) {
        let number = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw posixError() }
        var address = loopback(port: port)
        address.sin_addr.s_addr = inet_addr(text)
        let isListening = withSocketAddress(&address) { bind(number, $0, $1) } == 0
        guard isListening, Glibc.listen(number, backlog) == 0,
            withSocketAddress(&address, { getsockname(number, $0, $1) }) == 0
        else {
            defer { close(number) }
            throw posixError()
        }
        return (number, UInt16(bigEndian: address.sin_port))
    }

    /// Whether something accepts connections on `port`.
    static func answers(port: UInt16) -> Bool {
        let number = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(number) }
        var address = loopback(port: port)
        return withSocketAddress(&address) { address, length in
            connect(number, address, length.pointee)
        } == 0
    }

    /// A socket with a connection under way, without waiting for it to be made.
    static func beginConnecting(to port: UInt16) -> CInt {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(AF_INET, kind, 0)
        var address = loopback(port: port)
        _ = withSocketAddress(&address) { connect(number, $0, $1.pointee) }
        return number
    }

    private static func bind(
        _ number: CInt, _ address: UnsafeMutablePointer<sockaddr>,
        _ length: UnsafeMutablePointer<socklen_t>
    ) -> CInt {
        Glibc.bind(number, address, length.pointee)
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func withSocketAddress(
        _ address: inout sockaddr_in,
        _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
    ) -> CInt {
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &length) }
        }
    }

    private static func posixError() -> POSIXError {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
}

/// A port of 127.0.0.1 on which nothing listens, at least just now.
package func unusedPort() throws -> UInt16 {
    let (socket, port) = try LoopbackSocket.listen()
    close(socket)
    return port
}

/// A listener on all addresses of this machine, 127.0.0.0/8, that takes connections and never says a word.
package final class SilentListener: Sendable {
    package let port: UInt16
    private let listener: CInt

    package init() throws {
        // The kernel makes the connections; nobody comes to take them.
        (listener, port) = try LoopbackSocket.listen(address: "0.0.0.0", backlog: 4096)
    }

    deinit { close(listener) }
}

/// A listener whose queue of connections is full, on all addresses of this machine: to whoever connects it seems not to be
/// there.
package final class DeafListener: Sendable {
    package let port: UInt16
    private let listener: CInt
    private let connections: [CInt]

    package init() throws {
        (listener, port) = try LoopbackSocket.listen(address: "0.0.0.0", backlog: 0)
        connections = (0..<4).map { [port] _ in LoopbackSocket.beginConnecting(to: port) }
    }

    deinit {
        connections.forEach { close($0) }
        close(listener)
    }
}
