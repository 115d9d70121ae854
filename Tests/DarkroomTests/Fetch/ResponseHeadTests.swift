import Testing

@testable import DarkroomCore
@testable import DarkroomFetch

struct ResponseHeadTests {
    private func head(_ lines: String...) throws -> ResponseHead {
        var head = try #require(ResponseHead(statusLine: "HTTP/1.1 200 OK\r\n".utf8))
        for line in lines { head.take(line: (line + "\r\n").utf8) }
        return head
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n", 200), ("HTTP/1.0 404 Not Found", 404), ("HTTP/2 301 \r\n", 301),
        ("HTTP/2 301", 301), ("HTTP/1.1 999", 999), ("HTTP/3 204\n", 204),
        ("HTTP/1.1  200 OK", 200),
    ])
    func readsStatusLines(line: String, code: Int) {
        #expect(ResponseHead(statusLine: line.utf8)?.status.code == code)
    }

    @Test(arguments: [
        "", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 099", "HTTP/1.1 20x",
        "HTTP/1.1 -20", "http/1.1 200", "HTTP/ 200", "HTTP/x 200", "HTTP/1,1 200", "HTTP/1.1.1 200",
        "ICY 200 OK", "Content-Length: 1", "200 OK", "HTTP/11111111 200",
    ])
    func refusesOtherStatusLines(line: String) {
        #expect(ResponseHead(statusLine: line.utf8) == nil)
    }

    @Test func readsWhatMatters() throws {
        let head = try head(
            "Content-Length: 1234", "content-type: image/png; charset=x", "ETag: \"abc\"",
            "LAST-MODIFIED: Sun, 06 Nov 1994 08:49:37 GMT", "Date:Sun, 06 Nov 1994 08:49:37 GMT",
            "Expires: Sun, 06 Nov 1994 08:49:38 GMT", "Age: 17", "Accept-Ranges: bytes",
            "Cache-Control: max-age=60, public", "Vary: Accept, ACCEPT-language", "Vary: Accept",
            "Retry-After: 120", "Content-Encoding: gzip", "Content-Range: bytes 0-9/10",
            "X-Whatever: 1", "Set-Cookie: a=b")
        #expect(head.contentLength == 1234)
        #expect(head.isLengthValid)
        #expect(head.contentType == "image/png; charset=x")
        #expect(head.entityTag?.text == "\"abc\"")
        #expect(head.lastModified == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(head.date == HTTPDate(secondsSince1970: 784_111_777))
        #expect(head.expires == HTTPDate(secondsSince1970: 784_111_778))
        #expect(head.age == 17)
        #expect(head.acceptsRanges)
        #expect(head.cacheControl.maxAge == 60)
        #expect(head.vary == ["accept", "accept-language"])
        #expect(head.retryAfter == .seconds(120))
        #expect(head.contentEncoding == "gzip")
        #expect(head.contentRange == ContentRange(first: 0, last: 9, total: 10))
        #expect(
            Validators(head)
                == Validators(
                    entityTag: "\"abc\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"))
        #expect(Validators(try self.head("Age: 1")) == nil)
    }

    @Test(
        arguments: [
            (["5"], 5, true), (["5", "5"], 5, true), (["5, 5"], 5, true), (["5", "6"], nil, false),
            (["5", "6", "5"], nil, false), (["5, 6"], nil, false), (["x"], nil, false),
            (["-1"], nil, false), (["+1"], nil, false), (["1.0"], nil, false), ([""], nil, false),
            (["5,"], nil, false), (["0x10"], nil, false), (["9223372036854775807"], .max, true),
            (["9223372036854775808"], nil, false), (["١"], nil, false), ([], nil, true),
            (["0"], 0, true),
        ] as [([String], Int64?, Bool)])
    func readsLengths(values: [String], length: Int64?, isValid: Bool) throws {
        var head = try head()
        for value in values { head.take(line: "Content-Length: \(value)".utf8) }
        #expect(head.contentLength == length)
        #expect(head.isLengthValid == isValid)
    }

    @Test func countsContradictionsForNothing() throws {
        let head = try head(
            "ETag: \"a\"", "ETag: \"b\"", "ETag: \"a\"", "Age: 1", "Age: 1",
            "Content-Type: image/png", "Content-Type: text/html",
            "Expires: Sun, 06 Nov 1994 08:49:37 GMT",
            "Expires: Sun, 06 Nov 1994 08:49:38 GMT", "Content-Range: bytes 0-1/2",
            "Content-Range: bytes 1-1/2")
        #expect(head.entityTag == nil)
        #expect(head.age == 1)
        #expect(head.contentType == nil)
        #expect(head.expires == HTTPDate(secondsSince1970: 0))
        #expect(head.contentRange == nil)
    }

    @Test func distrustsFoldedLinesAndControlCharacters() throws {
        let folded = try head(
            "ETag: \"a\"", "\tmore", "Cache-Control: max-age=1", " , no-cache", "Vary: Accept",
            "  Cookie", "X-Other: 1", " Age: 5", "Accept-Ranges: bytes", " none",
            "Accept-Ranges: bytes",
            "Content-Encoding: gzip", " br", "Content-Length: 5", " 0")
        #expect(folded.entityTag == nil)
        #expect(folded.cacheControl.noStore)
        #expect(folded.vary == ["*"])
        #expect(folded.age == nil)
        #expect(!folded.acceptsRanges)
        #expect(folded.contentEncoding == "?")
        #expect(folded.contentLength == nil)
        #expect(!folded.isLengthValid)
        let controls = try head(
            "ETag: \"a\0b\"", "Content-Type: image/\u{1B}png", "Age: 1\r2", "Date: \u{7F}")
        #expect(controls.entityTag == nil)
        #expect(controls.contentType == nil)
        #expect(controls.age == nil)
        #expect(controls.date == nil)
    }

    @Test func leavesOutWhatIsNoField() throws {
        let plain = try head()
        for line in [
            "", "Age", ": 1", "Age : 1", "Age\0: 1", "Äge: 1", "Age;1",
            String(repeating: "A", count: 100_000) + ": 1",
        ] {
            var other = plain
            other.take(line: line.utf8)
            #expect(other == plain, "\(line.prefix(20))")
        }
    }

    @Test(
        arguments: [
            (["gzip"], "gzip"), (["GZIP , br"], "gzip, br"),
            (["gzip", "deflate"], "gzip, deflate"),
            (["identity"], nil), ([""], nil), ([" , ,"], nil), (["aws-chunked,gzip"], "gzip"),
            (Array(repeating: "gzip", count: 100), "?"),
        ] as [([String], ByteString?)])
    func readsEncodings(values: [String], encoding: ByteString?) throws {
        var head = try head()
        for value in values { head.take(line: "Content-Encoding: \(value)".utf8) }
        if encoding == "?" {
            #expect(head.contentEncoding?.hasPrefix("?") == true)
            #expect((head.contentEncoding?.utf8.count ?? 0) <= 64)
        } else {
            #expect(head.contentEncoding == encoding)
        }
    }

    /// Names that compress nothing are told apart from those that do.
    @Test(arguments: [
        ("aws-chunked", true), ("utf-8", true), ("none", true), ("binary", true), ("a b", true),
        ("x", true), ("gzip, aws-chunked", true), ("", false), ("identity", false), ("br", false),
        ("gzip", false),
    ])
    func tellsOtherEncodings(value: String, isOther: Bool) throws {
        let head = try head("Content-Encoding: \(value)")
        #expect(head.namesOtherCoding == isOther)
        #expect(head.contentEncoding.map(ContentCoding.compressions.contains) ?? true)
    }

    @Test func boundsWhatItKeeps() throws {
        let many = (0..<100).map { "a\($0)" }.joined(separator: ",")
        let long = String(repeating: "x", count: 5000)
        let head = try head("Vary: \(many)", "Content-Type: \(long)", "ETag: \"\(long)\"")
        #expect(head.vary == ["*"])
        #expect(head.contentType == nil)
        #expect(head.entityTag == nil)
        #expect(try self.head("Vary: a, *, b").vary == ["*"])
        #expect(try self.head("Vary: a b").vary == ["*"])
    }

    @Test(arguments: [
        ("\"\"", false), ("\"abc\"", false), ("W/\"abc\"", true), ("\"a'b/c=\"", false),
        ("\"W/\"", false), ("\"é\"", false),
    ])
    func readsEntityTags(text: ByteString, isWeak: Bool) throws {
        let tag = try #require(EntityTag(text))
        #expect(tag.text == text)
        #expect(tag.isWeak == isWeak)
    }

    @Test(arguments: [
        "", "abc", "\"", "\"abc", "abc\"", "w/\"abc\"", "W/abc", "W/", "\"a\"b\"", "\"a b\"",
        "\"a\u{7F}\"", "\"a\", \"b\"", "'abc'", "W/ \"a\"",
    ])
    func refusesEntityTags(text: ByteString) {
        #expect(EntityTag(text) == nil)
        // Not in UTF-8.
        #expect(EntityTag([0x22, 0xFF, 0x22]) == nil)
    }

    @Test(
        arguments: [
            ("bytes 0-0/1", 0, 0, 1), ("bytes 0-99/200", 0, 99, 200), ("BYTES 5-9/*", 5, 9, nil),
            ("bytes  5-9/10", 5, 9, 10),
            ("bytes 0-9223372036854775806/9223372036854775807", 0, .max - 1, .max),
        ] as [(String, Int64, Int64, Int64?)])
    func readsRanges(text: String, first: Int64, last: Int64, total: Int64?) {
        #expect(ContentRange(text.utf8) == ContentRange(first: first, last: last, total: total))
    }

    @Test(arguments: [
        "", "bytes", "bytes 0-9", "bytes 9-0/10", "bytes 0-10/10", "bytes */10", "bytes 0-/10",
        "bytes -9/10", "items 0-9/10", "bytes=0-9/10", "bytes 0-9/10/11", "bytes 0-9/",
        "bytes 0-9/x", "bytes 0-9223372036854775808/*", "bytes 0-5-9/10", "bytes0-9/10",
        "bytes 0 -9/10",
        "bytes 0-9/10 " + String(repeating: "0", count: 100),
    ])
    func refusesRanges(text: String) {
        #expect(ContentRange(text.utf8) == nil)
    }

    @Test func countsARange() {
        #expect(ContentRange(first: 5, last: 9).count == 5)
        #expect(ContentRange("bytes 0-9223372036854775807/*".utf8)?.count == .max)
    }

    @Test(
        arguments: [
            ("0", 0), ("120", 120), (" 5 ", 5), ("99999999999999999999", Double(1 << 31)),
            ("3.5", 4), ("3.0", 3), ("0.001", 1), ("2147483648.5", Double(1 << 31)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 777), ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Double(1 << 31)),
        ] as [(String, Double)])
    func readsRetryAfter(text: String, delay: Double) throws {
        let value = try #require(RetryAfter(text.utf8))
        #expect(value.delay(since: HTTPDate(secondsSince1970: 784_111_000)) == delay)
    }

    /// A date counts from the server's own time, however wrong our clock or its clock is.
    @Test(
        arguments: [
            (["Date: Sun, 06 Nov 1994 08:49:30 GMT"], 7.0),
            (["Date: Sun, 06 Nov 1994 08:49:20 GMT", "Age: 10"], 7),
            (["Date: Sun, 06 Nov 1994 09:49:37 GMT"], 0), (["Date: soon"], 777), ([], 777),
        ] as [([String], Double)])
    func countsRetryAfterFromTheServersDate(lines: [String], delay: Double) throws {
        var head = try head("Retry-After: Sun, 06 Nov 1994 08:49:37 GMT")
        for line in lines { head.take(line: line.utf8) }
        #expect(head.retryDelay(now: HTTPDate(secondsSince1970: 784_111_000)) == delay)
    }

    @Test(arguments: ["", "-1", ".5", "1.", "1.5.1", "1e3", "soon", "1 s", "0x10", "٣"])
    func refusesRetryAfter(text: String) {
        #expect(RetryAfter(text.utf8) == nil)
    }
}
