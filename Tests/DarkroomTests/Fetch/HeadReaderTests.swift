import Testing

@testable import DarkroomCore
@testable import DarkroomFetch

/// Heads read line by line, and what becomes of the bodies behind them.
struct HeadReaderTests {
    /// Reads the lines of a head, the empty one included, and returns what each led to.
    static func read(
        _ lines: [String], limit: Int = 1 << 16
    ) -> (reader: HeadReader, last: HeadReader.Progress) {
        var reader = HeadReader()
        var last = HeadReader.Progress.more
        for line in lines {
            last = Array("\(line)\r\n".utf8).withUnsafeBytes { reader.take($0, limit: limit) }
        }
        return (reader, last)
    }

    /// What a preliminary head says does not count for the final one, except its bytes.
    @Test func passesPreliminaryHeads() {
        let early = ["HTTP/1.1 103 Early Hints", "Content-Length: 1", "Location: /early", ""]
        let final = ["HTTP/2 302 ", "location: /final", ""]
        let (reader, last) = Self.read(early + early + final)
        #expect(last == .whole)
        #expect(reader.head?.status.code == 302)
        #expect(reader.head?.contentLength == nil)
        #expect(reader.location == "/final")
        let size = (early + early + final).map { $0.utf8.count + 2 }.reduce(0, +)
        #expect(Self.read(early + early + final, limit: size).last == .whole)
        #expect(Self.read(early + early + final, limit: size - 1).last == .tooLarge)
    }

    /// It is the last head: what follows is in another protocol, though it may look like HTTP.
    @Test func endsAtAChangeOfProtocols() {
        let lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: x", ""]
        let (reader, last) = Self.read(lines)
        #expect(last == .whole && reader.isWhole)
        #expect(reader.head?.status.code == 101)
    }

    @Test func ignoresTrailers() {
        let (reader, last) = Self.read([
            "HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Content-Length: 5", "",
            "ETag: \"late\"", "Location: /x", "",
        ])
        #expect(last == .more)
        #expect(reader.length == nil)
        #expect(reader.head?.entityTag == nil)
        #expect(reader.location == nil)
    }

    @Test(
        arguments: [
            (["Location: /a"], "/a"), (["LOCATION:/a"], "/a"),
            (["Location: /a", "location: /a"], "/a"),
            (["Location: /a", "location: /b"], nil), (["Location:"], nil), (["Locations: /a"], nil),
            (["Location: http://höst/ä b?c d#e"], "http://höst/%C3%A4%20b?c%20d#e"),
            (["Location: /a\u{0}b"], nil),
        ] as [([String], ByteString?)])
    func findsTheLocation(lines: [String], location: ByteString?) {
        #expect(Self.read(["HTTP/1.1 302 Found"] + lines + [""]).reader.location == location)
    }

    @Test(arguments: [["Content-Length: 1"], ["ICY 200 OK"], ["HTTP/1.1 2x0 OK"], [""]])
    func tellsWhatIsNoHead(lines: [String]) {
        #expect(Self.read(lines).last == .noStatus)
    }
}

struct BodyPlanTests {
    static let resume = PartialBody(bytes: 100, validator: "\"v1\"", crc32: 1, total: 1000)

    static func plan(
        _ lines: [String], resume: PartialBody? = nil, limit: Int64 = 1 << 20
    ) -> BodyPlan? {
        let reader = HeadReaderTests.read(lines + [""]).reader
        return reader.head.map {
            BodyPlan(
                for: $0, length: reader.length, location: reader.location, resume: resume,
                isConditional: false, limit: limit)
        }
    }

    /// Why a body is refused; nil if it is not.
    static func refusal(_ plan: BodyPlan?) -> FetchError.Code? {
        if case .refused(let code, _) = plan { code } else { nil }
    }

    @Test(
        arguments: [
            ("200", .whole), ("203", .whole), ("204", .whole), ("206", .page), ("300", .page),
            ("304", .page), ("305", .page), ("404", .page), ("416", .page), ("503", .page),
            ("999", .page),
        ] as [(String, BodyPlan)])
    func followsTheStatus(status: String, plan: BodyPlan) {
        #expect(Self.plan(["HTTP/1.1 \(status) X"]) == plan)
    }

