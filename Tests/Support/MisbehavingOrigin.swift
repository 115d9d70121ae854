import Foundation

/// An HTTP origin on 127.0.0.1 that breaks the rules, each path in its own way. Whoever lets go of it stops it.
package final class MisbehavingOrigin: Sendable {
    package enum Behaviour: String, Sendable, CaseIterable {
        /// Promises 1,000 bytes, sends 100 and closes.
        case truncated
        /// Closes in the middle of a chunked body.
        case truncatedChunks = "truncated-chunks"
        /// Resets the connection after 100 of 1,000 bytes.
        case reset
        /// Closes without a byte.
        case nothing
        /// Sends without length or end, until the other side closes.
        case endless
        /// Promises 1 GiB and begins to send it.
        case huge
        /// A missing picture's page without an end.
        case endlessPage = "endless-page"
        /// Promises 100 bytes and sends 300.
        case overlong
        /// Sends 100 of 1,000 bytes, then holds the connection open.
        case stalled
        /// Accepts the request and never answers.
        case silent
        /// Answers with bytes that are no HTTP.
        case garbage
        /// A part of the whole that was asked for.
        case partial
        /// Redirects to a scheme that is not HTTP.
        case toFTP = "to-ftp"
        /// A success with a Content-Type that is an attack on a terminal.
        case wildType = "wild-type"
    }

    package var port: UInt16 { server.port }
    package var baseURL: String { "http://127.0.0.1:\(port)" }
    private let server: LoopbackServer

    package init() throws {
        let server = try LoopbackServer()
        self.server = server
        server.start { Script(server: server).answer($0) }
    }

    deinit { stop() }

    package func url(_ behaviour: Behaviour) -> String { "\(baseURL)/\(behaviour.rawValue)" }

    /// Ends all connections and waits for their threads.
    package func stop() { server.stop() }

    /// What the threads of the connections do. They do not hold the origin, which waits for them when it goes.
    private struct Script: Sendable {
        let server: LoopbackServer

        func answer(_ connection: CInt) {
            let target = readRequest(connection).split(separator: " ").dropFirst().first ?? ""
            let name = target.dropFirst().prefix { $0 != "?" }
            guard let behaviour = Behaviour(rawValue: String(name)) else { return }
            let ok = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n"
            switch behaviour {
            case .truncated: send(ok + "Content-Length: 1000\r\n\r\n" + body(100), to: connection)
            case .truncatedChunks:
                send(ok + "Transfer-Encoding: chunked\r\n\r\n40\r\n" + body(20), to: connection)
            case .reset:
                send(ok + "Content-Length: 1000\r\n\r\n" + body(100), to: connection)
                server.reset(connection)
            case .nothing: break
            case .endless:
                send(ok + "\r\n", to: connection)
                sendEndlessly(connection)
            case .huge:
                send(ok + "Content-Length: 1073741824\r\n\r\n", to: connection)
                sendEndlessly(connection)
            case .endlessPage:
                send("HTTP/1.1 404 Not Found\r\n\r\n", to: connection)
                sendEndlessly(connection)
            case .overlong: send(ok + "Content-Length: 100\r\n\r\n" + body(300), to: connection)
            case .stalled:
                send(ok + "Content-Length: 1000\r\n\r\n" + body(100), to: connection)
                server.waitForEnd(connection)
            case .silent: server.waitForEnd(connection)
            case .garbage: send("\u{1B}]0;owned\u{7}\r\n\r\n", to: connection)
            case .partial:
                send(
                    "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-99/1000\r\n"
                        + "Content-Length: 100\r\n\r\n" + body(100), to: connection)
            case .toFTP:
                send(
                    "HTTP/1.1 302 Found\r\nLocation: ftp://ann:secret@127.0.0.1/a\r\n"
                        + "Content-Length: 0\r\n\r\n", to: connection)
            case .wildType:
                send(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/\u{1B}[31mhtml; a=b\r\n"
                        + "Content-Length: 20\r\n\r\n" + "<!DOCTYPE html><html", to: connection)
            }
        }

        private func body(_ count: Int) -> String { String(repeating: "x", count: count) }

        /// The request's head, up to its empty line.
        private func readRequest(_ connection: CInt) -> String {
            var head = ""
            var buffer = [UInt8](repeating: 0, count: 4096)
            while !head.contains("\r\n\r\n") {
                let count = recv(connection, &buffer, buffer.count, 0)
                if count <= 0 { break }
                head += String(decoding: buffer[..<count], as: UTF8.self)
            }
            return head
        }

        private func send(_ text: String, to connection: CInt) {
            server.send(Array(text.utf8), to: connection)
        }

        private func sendEndlessly(_ connection: CInt) {
            let piece = Array(body(16384).utf8)
            while !server.isStopped, server.send(piece, to: connection) {}
        }
    }
}
