import CDarkroomDeflate
import Foundation
import TestSupport
import Testing

@testable import DarkroomFetch

/// Answers that are wrong, too large or unusual, each told by its own code.
@Suite(.tags(.concurrency)) struct TransferAnswerTests {
    static let limits = TransferLimits(bytes: 1 << 20, maxHeaderBytes: 10_000)

    static func error(_ reply: ScriptedOrigin.Reply) async throws -> FetchError? {
        let origin = try ScriptedOrigin { _ in reply }
        let fixture = try EngineFixture(limits: limits)
        let error = try await fixture.fetch("\(origin.baseURL)/a?token=secret").failure
        #expect(error?.message.hasPrefix("\(origin.baseURL)/a?…: ") != false)
        #expect(error?.message.contains("secret") != true)
        return error
    }

    /// What the only answer of a server gives, and what was written of it.
    private func fetch(
        _ reply: ScriptedOrigin.Reply
    ) async throws -> (report: TransferReport, content: Data) {
        let origin = try ScriptedOrigin { _ in reply }
        let fixture = try EngineFixture(limits: Self.limits)
        let report = try await fixture.fetch(origin.baseURL).get()
        return (report, try EngineFixture.content(report))
    }

    static let chunked = ["Transfer-Encoding: chunked"]
    static let end = Array("0\r\n\r\n".utf8)

    static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }

    static func switching(
        to bytes: [UInt8], ending: ScriptedOrigin.Reply.Ending = .close
    ) -> ScriptedOrigin.Reply {
        ScriptedOrigin.Reply(
            ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket"],
            body: bytes, ending: ending)
    }

    @Test(
        arguments: [
            (
                switching(to: [1, 2, 3]),
                "the server answered 101 Switching Protocols, which was not requested"
            ),
            (.gzip(gzip([7]) + [0]), "the body continues after the end of its Content-Encoding"),
            (.chunked("zz\r\n"), "the body's chunks (Transfer-Encoding) are damaged"),
            (
                .raw("HTTP/1.1 200 OK\r\nConte"),
                "the server closed the connection before the response header was complete"
            ),
        ] as [(ScriptedOrigin.Reply, String)])
    func saysWhy(reply: ScriptedOrigin.Reply, words: String) async throws {
        #expect(try await Self.error(reply)?.message.hasSuffix(": \(words)") == true)
    }

    /// A redirect leads on, however damaged its own page is.
    @Test func followsARedirectWithADamagedPage() async throws {
        let damaged: [(String, [UInt8])] = [
            ("gzip", [1, 2, 3]), ("gzip", Self.gzip([7]) + [0]), ("deflate", [9]),
        ]
        let origin = try ScriptedOrigin { request in
            guard let number = Int(request.path.dropFirst()) else { return .ok() }
            let (coding, body) = damaged[number]
            return ScriptedOrigin.Reply(
                ["HTTP/1.1 302 Found", "Location: /there", "Content-Encoding: \(coding)"],
                body: body)
        }
        let fixture = try EngineFixture(limits: Self.limits)
        for number in damaged.indices {
            let report = try await fixture.fetch("\(origin.baseURL)/\(number)").get()
            #expect(try EngineFixture.content(report) == Data([1, 2, 3]))
        }
    }

    @Test(
        arguments: [
            (.ok([String](repeating: "X-Filler: 0123456789", count: 500)), .headerTooLarge),
            (.ok(["X-Long: " + String(repeating: "y", count: 20_000)]), .headerTooLarge),
            (
                .raw("HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: 200_000)),
                .headerTooLarge
            ),
            (
                .raw(String(repeating: "HTTP/1.1 103 Hint\r\nLink: <a>\r\n\r\n", count: 500)),
                .headerTooLarge
            ),
            (.ok(["Content-Length: 3", "Content-Length: 4"]), .badResponse),
            (.ok(["Content-Length: 3, 4"]), .badResponse),
            (.ok(["Content-Length: many"]), .badResponse),
            (.ok(["Content-Length: -3"]), .badResponse),
            (.ok(["Content-Length: 3", "Content-Encoding: br"]), .badResponse),
            (.ok(["Content-Length: 3", "Content-Encoding: gzip"]), .badResponse),
            // Codings that libcurl would undo, one within the other.
            (.ok(["Content-Encoding: gzip, gzip"]), .badResponse),
            (.ok(["Content-Encoding: gzip", "Content-Encoding: gzip"]), .badResponse),
            (.ok(["Transfer-Encoding: gzip, chunked"]), .badResponse),
            (.ok(["Transfer-Encoding: gzip", "Transfer-Encoding: chunked"]), .badResponse),
            (.ok(["Transfer-Encoding: chunked, chunked"]), .badResponse),
            (.init(["HTTP/1.1 404 X", "Content-Encoding: gzip, gzip"]), .badResponse),
            (
                .init(["HTTP/1.1 302 X", "Location: /b", "Transfer-Encoding: deflate"]),
                .badResponse
            ),
            // A redirect to nowhere.
            (.init(["HTTP/1.1 302 Found", "Content-Length: 0"]), .badResponse),
            (.ok(["Content-Length: 2"]), .lengthMismatch),
            (.ok(["Content-Length: 4"]), .truncated),
            (.ok(["Content-Length: 1048577"]), .tooLarge),
            (.ok(["Content-Length: 99999999999999999999999"]), .badResponse),
            (.raw(""), .connectionLost), (.init(bytes: [], ending: .reset), .connectionReset),
            (.raw("SSH-2.0-OpenSSH_9.2\r\n"), .badResponse),
            (.raw("HTTP/1.1 2\r\n\r\n"), .badResponse),
            (.init(["HTTP/1.1 206 X", "Content-Range: bytes 0-2/3"]), .httpStatus),
            (.init(["HTTP/1.1 304 X"]), .httpStatus),
            // A change of protocols that nobody asked for, and what is no HTTP behind it.
            (switching(to: []), .badResponse), (switching(to: [1, 2, 3]), .badResponse),
            (switching(to: [1, 2, 3], ending: .hold), .badResponse),
            (switching(to: Array("HTTP/1.1 200 OK\r\n\r\nabc".utf8)), .badResponse),
            // Bytes behind the end of what is coded, at once and in a piece of their own.
            (.gzip(gzip([7]) + [0]), .badResponse),
            (
                .ok(
                    ["Content-Encoding: gzip"] + chunked,
                    body: chunk(gzip([7])) + chunk([1, 2]) + end), .badResponse
            ),
            (
                .ok(["Content-Encoding: deflate"], body: [0x78, 1, 3, 0, 0, 0, 0, 1, 9]),
                .badResponse
            ),
            (.gzip(gzip([7]).dropLast(2) + [9, 9, 9]), .badResponse),
            // Chunks that are none.
            (.chunked("zz\r\nabc\r\n0\r\n\r\n"), .badResponse),
            (.chunked("2\r\nabc\r\n0\r\n\r\n"), .badResponse),
            (.chunked("fffffffffffffffffffffff\r\nabc\r\n"), .badResponse),
            // Heads that end early.
            (.raw("HTTP/1.1 200 OK\r\nConte"), .connectionLost),
            (.raw("HTTP/1.1 200 OK\r\n"), .connectionLost),
            (.init(["HTTP/1.1 100 Continue"]), .connectionLost),
            // What becomes of a page's body is nothing to its status.
            (
                .init(["HTTP/1.1 404 X", "Content-Encoding: gzip"], body: gzip([7]) + [0]),
                .httpStatus
            ),
            (.chunked("zz\r\n", status: "404 X"), .httpStatus),
        ] as [(ScriptedOrigin.Reply, FetchError.Code)])
    func names(reply: ScriptedOrigin.Reply, code: FetchError.Code) async throws {
        let error = try await Self.error(reply)
        #expect(error?.kind == code)
        #expect(error?.storageFailure == nil)
        // None of it is this machine's disk's doing.
        #expect(error?.message.contains("writ") != true, "\(error?.message ?? "")")
        #expect(error?.isTransient == (code == .httpStatus ? false : code.isTransient))
    }

    static let hints = "HTTP/1.1 103 Early Hints\r\nContent-Length: 1\r\n\r\n"

    /// A length beside chunks means nothing, the same length twice is one, that of a preliminary answer is not the
    /// body's, and a body that ends with the connection has none.
    @Test(
        arguments: [
            .ok(["Content-Length: 3", "Content-Length: 3"]), .ok(["Content-Length: 3, 3"]), .ok(),
            .ok(["Content-Length: 1"] + chunked, body: chunk([1, 2, 3]) + end),
            .init(bytes: Array((hints + hints).utf8) + ScriptedOrigin.Reply.ok().bytes),
        ] as [ScriptedOrigin.Reply])
    func takesOddLengths(reply: ScriptedOrigin.Reply) async throws {
        #expect(try await fetch(reply).content == Data([1, 2, 3]))
    }

    /// In stored blocks (RFC 1951, section 3.2.4).
    static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        var file: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        for start in stride(from: 0, to: max(1, bytes.count), by: 65535) {
            let piece = bytes[start..<min(start + 65535, bytes.count)]
            let length = UInt16(piece.count)
            let isLast: UInt8 = piece.endIndex == bytes.count ? 1 : 0
            file += [isLast, UInt8(length & 255), UInt8(length >> 8)]
            file += [UInt8(~length & 255), UInt8(~length >> 8)] + piece
        }
        for word in [darkroom_crc32(0, bytes, bytes.count), UInt32(bytes.count)] {
            file += withUnsafeBytes(of: word.littleEndian) { [UInt8]($0) }
        }
        return file
    }

    /// A body that is coded all the same is decoded; nothing of it is to be resumed.
    @Test func decodesWhatIsCoded() async throws {
        let body = [UInt8](DocumentRoot.content(0))
        let (report, content) = try await fetch(.gzip(Self.gzip(body)))
        #expect(content == Data(body))
        #expect(report.bytes == Int64(body.count))
        #expect(report.response.contentEncoding == "gzip")
    }

    /// A gzip file may have several members (RFC 1952, 2.2), and the body may arrive in any pieces.
    @Test func decodesSeveralMembers() async throws {
        let body = Array([UInt8](DocumentRoot.content(0)).prefix(40))
        let members = Self.gzip(Array(body[..<9])) + Self.gzip([]) + Self.gzip(Array(body[9...]))
        for coded in [members, members + Self.gzip([])] {
            let chunks = coded.flatMap { Self.chunk([$0]) } + Self.end
            let answer = try await fetch(
                .ok(["Content-Encoding: x-gzip"] + Self.chunked, body: chunks))
            #expect(answer.content == Data(body))
        }
    }

    /// A name that is no compression says nothing about a body that begins like a picture.
    @Test(arguments: ["aws-chunked", "utf-8", "none", "binary", "a b", "aws-chunked, gzip"])
    func passesOverOtherCodings(name: String) async throws {
        let body = [UInt8](DocumentRoot.content(0))
        let origin = try ScriptedOrigin { request in
            .ok(
                ["Content-Encoding: \(name)"],
                body: request.path == "/text"
                    ? [UInt8](repeating: 0x61, count: 100)
                    : request.path == "/short"
                        ? [1, 2, 3] : name.hasSuffix("gzip") ? Self.gzip(body) : body)
        }
        let fixture = try EngineFixture()
        let report = try await fixture.fetch(origin.baseURL).get()
        #expect(try EngineFixture.content(report) == Data(body))
        for path in ["text", "short"] {
            let error = try await fixture.fetch("\(origin.baseURL)/\(path)").failure
            #expect(error?.kind == .badResponse)
            #expect(error?.message.contains("(Content-Encoding)") != name.hasSuffix("gzip"))
        }
    }

    /// The end of a coded body is not the end of its connection.
    @Test(arguments: [1, 8, 12])
    func noticesAMissingEnd(bytes: Int) async throws {
        let members = Self.gzip([7]) + Self.gzip([8])
        let error = try await Self.error(.gzip(members.dropLast(bytes)))
        #expect(error?.kind == .truncated)
        #expect(
            error?.message.hasSuffix("before the end of its Content-Encoding") == true,
            "\(error?.message ?? "")")
    }

    /// Both what comes over the wire and what comes out of it are held to the limit.
    @Test func limitsWhatIsCoded() async throws {
        let large =
            Self.gzip([UInt8](repeating: 0, count: 1 << 19))
            + Self.gzip([UInt8](repeating: 0, count: 1 << 19 + 1))
        // Empty members: 2 MiB from which nothing comes.
        let members = (0..<110_000).flatMap { _ in Self.gzip([]) }
        // Empty blocks without an end: 2 MiB from which nothing comes.
        var empty = [UInt8](Self.gzip([]).prefix(10))
        for _ in 0..<400_000 { empty += [0, 0, 0, 0xFF, 0xFF] }
        for body in [large, members, empty] {
            #expect(try await Self.error(.gzip(body))?.kind == .tooLarge)
        }
    }

    /// Of chunks what stands around them counts, too, be it a picture's or a page's.
    @Test(arguments: [("200 OK", FetchError.Code.tooLarge), ("404 Not Found", .httpStatus)])
    func limitsWhatStandsAroundChunks(status: String, code: FetchError.Code) async throws {
        let padding = ";x=" + String(repeating: "y", count: 8000)
        let chunk = Array("1\(padding)\r\nz\r\n".utf8)
        let body = (0..<1000).flatMap { _ in chunk }
        let reply = ScriptedOrigin.Reply(
            ["HTTP/1.1 \(status)", "Transfer-Encoding: chunked"], body: body, ending: .hold)
        #expect(try await Self.error(reply)?.kind == code)
    }

    @Test(arguments: [
        (429, "Retry-After: 120", 120), (503, "Retry-After: 0", 0), (413, "Retry-After: 5", 5),
        (408, "Retry-After: 5", 5), (500, "Retry-After: 5", nil), (404, "Retry-After: 5", nil),
        (503, "Retry-After: soon", nil), (503, "Retry-After: Sat, 01 Nov 2025 10:00:00 GMT", 0),
    ])
    func tellsWhenToComeAgain(status: Int, field: String, delay: Double?) async throws {
        let error = try await Self.error(ScriptedOrigin.Reply(["HTTP/1.1 \(status) X", field]))
        #expect(error?.kind == .httpStatus)
        #expect(error?.retryAfter == delay)
    }
}
