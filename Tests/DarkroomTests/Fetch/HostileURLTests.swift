import Testing

@testable import DarkroomCore
@testable import DarkroomFetch

struct HostileURLTests {
    /// What judges a source before anything is asked of the network.
    private func refusal(_ source: String) throws -> FetchError.Code? {
        do {
            switch SourceReference(ByteString(source)) {
            case .remote(let url):
                return FetchRules().refusal(host: try URLAuthority(url.authority).host)?.code
            case .local(let local):
                _ = try LocalSources(roots: []).open(local.path).bytes
                return nil
            case .refused(_, let error): throw error
            }
        } catch let error as FetchError {
            #expect(!error.isTransient)
            return error.kind
        }
    }

    @Test func areManyAndDifferent() {
        let all = HostileURLs.refusedAtSight + HostileURLs.refusedWhenResolved
        #expect(all.count >= 60)
        #expect(Set(all.map(\.url)).count == all.count)
    }

    @Test(arguments: HostileURLs.refusedAtSight)
    func areRefusedAtSight(row: HostileURLs.Row) throws {
        let source = row.url.replacing("PORT", with: "8080")
        #expect(try refusal(source) == row.code)
    }

    @Test(arguments: [
        "http://example.org/a.png", "https://example.org:8443/", "http://1.1.1.1/",
        "http://[2606:4700:4700::1111]/", "http://xn--bcher-kva.example/", "http://a_b.example/",
        "http://example.org./", "http://example.org:/", "http://ann:p%40w@example.org/",
        "https://example.org/a?b=http://127.0.0.1/", "http://bücher.example/", "http://1.example/",
        "http://[64:ff9b::8.8.8.8]/", "http://127.0.0.1.example.org/", "http://localhost.example/",
    ])
    func areNotTheGoodOnes(source: String) throws {
        #expect(try refusal(source) == nil)
    }
}