    /// Of what the server answers to a Range, only the very rest of the very file is taken.
    @Test(
        arguments: [
            (["Content-Range: bytes 100-999/1000", "ETag: \"v1\""], .rest),
            // A part says its tag if the whole has one (RFC 9110, section 15.3.7).
            (["Content-Range: bytes 100-999/1000"], .startOver),
            (["Content-Range: bytes 100-999/1000", "ETag: \"v1\"", "Content-Length: 900"], .rest),
            (["Content-Range: bytes 100-999/*", "ETag: \"v1\""], .rest),
            (["Content-Range: bytes 100-999/1000", "ETag: \"v2\""], .startOver),
            (["Content-Range: bytes 100-999/1000", "Content-Length: 899"], .startOver),
            (["Content-Range: bytes 100-998/1000"], .startOver),
            (["Content-Range: bytes 100-998/999"], .startOver),
            (["Content-Range: bytes 99-999/1000"], .startOver),
            (["Content-Range: bytes 0-99/1000"], .startOver),
            (["Content-Range: bytes 100-999/1000", "Content-Encoding: gzip"], .startOver),
            (["Content-Type: multipart/byteranges; boundary=a"], .startOver), ([], .startOver),
        ] as [([String], BodyPlan)])
    func takesTheRest(lines: [String], plan: BodyPlan) {
        #expect(Self.plan(["HTTP/1.1 206 X"] + lines, resume: Self.resume) == plan)
    }

    @Test func refusesContradictions() {
        let lengths = Self.plan(["HTTP/1.1 200 X", "Content-Length: 1", "Content-Length: 2"])
        #expect(Self.refusal(lengths) == .badResponse)
        for coding in ["br", "zstd", "gzip, gzip", "gzip\r\nContent-Encoding: gzip"] {
            let plan = Self.plan(["HTTP/1.1 200 X", "Content-Encoding: \(coding)"])
            #expect(Self.refusal(plan) == .badResponse, "\(coding)")
        }
        for coding in ["gzip", "X-GZIP", "deflate", "identity", "x", "aws-chunked, gzip"] {
            #expect(Self.plan(["HTTP/1.1 200 X", "Content-Encoding: \(coding)"]) == .whole)
        }
        let unknown = PartialBody(bytes: 100, validator: "\"v1\"", crc32: 1)
        let large = ["HTTP/1.1 206 X", "Content-Range: bytes 100-1999/2000", "ETag: \"v1\""]
        #expect(Self.refusal(Self.plan(large, resume: unknown, limit: 1999)) == .tooLarge)
        #expect(Self.plan(large, resume: unknown, limit: 2000) == .rest)
    }

    /// RFC 9110, section 8.8.2.2.
    @Test(
        arguments: [
            (["ETag: \"a\""], "\"a\""), (["ETag: W/\"a\""], nil), ([], nil),
            (["ETag: \"a\"", "Last-Modified: Sat, 01 Nov 2025 10:00:00 GMT"], "\"a\""),
            (["Last-Modified: Sat, 01 Nov 2025 10:00:00 GMT"], nil),
            (
                [
                    "Last-Modified: Sat, 01 Nov 2025 10:00:00 GMT",
                    "Date: Sat, 01 Nov 2025 10:00:59 GMT",
                ],
                nil
            ),
            (
                [
                    "Last-Modified: Sat, 01 Nov 2025 10:00:00 GMT",
                    "Date: Sat, 01 Nov 2025 10:01:00 GMT",
                ],
                "Sat, 01 Nov 2025 10:00:00 GMT"
            ),
        ] as [([String], ByteString?)])
    func findsAStrongValidator(lines: [String], validator: ByteString?) throws {
        let head = try #require(
            HeadReaderTests.read(["HTTP/1.1 200 X"] + lines + [""]).reader.head)
        #expect(PartialBody.strongValidator(of: head) == validator)
        let enough = PartialBody(
            bytes: PartialBody.least, crc32: 0, of: head, total: nil, target: nil)
        #expect(enough?.validator == validator)
        #expect(
            PartialBody(bytes: PartialBody.least - 1, crc32: 0, of: head, total: nil, target: nil)
                == nil)
    }
}
