import Foundation
import TestSupport
import Testing

@testable import DarkroomFetch
@testable import DarkroomFixtures

/// Transfers that want only the first bytes of a body.
@Suite(.tags(.concurrency)) struct TransferBeginningTests {
    static let body = [UInt8](DocumentRoot.content(600))
    static let most: Int64 = 64 << 10

    private func fetch(
        _ url: String, limits: TransferLimits = .patient
    ) async throws -> Result<TransferReport, FetchError> {
        let fixture = try EngineFixture(limits: limits)
        var request = try fixture.request(url)
        request.firstBytes = Self.most
        let result = await fixture.run(request)
        if case .success(let report) = result {
            let content = [UInt8](try EngineFixture.content(report))
            #expect(content == Array(Self.body.prefix(content.count)))
            #expect(content.count == report.bytes && report.bytes <= Self.most)
        }
        return result
    }

    struct Answer: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The first answer; the second one is the whole body.
        var head: [String]
        var body: Range<Int>
        /// What the report says.
        var bytes: Int64
        var total: Int64?
        /// Whether the server is asked again, for the whole.
        var isAskedAgain = false
    }

    static let length = "Content-Length: \(body.count)"

    static let answers = [
        Answer(
            testDescription: "the wanted part",
            head: [
                "HTTP/1.1 206 X", "Content-Range: bytes 0-65535/\(body.count)",
                "Content-Length: 65536",
            ], body: 0..<65536, bytes: most, total: Int64(body.count)),
        Answer(
            testDescription: "a part of an unknown whole",
            head: ["HTTP/1.1 206 X", "Content-Range: bytes 0-65535/*", "Content-Length: 65536"],
            body: 0..<65536, bytes: most, total: nil),
        Answer(
            testDescription: "a short whole",
            head: ["HTTP/1.1 206 X", "Content-Range: bytes 0-999/1000", "Content-Length: 1000"],
            body: 0..<1000, bytes: 1000, total: 1000),
        Answer(
            testDescription: "no parts", head: ["HTTP/1.1 200 X", length], body: 0..<body.count,
            bytes: most, total: Int64(body.count)),
        Answer(
            testDescription: "no parts and no length", head: ["HTTP/1.1 200 X"],
            body: 0..<body.count, bytes: most, total: nil),
        Answer(
            testDescription: "no parts of a short whole",
            head: ["HTTP/1.1 200 X", "Content-Length: 1000"], body: 0..<1000, bytes: 1000,
            total: 1000),
        Answer(
            testDescription: "a whole that is exactly so long",
            head: ["HTTP/1.1 200 X", "Content-Length: 65536"], body: 0..<65536, bytes: most,
            total: most),
        Answer(
            testDescription: "another part",
            head: [
                "HTTP/1.1 206 X", "Content-Range: bytes 1-65535/\(body.count)",
                "Content-Length: 65535",
            ], body: 1..<65536, bytes: most, total: Int64(body.count), isAskedAgain: true),
        Answer(
            testDescription: "less than the part",
            head: [
                "HTTP/1.1 206 X", "Content-Range: bytes 0-99/\(body.count)", "Content-Length: 100",
            ], body: 0..<100, bytes: most, total: Int64(body.count), isAskedAgain: true),
        Answer(
            testDescription: "no such part", head: ["HTTP/1.1 416 X", "Content-Length: 0"],
            body: 0..<0, bytes: most, total: Int64(body.count), isAskedAgain: true),
    ]

    @Test(arguments: answers) func takesNoMore(answer: Answer) async throws {
        let origin = try ScriptedOrigin { request in
            request.fields["range"] == nil
                ? .init(["HTTP/1.1 200 OK", Self.length], body: Self.body)
                : .init(answer.head, body: Array(Self.body[answer.body]))
        }
        let report = try await fetch(origin.baseURL).get()
        #expect(report.bytes == answer.bytes && report.total == answer.total)
        #expect(
            origin.requests.map { $0.fields["range"] }
                == ["bytes=0-65535"] + (answer.isAskedAgain ? [nil] : []))
    }

    /// The end of the transfer is that of the wanted bytes, not that of the server.
    @Test(arguments: [MisbehavingOrigin.Behaviour.endless, .huge])
    func endsWithoutTheServer(behaviour: MisbehavingOrigin.Behaviour) async throws {
        let origin = try MisbehavingOrigin()
        var limits = TransferLimits.patient
        limits.bytes = 1 << 40
        let fixture = try EngineFixture(limits: limits)
        var request = try fixture.request(origin.url(behaviour))
        request.firstBytes = Self.most
        let report = try await fixture.run(request).get()
        #expect(report.bytes == Self.most)
        #expect(report.total == (behaviour == .huge ? 1 << 30 : nil))
        #expect(try fixture.size(of: request) == Int(Self.most))
    }

    /// Bodies that are too large are refused with the same words, whether or not all of it is wanted.
    @Test func knowsTheLimit() async throws {
        var limits = TransferLimits.patient
        limits.bytes = Int64(Self.body.count) - 1
        let nginx = try NginxFixture(600..<601, limits: limits)
        let error = try await fetch(nginx.url("/600.png"), limits: limits).failure
        #expect(error?.kind == .tooLarge)
        #expect(error == (try await nginx.fetch("/600.png").failure))
    }

    /// A real server, with a redirect; the connection is used again after a part.
    @Test func keepsConnections() async throws {
        let nginx = try NginxFixture(600..<601)
        // On a busy machine, so much time may pass between two requests that a connection is too old.
        var isReused = false
        for path in ["/moved/600.png"] + Array(repeating: "/600.png", count: 4) where !isReused {
            var request = try nginx.client.request(nginx.url(path))
            request.firstBytes = Self.most
            let report = try await nginx.client.run(request).get()
            #expect(report.bytes == Self.most && report.total == Int64(Self.body.count))
            #expect(report.response.status.code == 206)
            isReused = path == "/600.png" && report.reusedConnection
        }
        #expect(isReused)
    }
}
