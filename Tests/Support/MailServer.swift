import Foundation
import Synchronization

/// A server of SMTP (RFC 5321) on 127.0.0.1 that takes each mail and keeps it.
package final class MailServer: Sendable {
    package struct Mail: Sendable, Equatable {
        package var sender = ""
        package var recipient = ""
        package var lines: [String] = []
    }

    package var port: UInt16 { server.port }
    private let server: LoopbackServer
    private let taken = Mutex<[Mail]>([])

    package init() throws {
        server = try LoopbackServer()
        server.start { [self] in serve($0) }
    }

    package var mails: [Mail] { taken.withLock { $0 } }

    /// To be called by every user.
    package func stop() { server.stop() }

    private func serve(_ connection: CInt) {
        var mail = Mail()
        var isContent = false
        say("220 test", connection)
        while let line = Self.line(connection) {
            if isContent {
                guard line == "." else {
                    mail.lines.append(line)
                    continue
                }
                isContent = false
                taken.withLock { $0.append(mail) }
                say("250 taken", connection)
                continue
            }
            switch line.prefix(4).uppercased() {
            case "MAIL": mail.sender = Self.argument(line)
            case "RCPT": mail.recipient = Self.argument(line)
            case "DATA":
                isContent = true
                say("354 go on", connection)
                continue
            case "QUIT":
                say("221 bye", connection)
                return
            default: break
            }
            say("250 well", connection)
        }
    }

    private func say(_ text: String, _ connection: CInt) {
        server.send(Array("\(text)\r\n".utf8), to: connection)
    }

    /// What follows the colon, without parameters.
    private static func argument(_ line: String) -> String {
        let rest = line.drop { $0 != ":" }.dropFirst()
        return String(rest.prefix { $0 != " " })
    }

    /// The next line without its end; nil at the end of the connection.
    private static func line(_ connection: CInt) -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while recv(connection, &byte, 1, 0) == 1 {
            if byte == 0x0A { return String(decoding: bytes.filter { $0 != 0x0D }, as: UTF8.self) }
            bytes.append(byte)
        }
        return nil
    }
}
