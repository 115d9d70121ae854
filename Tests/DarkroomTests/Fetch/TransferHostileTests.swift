import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomFetch

/// The table of hostile URLs by the way that downloads go. The origins of this machine see no request.
@Suite(.tags(.concurrency)) struct TransferHostileTests {
    private func resolve(_ port: UInt16) -> [String] {
        HostileURLs.names.map { "\($0.name):\(port):\($0.addresses)" }
    }

    private func source(_ row: HostileURLs.Row, _ port: UInt16) -> ByteString {
        ByteString(row.url.replacing("PORT", with: "\(port)"))
    }

    /// As a manifest's source.
    @Test func asksNobody() async throws {
        let origin = try NginxOrigin(documentRoot: "/nonexistent")
        let fixture = try EngineFixture(rules: FetchRules(), resolve: resolve(origin.port))
        let output = try fixture.request("http://127.0.0.1/").output
        var count = 0
        for row in HostileURLs.refusedAtSight + HostileURLs.refusedWhenResolved {
            guard case .remote(let url) = SourceReference(source(row, origin.port)) else {
                continue
            }
            count += 1
            let error = await fixture.run(TransferRequest(url: url, output: output)).failure
            #expect(error?.kind == row.code, "\(url): \(error?.message ?? "no error")")
            #expect(error?.isTransient == false, "\(url)")
        }
        #expect(count >= 60)
        origin.stop()
        #expect(try origin.requests().isEmpty)
    }

    /// As a redirect's Location, from an origin that is allowed.
    @Test func followsNoRedirectThere() async throws {
        let origin = try NginxOrigin(documentRoot: "/nonexistent")
        let rows = (HostileURLs.refusedAtSight + HostileURLs.refusedWhenResolved).filter { row in
            // What has no scheme is a path of the origin itself; a field's value has no control characters.
            RedactedURL.scheme(of: row.url) != nil && row.url.utf8.count < 1000
                && row.url.utf8.allSatisfy { $0 >= 0x20 }
        }
        #expect(rows.count >= 60)
        let locations = rows.map { source($0, origin.port).string }
        let gate = try ScriptedOrigin(address: "127.0.0.9") { request in
            .found(locations[Int(request.path.dropFirst()) ?? 0])
        }
        let rules = FetchRules(
            addresses: AddressRules(allowNetworks: [try IPNetwork("127.0.0.9")]))
        let fixture = try EngineFixture(rules: rules, resolve: resolve(origin.port))
        let output = try fixture.request("http://127.0.0.1/").output
        for (index, row) in rows.enumerated() {
            let url = try RemoteURL("http://127.0.0.9:\(gate.port)/\(index)")
            let error = await fixture.run(TransferRequest(url: url, output: output)).failure
            // libcurl mends some of what is broken, as browsers do, before it is judged.
            let codes: [FetchError.Code] =
                switch row.code {
                case .badURL: [.badURL, .addressForbidden, .unsupportedScheme]
                case .sourceForbidden: [.unsupportedScheme]
                case let code: [code]
                }
            #expect(
                error.map { codes.contains($0.kind) } == true,
                "\(row.url.prefix(80)): \(error.map { "\($0)" } ?? "no error")")
            #expect(error?.isTransient == false, "\(row.url.prefix(80))")
        }
        #expect(gate.requests.count == rows.count)
        origin.stop()
        #expect(try origin.requests().isEmpty)
    }
}
