import Foundation
import Glibc
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomFixtures

/// Downloads from a real nginx.
@Suite(.tags(.concurrency)) struct TransferEngineTests {
    @Test func fetchesABody() async throws {
        let fixture = try NginxFixture()
        let report = try await fixture.fetch("/0.png").get()
        #expect(try EngineFixture.content(report) == DocumentRoot.content(0))
        #expect(report.bytes == Int64(DocumentRoot.content(0).count))
        #expect(report.prefix == Array(DocumentRoot.content(0).prefix(512)))
        #expect(report.response.status.code == 200)
        #expect(report.response.contentType == "image/png")
        #expect(report.redirects == 0)
        #expect(!report.reusedConnection)
        #expect(report.effectiveURL == report.request.url.shown)
        #expect(try report.pictureKind() == .png)

        fixture.origin.stop()
        let request = try #require(try fixture.origin.requests().last)
        #expect(request.userAgent.hasPrefix("Darkroom/test (image spool; libcurl/"))
        #expect(request.accept == "image/png, image/jpeg, image/*;q=0.5, */*;q=0.1")
        #expect(request.authorization == "-")
    }

    /// 64 transfers, never more than 16 at once: every byte is there and no more than 16 connections
    /// were made.
    @Test func runsManyOnFewConnections() async throws {
        let fixture = try NginxFixture(0..<64)
        let names = fixture.root.names
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 16
        let outcomes = Collected<TransferOperation.Outcome>()
        for name in names {
            let request = try fixture.client.request(fixture.url("/\(name)"), output: name)
            queue.addOperation(fixture.client.operation(request, completion: outcomes.add))
        }
        let reports = await outcomes.wait(for: 64).compactMap { outcome -> TransferReport? in
            if case .fetched(let report) = outcome { report } else { nil }
        }
        #expect(reports.count == 64)
        for (index, name) in names.enumerated() {
            let content = try Data(contentsOf: fixture.client.scratch.url.appending(path: name))
            #expect(content == DocumentRoot.content(index))
        }
        #expect(reports.filter { !$0.reusedConnection }.count <= 16)
        fixture.origin.stop()
        let requests = try fixture.origin.requests()
        #expect(requests.count == 64)
        #expect(Set(requests.map(\.connection)).count <= 16)
    }

    @Test(arguments: [
        (401, false, "401 Unauthorized"), (404, false, "404 Not Found"),
        (429, true, "429 Too Many Requests"), (503, true, "503 Service Unavailable"),
    ])
    func tellsAStatus(code: Int, isTransient: Bool, words: String) async throws {
        let origin = try NginxOrigin(documentRoot: "/nonexistent")
        let fixture = try EngineFixture()
        let request = try fixture.request("\(origin.baseURL)/status/\(code)?token=secret")
        let error = await fixture.run(request).failure
        let message = "\(origin.baseURL)/status/\(code)?…: the server answered \(words)"
        var expected = FetchError(.httpStatus, message, isTransient: isTransient)
        expected.status = code
        #expect(error == expected)
        // The page that comes with it is no picture and is not kept.
        #expect(try Data(contentsOf: URL(filePath: request.output.name)).isEmpty)
    }

    @Test func keepsTheConnectionAfterAnError() async throws {
        let fixture = try NginxFixture()
        let results = try await fixture.client.fetch(
            inTurn: ["/missing.png", "/0.png"].map(fixture.url))
        #expect(results[0].failure?.kind == .httpStatus)
        #expect(try results[1].get().reusedConnection)
    }

    @Test(arguments: [("moved", 1), ("moved-twice", 2)])
    func followsRedirects(folder: String, count: Int) async throws {
        let fixture = try NginxFixture()
        let report = try await fixture.fetch("/\(folder)/0.png").get()
        #expect(report.redirects == count)
        #expect(report.effectiveURL.description == fixture.url("/0.png"))
        #expect(try EngineFixture.content(report) == DocumentRoot.content(0))
    }

    @Test func followsOnlySoManyRedirects() async throws {
        let fixture = try NginxFixture(limits: TransferLimits(redirects: 1))
        #expect(try await fixture.fetch("/moved/0.png").failure == nil)
        for path in ["/moved-twice/0.png", "/loop"] {
            let error = try await fixture.fetch(path).failure
            #expect(error?.kind == .tooManyRedirects && error?.isTransient == false)
        }
        fixture.origin.stop()
        #expect(try fixture.origin.requests().filter { $0.path == "/loop" }.count == 2)
    }

    /// The limit is met exactly, missed by one byte with a Content-Length, and without one.
    @Test(arguments: [
        ("/0.png", 10_008, nil), ("/0.png", 10_007, FetchError.Code.tooLarge),
        ("/chunked/0.png", 10_008, nil), ("/chunked/0.png", 10_007, .tooLarge),
    ])
    func holdsTheByteLimit(path: String, limit: Int64, code: FetchError.Code?) async throws {
        let fixture = try NginxFixture(limits: TransferLimits(bytes: limit))
        let request = try fixture.client.request(fixture.url(path))
        let error = await fixture.client.run(request).failure
        #expect(error?.kind == code)
        #expect(error?.isTransient != true)
        let written = try Data(contentsOf: URL(filePath: request.output.name))
        #expect(written.count <= limit)
    }

    @Test func tellsAPage() async throws {
        let origin = try NginxOrigin(documentRoot: "/nonexistent")
        let fixture = try EngineFixture()
        for name in ["page.html", "page.png"] {
            let report = try await fixture.fetch("\(origin.baseURL)/\(name)?secret").get()
            let message =
                "\(origin.baseURL)/\(name)?…: the server answered with an HTML page, not a picture "
                + "(Content-Type text/html)"
            #expect(throws: FetchError(.htmlPage, message)) { try report.pictureKind() }
        }
    }

    @Test func sendsCredentialsOfTheURLAndShowsNone() async throws {
        let fixture = try NginxFixture()
        let base = fixture.origin.baseURL.dropFirst("http://".count)
        let report = try await fixture.client.fetch("http://ann:secret@\(base)/private/0.png").get()
        #expect(try EngineFixture.content(report) == DocumentRoot.content(0))
        #expect(report.effectiveURL.description == fixture.url("/private/0.png"))
        let refused = try await fixture.client.fetch("http://ann:secrets@\(base)/private/0.png")
            .failure
        #expect(refused?.kind == .httpStatus)
        #expect(refused?.message.contains("secret") == false)
    }

    /// Over TLS and HTTP/2, with the origin's certificate trusted and not.
    @Test func verifiesTLS() async throws {
        let fixture = try NginxFixture(tls: true)
        let origin = fixture.origin
        let report = try await fixture.fetch("/0.png").get()
        #expect(try EngineFixture.content(report) == DocumentRoot.content(0))

        let strict = try await EngineFixture().fetch("\(origin.baseURL)/0.png").failure
        #expect(strict?.kind == .tlsFailed)
        #expect(strict?.isTransient == false)
        let missing = try EngineFixture(caFile: "/nonexistent/ca.pem")
        #expect(try await missing.fetch("\(origin.baseURL)/0.png").failure?.kind == .tlsFailed)
        // Another name of the same address, which the certificate does not have.
        let other = "https://127.0.0.2:\(origin.port)/0.png"
        let failure = try await fixture.client.fetch(other).failure
        #expect(failure?.kind == .connectFailed || failure?.kind == .tlsFailed)

        origin.stop()
        #expect(try origin.requests().map(\.protocolName) == ["HTTP/2.0"])
    }

    /// All transfers to a server that speaks HTTP/2 share one connection, also those that begin before it is
    /// made.
    @Test func sharesOneConnection() async throws {
        let nginx = try NginxFixture(0..<20, tls: true)
        let (fixture, origin) = (nginx.client, nginx.origin)
        let outcomes = Collected<Result<TransferReport, FetchError>>()
        for name in nginx.root.names {
            fixture.engine.start(
                try fixture.request(nginx.url("/\(name)"), output: name),
                completion: outcomes.add)
        }
        #expect(await outcomes.wait(for: 20).compactMap(\.failure?.message) == [])
        for (index, name) in nginx.root.names.enumerated() {
            let content = try Data(contentsOf: fixture.scratch.url.appending(path: name))
            #expect(content == DocumentRoot.content(index))
        }
        // A handle whose last transfer spoke HTTP/2 serves for the next.
        let url = nginx.url("/0.png")
        #expect(try await fixture.fetch(inTurn: [url, url]).last?.get().reusedConnection == true)
        origin.stop()
        let connections = try origin.requests().map(\.connection)
        #expect(Set(connections.prefix(20)).count == 1)
        #expect(Set(connections.suffix(2)).count == 1)
    }

    /// A proxy's own address is allowed; what a URL names is judged all the same.
    @Test func goesThroughAProxy() async throws {
        let root = try DocumentRoot()
        let origin = try NginxOrigin(documentRoot: root.scratch.path)
        let fixture = try EngineFixture(proxy: origin.baseURL, rules: FetchRules())
        // Nothing resolves this name: only a proxy can be asked for it.
        let report = try await fixture.fetch("http://picture.invalid/0.png").get()
        #expect(try EngineFixture.content(report) == DocumentRoot.content(0))
        let refused = try await fixture.fetch("http://127.0.0.1:\(origin.port)/0.png").failure
        #expect(refused?.kind == .addressForbidden)
        let unresolvable = try EngineFixture(proxy: "http://proxy.invalid:3128")
        let failure = try await unresolvable.fetch("http://picture.invalid/0.png").failure
        #expect(failure?.kind == .resolveFailed)
    }

    @Test func takesNewSettingsForNewTransfers() async throws {
        let fixture = try NginxFixture(limits: TransferLimits(bytes: 1))
        #expect(try await fixture.fetch("/0.png").failure?.kind == .tooLarge)
        fixture.client.engine.update(
            TransferSettings(connections: 1, rules: .loopback, userAgent: "another"))
        #expect(try await fixture.fetch("/0.png").failure == nil)
        fixture.origin.stop()
        #expect(try fixture.origin.requests().last?.userAgent == "another")
    }

    @Test func tellsAFullDisk() async throws {
        let fixture = try NginxFixture()
        let output = TransferOutput(
            Descriptor(owning: open("/dev/full", O_WRONLY | O_CLOEXEC)), name: "/dev/full")
        let url = try RemoteURL(ByteString(fixture.url("/0.png")))
        let error = await fixture.client.run(TransferRequest(url: url, output: output)).failure
        let message =
            "\(url): the download cannot be written to /dev/full: No space left on device"
        #expect(
            error == FetchError(.writeFailed, message, isTransient: true, storageFailure: .full))
    }

    @Test func createsNoFileTwice() throws {
        let fixture = try EngineFixture()
        _ = try fixture.request("http://127.0.0.1/", output: "same")
        let error = #expect(throws: FetchError.self) {
            try fixture.request("http://127.0.0.1/", output: "same")
        }
        #expect(error?.kind == .writeFailed)
    }
}
