import Foundation
import Synchronization

/// An HTTP/1.1 origin on this machine that answers each request as the test says, and remembers what it was
/// asked. Every connection has one request. Whoever lets go of it stops it.
package final class ScriptedOrigin: Sendable {
    package struct Request: Sendable {
        /// The target with its query.
        package var path: String
        /// By their names in small letters.
        package var fields: [String: String]
        /// As long as Content-Length says.
        package var body: [UInt8] = []
    }

    package struct Reply: Sendable {
        package enum Ending: Sendable {
            case close
            /// With a reset in place of an orderly end.
            case reset
            /// Not before the other side closes.
            case hold
        }

        package var bytes: [UInt8]
        package var ending: Ending

        /// - Parameter head: status line and fields, without the empty line.
        package init(_ head: [String], body: [UInt8] = [], ending: Ending = .close) {
            bytes = Array((head + ["", ""]).joined(separator: "\r\n").utf8) + body
            self.ending = ending
        }

        /// Bytes as they are, be they HTTP or not.
        package init(bytes: [UInt8], ending: Ending = .close) {
            self.bytes = bytes
            self.ending = ending
        }
    }

    package var port: UInt16 { server.port }
    package let address: String
    package var baseURL: String { "http://\(address):\(port)" }
    private let server: LoopbackServer
    private let asked: Log

    /// What the threads of the connections share. They do not hold the origin, which waits for them when it goes.
    private final class Log: Sendable {
        let requests = Mutex<[Request]>([])
    }

    /// `answer` is called on a thread of the connection's own.
    ///
    /// - Parameter port: where it listens; 0 for wherever there is room.
    package init(
        address: String = "127.0.0.1", port: UInt16 = 0,
        _ answer: @escaping @Sendable (Request) -> Reply
    ) throws {
        let server = try LoopbackServer(address: address, port: port)
        let log = Log()
        (self.server, self.address, asked) = (server, address, log)
        server.start { connection in
            guard let request = Self.read(connection) else { return }
            log.requests.withLock { $0.append(request) }
            Self.send(answer(request), to: connection, of: server)
        }
    }

    deinit { stop() }

    /// What was asked so far.
    package var requests: [Request] { asked.requests.withLock { $0 } }

    /// Ends all connections and waits for their threads.
    package func stop() { server.stop() }

    private static func send(_ reply: Reply, to connection: CInt, of server: LoopbackServer) {
        guard server.send(reply.bytes, to: connection) else { return }
        switch reply.ending {
        case .close: break
        case .reset:
            waitUntilSent(connection)
            server.reset(connection)
        case .hold: server.waitForEnd(connection)
        }
    }

    /// A reset drops what the other side has not taken, so it waits for that.
    private static func waitUntilSent(_ connection: CInt) {
        var unsent: CInt = 1
        while ioctl(connection, UInt(TIOCOUTQ), &unsent) == 0, unsent > 0 { usleep(1000) }
    }

    private static func read(_ connection: CInt) -> Request? {
        let end = Array("\r\n\r\n".utf8)
        var head: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        func receive() -> Bool {
            let count = recv(connection, &buffer, buffer.count, 0)
            if count > 0 { head += buffer[..<count] }
            return count > 0
        }
        while !head.suffix(4096 + 4).contains(end) {
            guard receive() else { return nil }
        }
        let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
        let words = (lines.first ?? "").split(separator: " ")
        guard words.count == 3 else { return nil }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            fields[line[..<colon].lowercased()] = value
        }
        let length = fields["content-length"].flatMap { Int($0) } ?? 0
        guard let start = head.firstRange(of: end)?.upperBound else { return nil }
        while head.count - start < length {
            guard receive() else { return nil }
        }
        return Request(
            path: String(words[1]), fields: fields, body: Array(head[start...].prefix(length)))
    }
}
