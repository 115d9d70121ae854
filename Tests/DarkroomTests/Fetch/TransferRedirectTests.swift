import Foundation
import TestSupport
import Testing

@testable import DarkroomFetch
@testable import DarkroomFixtures

/// Redirects, hop by hop: who is told what, and where they may not lead.
@Suite(.tags(.concurrency)) struct TransferRedirectTests {
    /// The user of the URL and the headers of an origin are told to that origin alone; those of a Location
    /// to nobody. Back at the first origin they are told again.
    @Test func tellsCredentialsToTheirOriginOnly() async throws {
        let other = try ScriptedOrigin { _ in .picture() }
        let first = try ScriptedOrigin { request in
            switch request.path {
            case "/away": .found("http://eve:word@127.0.0.1:\(other.port)/b.png")
            case "/here": .found("//eve:word@\(request.fields["host"] ?? "")/c.png")
            default: .picture()
            }
        }
        var rules = FetchRules.loopback
        let origin = Origin(scheme: "http", host: "127.0.0.1", port: Int(first.port))
        rules.headers = OriginHeaders([
            origin: [try OriginHeaders.Header(name: "X-Key", value: "hidden")]
        ])
        let fixture = try EngineFixture(rules: rules)
        let base = "ann:secret@127.0.0.1:\(first.port)"
        let away = try await fixture.fetch("http://\(base)/away").get()
        #expect(away.redirects == 1)
        #expect(away.target != nil)
        #expect(away.effectiveURL.description == "\(other.baseURL)/b.png")
        #expect(other.requests.map { $0.fields["authorization"] } == [nil])
        #expect(other.requests.map { $0.fields["x-key"] } == [nil])
        _ = try await fixture.fetch("http://\(base)/here").get()
        let basic = "Basic \(Data("ann:secret".utf8).base64EncodedString())"
        #expect(first.requests.map(\.path) == ["/away", "/here", "/c.png"])
        #expect(first.requests.map { $0.fields["authorization"] } == [basic, basic, basic])
        #expect(first.requests.map { $0.fields["x-key"] } == ["hidden", "hidden", "hidden"])
    }

    /// A manifest's own user goes before the origin's Authorization; without one that is sent.
    @Test func choosesOneAuthorization() async throws {
        let origin = try ScriptedOrigin { _ in .picture() }
        var rules = FetchRules.loopback
        rules.headers = OriginHeaders([
            Origin(scheme: "http", host: "127.0.0.1", port: Int(origin.port)): [
                try OriginHeaders.Header(name: "Authorization", value: "Bearer b"),
                try OriginHeaders.Header(name: "accept", value: "image/png"),
            ]
        ])
        let fixture = try EngineFixture(rules: rules)
        _ = try await fixture.fetch("\(origin.baseURL)/a").get()
        _ = try await fixture.fetch("http://a:b@127.0.0.1:\(origin.port)/a").get()
        #expect(origin.requests.map { $0.fields["authorization"] } == ["Bearer b", "Basic YTpi"])
        #expect(origin.requests.map { $0.fields["accept"] } == ["image/png", "image/png"])
        #expect(origin.requests.map { $0.fields["accept-encoding"] } == ["identity", "identity"])
    }

    @Test(arguments: [
        ("http://10.1.2.3/a", FetchError.Code.addressForbidden, "private"),
        ("http://0x0a010203/a?token=secret", .addressForbidden, "private"),
        ("http://[::ffff:169.254.169.254]/a", .addressForbidden, "link-local"),
        ("http://inner.test/a", .addressForbidden, "link-local"),
        ("http://denied.test/a", .hostForbidden, "downloads.denyHosts"),
        ("ftp://ann:secret@127.0.0.1/a", .unsupportedScheme, "scheme"),
        ("file:///etc/passwd", .unsupportedScheme, "scheme"),
        ("javascript:alert(1)", .unsupportedScheme, "scheme"),
        ("http://", .badURL, "URL"), ("http://a b/", .badURL, "URL"),
        ("http://[::1/", .badURL, "URL"),
    ])
    func refuses(location: String, code: FetchError.Code, word: String) async throws {
        let origin = try ScriptedOrigin { _ in .found(location) }
        var rules = FetchRules.loopback
        rules.hosts.deny = [try HostPattern("denied.test")]
        let fixture = try EngineFixture(
            rules: rules, resolve: ["inner.test:80:169.254.1.1", "denied.test:80:127.0.0.1"])
        let request = try fixture.request("\(origin.baseURL)/a?key=hidden")
        let error = await fixture.run(request).failure
        #expect(error?.kind == code)
        #expect(error?.isTransient == false)
        #expect(error?.message.contains(word) == true)
        #expect(error?.message.hasPrefix("\(origin.baseURL)/a?…, redirected") == true)
        #expect(error?.message.contains("secret") == false)
        #expect(try Data(contentsOf: URL(filePath: request.output.name)).isEmpty)
        #expect(origin.requests.count == 1)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func followsEachKind(status: Int) async throws {
        let origin = try ScriptedOrigin { request in
            request.path == "/x/a"
                ? .found("../y%20z/é?q=1#part", status: status) : .picture()
        }
        let fixture = try EngineFixture()
        let report = try await fixture.fetch("\(origin.baseURL)/x/a").get()
        #expect(try EngineFixture.content(report) == DocumentRoot.content(0))
        #expect(origin.requests.map(\.path) == ["/x/a", "/y%20z/%C3%A9?q=1"])
    }

    /// A redirect's body is nobody's picture, be it announced as long as it may.
    @Test func leavesTheBodyAside() async throws {
        let origin = try ScriptedOrigin { request in
            request.path == "/a"
                ? ScriptedOrigin.Reply(
                    ["HTTP/1.1 302 Found", "Location: /b", "Content-Length: 1000000000000"],
                    body: [UInt8](repeating: 1, count: 100_000), ending: .hold) : .picture()
        }
        let fixture = try EngineFixture()
        let report = try await fixture.fetch("\(origin.baseURL)/a").get()
        #expect(try EngineFixture.content(report) == DocumentRoot.content(0))
    }

    /// The time for the whole transfer is not given anew to each request.
    @Test func countsOneTimeForAllHops() async throws {
        let origin = try ScriptedOrigin { request in
            usleep(30_000)
            return .found("/\(request.path.utf8.count)\(request.path)")
        }
        var limits = TransferLimits.patient
        limits.redirects = 100_000
        var error: FetchError?
        // A busy machine may not come to the first redirect in less.
        for seconds in [0.2, 2, 20] {
            limits.total = .seconds(seconds)
            error = try await EngineFixture(limits: limits).fetch("\(origin.baseURL)/a").failure
            #expect(error?.kind == .timeout)
            if error?.message.contains("redirected to") == true { break }
        }
        #expect(error?.message.contains("redirected to") == true)
    }

    /// A name is judged by what it resolves to, in every family, and only if none of its addresses is allowed.
    @Test func judgesWhatANameResolvesTo() async throws {
        let origin = try ScriptedOrigin { _ in .picture() }
        let port = origin.port
        let fixture = try EngineFixture(resolve: [
            "private.test:\(port):10.0.0.1,192.168.0.1,[fe80::1],[::ffff:10.0.0.1]",
            "mixed.test:\(port):10.0.0.1,127.0.0.1",
        ])
        let url = "http://private.test:\(port)/a"
        let refused = try await fixture.fetch(url).failure
        #expect(refused?.kind == .addressForbidden)
        #expect(
            refused?.message.hasPrefix("\(url): the host private.test has the address ") == true)
        #expect(origin.requests.isEmpty)
        _ = try await fixture.fetch("http://mixed.test:\(port)/a").get()
        #expect(origin.requests.count == 1)
    }

    /// A connection that was made under other rules is not used again, and neither is one that is in use.
    @Test func usesNoConnectionOfFormerRules() async throws {
        let nginx = try NginxFixture()
        let (fixture, url) = (nginx.client, nginx.url("/0.png"))
        let reused = try await fixture.fetch(inTurn: [url, url]).map {
            try $0.get().reusedConnection
        }
        #expect(reused == [false, true])
        var rules = FetchRules.loopback
        rules.addresses.allowNetworks.append(IPNetwork(base: IPAddress(v4: 0x0A00_0000), prefix: 8))
        fixture.engine.update(TransferSettings(rules: rules, userAgent: "test"))
        #expect(try await !fixture.fetch(url).get().reusedConnection)
        fixture.engine.update(TransferSettings(userAgent: "test"))
        let refused = try await fixture.fetch(url).failure
        #expect(refused?.kind == .addressForbidden)
    }

    /// Names in other letters are resolved by their ASCII form, and judged by it.
    @Test func readsInternationalNames() async throws {
        let origin = try ScriptedOrigin { _ in .picture() }
        let fixture = try EngineFixture(resolve: ["xn--bcher-kva.test:\(origin.port):127.0.0.1"])
        _ = try await fixture.fetch("http://bücher.test:\(origin.port)/a").get()
        #expect(origin.requests.map { $0.fields["host"] } == ["xn--bcher-kva.test:\(origin.port)"])
        let digits = try await EngineFixture(rules: FetchRules())
            .fetch("http://１２７.０.０.１:\(origin.port)/a").failure
        #expect(digits?.kind == .addressForbidden)
        #expect(origin.requests.count == 1)
    }
}
