import Testing

@testable import DarkroomCore
@testable import DarkroomFetch

struct HostRulesTests {
    private func rules(allow: [String] = [], deny: [String] = []) throws -> HostRules {
        HostRules(
            allow: try allow.map { try HostPattern($0) }, deny: try deny.map { try HostPattern($0) }
        )
    }

    @Test(arguments: [
        ("example.org", "example.org", true), ("example.org", "EXAMPLE.org", true),
        ("Example.ORG", "example.org", true), ("example.org", "example.org.", true),
        ("example.org.", "example.org", true), ("example.org", "www.example.org", false),
        ("example.org", "exampleXorg", false), ("example.org", "badexample.org", false),
        ("*.example.org", "www.example.org", true), ("*.example.org", "a.b.example.org.", true),
        ("*.example.org", "example.org", false), ("*.example.org", "badexample.org", false),
        ("*.example.org", ".example.org", false),
        ("*.example.org", "www.example.org.evil.net", false),
        ("xn--bcher-kva.example", "XN--bcher-KVA.example", true),
        ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.1", true),
        ("127.0.0.1", "0x7f000001", true), ("127.0.0.1", "[::ffff:127.0.0.1]", true),
        ("127.0.0.1", "127.0.0.1.", true), ("127.1", "127.0.0.1", true),
        ("::1", "[::1]", true), ("[::1]", "[0:0:0:0:0:0:0:1]", true), ("::1", "[::1%lo]", true),
        ("::1", "[::2]", false),
        ("a_b.example.org", "a_b.example.org", true),
    ])
    func matches(pattern: String, host: ByteString, isMatch: Bool) throws {
        #expect(try HostPattern(pattern).matches(HostName(host)) == isMatch)
    }

    @Test(arguments: [
        ("*", "* is allowed only"), ("*example.org", "* is allowed only"),
        ("a.*.org", "* is allowed only"),
        ("*.*.org", "* is allowed only"), ("example.*", "* is allowed only"), ("", "no host"),
        ("*.", "no host"),
        ("exa mple.org", "character"), ("https://example.org", "character"),
        ("example.org:443", "character"), ("example.org/a", "character"), ("a@b", "character"),
        (".example.org", "empty label"), ("a..b", "empty label"), (".", "empty label"),
        ("bücher.example", "xn--"), ("*.1", "no names beneath"),
        ("*.10.0.0.1", "no names beneath"),
        ("*.::1", "no names beneath"),
        ("[::1", "not an IPv6 address"), ("[10.0.0.1]", "not an IPv6 address"),
        ("a%2eb", "%-escapes"),
        ("^.*$", "* is allowed only"), ("ex[a]mple", "character"),
    ])
    func refusesPatterns(pattern: String, words: String) {
        let problem = #expect(throws: TextProblem.self) { try HostPattern(pattern) }
        #expect(problem?.message.contains(words) == true)
    }

    @Test func deniesBeforeItAllows() throws {
        let both = try rules(allow: ["*.example.org", "example.org"], deny: ["bad.example.org"])
        let denying = try rules(deny: ["*.internal"])
        let refusals: [(HostRules, ByteString, String?)] = [
            (both, "example.org", nil), (both, "www.example.org", nil),
            (both, "BAD.example.org", "downloads.denyHosts contains bad.example.org"),
            (both, "example.net", "downloads.allowHosts does not contain it"),
            (HostRules(), "example.net", nil), (denying, "example.net", nil),
            (denying, "a.internal", "downloads.denyHosts contains *.internal"),
        ]
        for (rules, host, refusal) in refusals {
            #expect(rules.refusal(of: HostName(host)) == refusal, "\(host)")
        }
    }

    @Test func refusesInWords() throws {
        let strict = FetchRules(hosts: try rules(deny: ["bad.example"]))
        #expect(strict.refusal(host: "good.example") == nil)
        #expect(
            strict.refusal(host: "bad.example")
                == FetchRules.Refusal(
                    code: .hostForbidden,
                    words:
                        "the host bad.example is not allowed: downloads.denyHosts contains bad.example"
                ))
        #expect(
            strict.refusal(host: "[::1]")
                == FetchRules.Refusal(
                    code: .addressForbidden,
                    words:
                        "the address ::1 is not global unicast (loopback); downloads.allowNetworks with "
                        + "::1/128 can allow it"))
        let resolved = try #require(IPAddress("10.0.0.1"))
        #expect(
            strict.refusal(address: resolved, host: "Good.example")?.words
                == "the host good.example has the address 10.0.0.1, which is not global unicast (private); "
                + "downloads.allowNetworks with 10.0.0.1/32 can allow it")
    }

    @Test func judgesLocalhostByItsAddresses() throws {
        for host: ByteString in ["localhost", "LOCALHOST.", "a.localhost"] {
            #expect(FetchRules().refusal(host: host)?.code == .addressForbidden)
            for network in ["127.0.0.0/8", "::1"] {
                let rules = AddressRules(allowNetworks: [try IPNetwork(network)])
                #expect(FetchRules(addresses: rules).refusal(host: host) == nil)
            }
        }
        #expect(FetchRules().refusal(host: "notlocalhost") == nil)
    }

    @Test(arguments: [
        ("https://Example.org/a", "https://example.org"),
        ("https://example.org:443/a", "https://example.org"),
        ("http://example.org:80", "http://example.org"),
        ("http://example.org:443/a", "http://example.org:443"),
        ("https://ann:pw@example.org.:8443?x", "https://example.org:8443"),
        ("HTTPS://[2001:DB8::1]:8443/a", "https://[2001:db8::1]:8443"),
        ("http://example.org:/", "http://example.org"),
    ])
    func tellsTheOrigin(url: ByteString, origin: String) throws {
        #expect(Origin(url: try RemoteURL(url))?.description == origin)
    }
}
