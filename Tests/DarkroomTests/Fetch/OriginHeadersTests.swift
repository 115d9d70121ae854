import Foundation
import TestSupport
import Testing

@testable import DarkroomFetch

struct OriginHeadersTests {
    /// Headers of a command line replace those of a file, for their origin only.
    @Test func furtherHeadersReplaceThoseOfTheirName() throws {
        let (a, b) = (
            Origin(scheme: "https", host: "a.example"), Origin(scheme: "https", host: "b.example")
        )
        let one = try OriginHeaders.Header(name: "Authorization", value: "old")
        let two = try OriginHeaders.Header(name: "Accept-Language", value: "de")
        let new = try OriginHeaders.Header(name: "authorization", value: "new")
        let headers = OriginHeaders([a: [one, two], b: [one]]).adding([new], for: a)
        #expect(headers.headers(for: a).map(\.value) == ["de", "new"])
        #expect(headers.headers(for: b).map(\.value) == ["old"])
        #expect(
            headers.headers(for: Origin(scheme: "http", host: "a.example")).isEmpty)
    }

    private func read(_ text: String) -> OriginHeadersFile {
        OriginHeadersFile(path: "headers.yaml", text: text)
    }

    @Test func readsHeadersForOrigins() {
        let file = read(
            """
            https://pictures.example.org:
              Authorization: Bearer secret
              X-Number: 7
            http://plain.example.org:8080: {Cookie: "a=b; c=d"}
            cdn.example.org: {X-Key: k}
            "[2001:db8::1]:8443": {X-Key: six}
            """)
        #expect(file.problems == [])
        func headers(_ origin: Origin) -> [String] {
            file.headers.headers(for: origin).map { "\($0.name): \($0.value)" }
        }
        #expect(
            headers(Origin(scheme: "https", host: "pictures.EXAMPLE.org."))
                == ["Authorization: Bearer secret", "X-Number: 7"])
        #expect(
            headers(Origin(scheme: "http", host: "plain.example.org", port: 8080)) == [
                "Cookie: a=b; c=d"
            ])
        #expect(
            headers(Origin(scheme: "https", host: "cdn.example.org", port: 443)) == ["X-Key: k"])
        #expect(
            headers(Origin(scheme: "https", host: "[2001:DB8:0::1]", port: 8443)) == ["X-Key: six"])
        for other in [
            Origin(scheme: "http", host: "pictures.example.org"),
            Origin(scheme: "https", host: "pictures.example.org", port: 8443),
            Origin(scheme: "https", host: "www.pictures.example.org"),
            Origin(scheme: "https", host: "example.org"),
            Origin(scheme: "http", host: "plain.example.org"),
        ] {
            #expect(headers(other) == [])
        }
    }

    @Test(arguments: ["", "---\n", "# nothing\n", "{}"])
    func mayBeEmpty(text: String) {
        let file = read(text)
        #expect(file.problems == [])
        #expect(file.headers.isEmpty)
    }

    static let wrong = [
        ("- secret", "1: must be a map from origins to headers"),
        ("a: secret", "1: https://a: must be a map from header names to values"),
        ("a:\n  X: [secret]", "2: https://a: the value of a header must be text"),
        ("a: {X: {secret: secret}}", "1: https://a: the value of a header must be text"),
        (
            "a:\n  'X Y': secret",
            "2: https://a: a header name may contain only letters, digits and hyphens"
        ),
        ("a:\n  'X:': secret", "2: https://a: a header name may"),
        ("a:\n  \"X\\r\\nY\": secret", "2: https://a: a header name may"),
        ("a: {'': secret}", "1: https://a: a header name may"),
        ("a: {Host: secret}", "1: https://a: Host is set by the daemon itself"),
        ("a: {content-length: '5'}", "1: https://a: content-length is set"),
        ("a: {RANGE: secret}", "1: https://a: RANGE is set"),
        ("a: {Transfer-Encoding: secret}", "1: https://a: Transfer-Encoding is set"),
        ("a: {Proxy-Authorization: secret}", "1: https://a: Proxy-Authorization is set"),
        ("a: {Accept-Encoding: secret}", "1: https://a: Accept-Encoding is set"),
        ("a: {If-None-Match: secret}", "1: https://a: If-None-Match is set"),
        ("a:\n  X: \"secret\\r\\nY: 1\"", "2: https://a: X: a value must not contain line breaks"),
        ("a:\n  X: \"secret\\0\"", "2: https://a: X: a value must not contain line breaks"),
        (
            "a:\n  X: |\n    secret\n    secret",
            "2: https://a: X: a value must not contain line breaks"
        ),
        ("a: {X: ''}", "1: https://a: X: the value is empty"),
        ("a: {X: ' '}", "1: https://a: X: the value is empty"),
        ("a:\n  X: secret\n  x: secret", "3: https://a: x occurs twice"),
        ("a: {X: secret}\nhttps://A.:443: {X: secret}", "2: https://a occurs twice"),
        ("ftp://a: {X: secret}", "1: an origin is https://HOST"),
        ("https://a/path: {X: secret}", "1: an origin is https://HOST"),
        ("https://ann:secret@a: {X: y}", "1: an origin is https://HOST"),
        ("'*.a': {X: secret}", "1: an origin is https://HOST"),
        ("'a:0': {X: secret}", "1: an origin is https://HOST"),
        ("bücher.example: {X: secret}", "1: an origin is https://HOST"),
        ("'': {X: secret}", "1: an origin is https://HOST"),
        ("? [a]\n: {X: secret}", "1: is not an origin"),
        ("a: {X: secret", "this is not YAML, or a key occurs twice"),
        ("a:\n  X: secret\n X: secret", "this is not YAML, or a key occurs twice"),
        ("a:\n  X: secret\n  X: secret", "this is not YAML, or a key occurs twice"),
        ("a:\n  X: *secret", "this is not YAML, or a key occurs twice"),
        ("a:\n  X: \u{1}secret", "this is not YAML, or a key occurs twice"),
    ]

    @Test(arguments: wrong)
    func tellsWhereAndNotWhat(text: String, problem: String) {
        let problems = read(text).problems
        #expect(problems.count == 1)
        #expect(problems.first?.contains(problem) == true, "\(problems)")
        #expect(problems.first?.hasPrefix("headers.yaml:") == true, "\(problems)")
        #expect(!problems.joined().contains("secret"))
    }

    @Test func tellsEveryMistake() {
        #expect(read("a: {Host: x, TE: x}\nb: {X: ''}").problems.count == 3)
    }

    @Test func showsNoValue() throws {
        let headers = read("a: {Authorization: secret}").headers
        let header = try OriginHeaders.Header(name: "Authorization", value: "secret")
        let rules = FetchRules(headers: headers)
        for text in [
            "\(headers)", String(reflecting: headers), "\(header)", "\(rules)",
            String(reflecting: header),
        ] {
            #expect(!text.contains("secret"))
        }
        var dumped = ""
        dump(rules, to: &dumped)
        dump(header, to: &dumped)
        #expect(!dumped.contains("secret"))
    }

    // MARK: Files

    @Test func readsFilesAndTheirModes() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/headers"
        try "a: {X: y}".write(toFile: path, atomically: false, encoding: .utf8)
        chmod(path, 0o640)
        #expect(OriginHeadersFile(path: path).isExposed == false)
        #expect(OriginHeadersFile(path: path).headers.isEmpty == false)
        chmod(path, 0o644)
        #expect(OriginHeadersFile(path: path).isExposed)
    }

    @Test func refusesWhatIsNoFileOfText() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/headers"
        func problem() -> String? {
            let problems = OriginHeadersFile(path: path).problems
            return problems.count == 1
                ? problems[0].replacing("\(path): ", with: "") : nil
        }
        #expect(problem() == "cannot be read: No such file or directory")
        mkfifo(path, 0o600)
        #expect(problem() == "is not a file")
        unlink(path)
        mkdir(path, 0o700)
        #expect(problem() == "is not a file")
        rmdir(path)
        try Data([0x61, 0xFF]).write(to: URL(filePath: path))
        #expect(problem() == "cannot be read as UTF-8 text")
        truncate(path, 2 << 20)
        #expect(problem() == "has more than 1 MiB")
    }
}
