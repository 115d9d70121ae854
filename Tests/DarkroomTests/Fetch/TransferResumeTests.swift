import CDarkroomDeflate
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DarkroomFetch
@testable import DarkroomFixtures

/// Downloads that go on where another has ended, and requests about what is already here.
@Suite(.tags(.concurrency)) struct TransferResumeTests {
    static let body = DocumentRoot.content(600)

    static func checksum(_ bytes: some DataProtocol) -> UInt32 {
        let bytes = [UInt8](bytes)
        return darkroom_crc32(0, bytes, bytes.count)
    }

    /// The first 300,000 bytes arrive, then the connection breaks.
    static func brokenOff(
        _ fields: [String], ending: ScriptedOrigin.Reply.Ending = .close
    ) -> ScriptedOrigin.Reply {
        ScriptedOrigin.Reply(
            ["HTTP/1.1 200 OK", "Content-Length: \(body.count)"] + fields,
            body: [UInt8](body.prefix(300_000)), ending: ending)
    }

    static let tag = "ETag: \"v1\""

    @Test(arguments: [
        (ScriptedOrigin.Reply.Ending.close, FetchError.Code.truncated), (.reset, .connectionReset),
        (.hold, .timeout),
    ])
    func tellsWhatIsThere(
        ending: ScriptedOrigin.Reply.Ending, code: FetchError.Code
    ) async throws {
        let origin = try ScriptedOrigin { _ in Self.brokenOff([Self.tag], ending: ending) }
        var limits = TransferLimits.patient
        var error: FetchError?
        var content = Data()
        // To a busy machine not all of it may have come in a second.
        for seconds in code == .timeout ? [1, 5, 30] : [3600] {
            limits.total = .seconds(seconds)
            let fixture = try EngineFixture(limits: limits)
            let request = try fixture.request(origin.baseURL)
            error = await fixture.run(request).failure
            #expect(error?.kind == code)
            content = try Data(contentsOf: URL(filePath: request.output.name))
            if content.count == 300_000 { break }
        }
        #expect(content == Self.body.prefix(300_000))
        let partial = PartialBody(
            bytes: 300_000, validator: "\"v1\"", crc32: Self.checksum(content),
            total: Int64(Self.body.count))
        #expect(error?.partial == partial)
    }

    @Test(arguments: [["ETag: W/\"v1\""], [], ["ETag: \"v1\"", "Content-Encoding: deflate"]])
    func tellsOfNothingToResume(fields: [String]) async throws {
        let origin = try ScriptedOrigin { _ in Self.brokenOff(fields) }
        let error = try await EngineFixture().fetch(origin.baseURL).failure
        #expect(error != nil)
        #expect(error?.partial == nil)
    }

    /// From a real server: the second attempt asks for the rest, and has the whole file in the end.
    @Test(arguments: ["/600.png", "/moved/600.png"])
    func resumes(path: String) async throws {
        let nginx = try NginxFixture(600..<601)
        let fixture = nginx.client
        let whole = try await nginx.fetch(path).get()
        #expect(whole.crc32 == Self.checksum(Self.body))
        let tag = try #require(whole.response.entityTag?.text)

        let start = Self.body.prefix(400_000)
        var request = try fixture.request(nginx.url(path), holding: start)
        request.resume = PartialBody(
            bytes: 400_000, validator: tag, crc32: Self.checksum(start),
            total: Int64(Self.body.count), target: whole.target)
        let report = try await fixture.run(request).get()
        #expect(report.resumedFrom == 400_000)
        #expect(report.response.status.code == 206)
        #expect(report.bytes == Int64(Self.body.count))
        #expect(report.crc32 == whole.crc32)
        #expect(report.prefix == whole.prefix)
        #expect(try EngineFixture.content(report) == Self.body)

        // Of another state of the file, or of another URL: the whole of it.
        for (validator, target) in [("\"other\"", whole.target), (tag, "another")] {
            let stale =
                Self.body.prefix(400_000).map { $0 ^ 1 } + [UInt8](repeating: 7, count: 400_000)
            var request = try fixture.request(nginx.url(path), holding: stale)
            request.resume = PartialBody(
                bytes: 400_000, validator: validator, crc32: 1, target: target)
            let report = try await fixture.run(request).get()
            #expect(report.resumedFrom == 0)
            #expect(report.response.status.code == 200)
            #expect(report.crc32 == whole.crc32)
            #expect(try EngineFixture.content(report) == Self.body)
        }
    }

    /// A server that sends another part than it was asked for, or none, is asked for the whole once.
    @Test(arguments: [
        ["HTTP/1.1 206 Partial Content", "Content-Range: bytes 0-9/608208", "Content-Length: 10"],
        ["HTTP/1.1 206 Partial Content", "Content-Length: 10"],
        ["HTTP/1.1 416 Range Not Satisfiable", "Content-Length: 10"],
    ])
    func beginsAnewOnce(head: [String]) async throws {
        let origin = try ScriptedOrigin { request in
            request.fields["range"] == nil
                ? .ok(["Content-Length: \(Self.body.count)"], body: [UInt8](Self.body))
                : ScriptedOrigin.Reply(head, body: [UInt8](repeating: 0, count: 10))
        }
        let fixture = try EngineFixture()
        var request = try fixture.request(origin.baseURL, holding: Self.body.prefix(300_000))
        request.resume = PartialBody(
            bytes: 300_000, validator: "\"v1\"", crc32: Self.checksum(Self.body.prefix(300_000)))
        let report = try await fixture.run(request).get()
        #expect(report.resumedFrom == 0)
        #expect(try EngineFixture.content(report) == Self.body)
        #expect(origin.requests.map { $0.fields["range"] } == ["bytes=300000-", nil])
        #expect(origin.requests.map { $0.fields["if-range"] } == ["\"v1\"", nil])
    }

    /// Attempts that break off again and again bring the whole together; a refusal in between loses nothing.
    @Test func resumesUntilWhole() async throws {
        let turn = Mutex(0)
        let origin = try ScriptedOrigin { request in
            let turn = turn.withLock { turn in
                turn += 1
                return turn
            }
            if turn == 2 { return ScriptedOrigin.Reply(["HTTP/1.1 503 X", "Retry-After: 7"]) }
            guard let range = request.fields["range"],
                let start = Int(range.dropFirst("bytes=".count).dropLast())
            else { return Self.brokenOff([Self.tag]) }
            let end = turn == 3 ? start + 100_000 : Self.body.count
            let head = [
                "HTTP/1.1 206 Partial Content", Self.tag,
                "Content-Range: bytes \(start)-\(Self.body.count - 1)/\(Self.body.count)",
                "Content-Length: \(Self.body.count - start)",
            ]
            return ScriptedOrigin.Reply(head, body: [UInt8](Self.body[start..<end]))
        }
        let fixture = try EngineFixture()
        var request = try fixture.request(origin.baseURL)
        var arrived: [Int64?] = []
        for _ in 0..<3 {
            let error = await fixture.run(request).failure
            arrived.append(error?.partial?.bytes)
            #expect(error?.retryAfter == (arrived.count == 2 ? 7 : nil))
            request.resume = error?.partial
        }
        #expect(arrived == [300_000, 300_000, 400_000])
        let report = try await fixture.run(request).get()
        #expect(report.resumedFrom == 400_000)
        #expect(report.crc32 == Self.checksum(Self.body))
        #expect(try EngineFixture.content(report) == Self.body)
    }

    /// A scratch file that was emptied meanwhile is no reason to fail.
    @Test func resumesNothingThatIsGone() async throws {
        let origin = try ScriptedOrigin { _ in .picture() }
        let fixture = try EngineFixture()
        var request = try fixture.request(origin.baseURL, holding: Data([1, 2, 3]))
        request.resume = PartialBody(bytes: 4, validator: "\"v1\"", crc32: 0)
        _ = try await fixture.run(request).get()
        #expect(origin.requests.map { $0.fields["range"] } == [nil])
    }

    @Test func revalidates() async throws {
        let nginx = try NginxFixture()
        let fixture = nginx.client
        for path in ["/0.png", "/moved/0.png"] {
            let first = try await nginx.fetch(path).get()
            #expect(!first.isNotModified)
            var request = try fixture.request(nginx.url(path))
            request.validators = Validators(first.response)
            request.target = first.target
            let second = try await fixture.run(request).get()
            #expect(second.isNotModified)
            #expect(second.response.status.code == 304)
            #expect(second.bytes == 0)
            #expect(try EngineFixture.content(second).isEmpty)
            // What is said of one URL is not said to another.
            request.target = "another"
            #expect(try await fixture.run(request).get().response.status.code == 200)
        }
        var request = try fixture.request(nginx.url("/0.png"))
        request.validators = Validators(entityTag: "\"other\"")
        let changed = try await fixture.run(request).get()
        #expect(!changed.isNotModified)
        #expect(try EngineFixture.content(changed) == DocumentRoot.content(0))
    }
}
