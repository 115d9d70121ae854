import Foundation
import Synchronization

/// A listener on this machine that gives each connection a thread of its own, and closes it when that has been
/// served.
final class LoopbackServer: Sendable {
    let port: UInt16
    private let listener: CInt
    private let stopped = Atomic(false)
    /// The connections that are being served and the thread that accepts.
    private let threads = DispatchGroup()

    /// `port` 0 is wherever there is room.
    init(address: String = "127.0.0.1", port: UInt16 = 0) throws {
        (listener, self.port) = try LoopbackSocket.listen(address: address, port: port)
    }

    /// Begins to accept; to be called once.
    func start(_ serve: @escaping @Sendable (_ connection: CInt) -> Void) {
        threads.enter()
        Thread.detachNewThread { [self] in accept(serve) }
    }

    /// Whether `stop()` was called: who serves an open connection is to end when it sees it.
    var isStopped: Bool { stopped.load(ordering: .relaxed) }

    /// Ends all connections and waits for their threads; once.
    func stop() {
        if stopped.exchange(true, ordering: .relaxed) { return }
        shutdown(listener, CInt(SHUT_RDWR))
        threads.wait()
        close(listener)
    }

    /// Until the other side closes, or the server is stopped.
    func waitForEnd(_ connection: CInt) {
        var event = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
        while !isStopped, poll(&event, 1, 20) == 0 {}
    }

    /// Returns whether the other side has taken all of it.
    @discardableResult
    func send(_ bytes: [UInt8], to connection: CInt) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Has close(2) send a reset in place of an orderly end.
    func reset(_ connection: CInt) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            connection, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    private func accept(_ serve: @escaping @Sendable (CInt) -> Void) {
        defer { threads.leave() }
        while true {
            let connection = Glibc.accept(listener, nil, nil)
            if connection < 0 {
                if isStopped { return }
                // Other tests may have taken all descriptors, or the other side has gone. Nobody waits in vain for an
                // answer because of that.
                usleep(2000)
                continue
            }
            threads.enter()
            Thread.detachNewThread { [self] in
                serve(connection)
                close(connection)
                threads.leave()
            }
        }
    }
}
