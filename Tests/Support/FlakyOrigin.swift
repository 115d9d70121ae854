import Foundation
import Synchronization

/// An origin on 127.0.0.1 that serves one picture under every path, but not at the first attempt. Whoever lets go of it
/// stops it.
package final class FlakyOrigin: Sendable {
    package enum Fault: Sendable {
        /// Such a status, with these fields beside it.
        case status(Int, [String] = [])
        /// The connection is reset without an answer.
        case reset
        /// The connection is closed after so many of the picture's bytes.
        case cut(Int)
        /// The picture comes when `release()` is called.
        case held
    }

    package struct Request: Sendable {
        package let path: String
        package let time: Date
        /// The field of the request, by which a transfer is continued.
        package let range: String?
    }

    private let origin: ScriptedOrigin
    private let log: Log

    /// What the threads that answer share.
    private final class Log: Sendable {
        let requests = Mutex<[Request]>([])
        let isReleased = Atomic(false)
    }

    /// - Parameters:
    ///   - fault: how the nth try of a path fails, from 1 on; nil for one that does not.
    ///   - port: where it listens; 0 for wherever there is room.
    package init(
        picture: [UInt8], port: UInt16 = 0,
        fault: @escaping @Sendable (_ path: String, _ number: Int) -> Fault?
    ) throws {
        let log = Log()
        self.log = log
        origin = try ScriptedOrigin(port: port) { asked in
            let request = Request(path: asked.path, time: .now, range: asked.fields["range"])
            let number = log.requests.withLock { requests in
                requests.append(request)
                return requests.count { $0.path == asked.path }
            }
            switch fault(asked.path, number) {
            case .status(let code, let fields):
                return ScriptedOrigin.Reply(
                    ["HTTP/1.1 \(code) Reason", "Content-Length: 0"] + fields)
            case .reset: return ScriptedOrigin.Reply(bytes: [], ending: .reset)
            case .cut(let length):
                var reply = Self.reply(asked, picture)
                let rest = picture.count - length
                reply.bytes.removeLast(rest)
                return reply
            case .held:
                while !log.isReleased.load(ordering: .relaxed) { usleep(2000) }
                return Self.reply(asked, picture)
            case nil: return Self.reply(asked, picture)
            }
        }
    }

    /// The picture, or what is left of it where that is asked for.
    private static func reply(
        _ request: ScriptedOrigin.Request, _ picture: [UInt8]
    ) -> ScriptedOrigin.Reply {
        let fields = ["Content-Type: image/png", "ETag: \"picture\"", "Accept-Ranges: bytes"]
        guard let range = request.fields["range"], request.fields["if-range"] == "\"picture\"",
            let first = Int(range.dropFirst("bytes=".count).prefix { $0 != "-" })
        else {
            return ScriptedOrigin.Reply(
                ["HTTP/1.1 200 OK", "Content-Length: \(picture.count)"] + fields, body: picture)
        }
        return ScriptedOrigin.Reply(
            [
                "HTTP/1.1 206 Partial Content", "Content-Length: \(picture.count - first)",
                "Content-Range: bytes \(first)-\(picture.count - 1)/\(picture.count)",
            ] + fields, body: Array(picture[first...]))
    }

    package func url(_ path: String) -> String { "\(origin.baseURL)/\(path)" }

    /// What was asked so far, in order.
    package var requests: [Request] { log.requests.withLock { $0 } }

    /// Lets go of what is held, and holds nothing from now on.
    package func release() { log.isReleased.store(true, ordering: .relaxed) }

    deinit { stop() }

    package func stop() {
        release()
        origin.stop()
    }
}
