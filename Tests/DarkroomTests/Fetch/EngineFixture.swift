import Foundation
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomFixtures

/// An engine with a folder to download to. Stopped and removed with the last reference.
final class EngineFixture: Sendable {
    let engine: TransferEngine
    let scratch: ScratchDirectory

    /// - Parameter limits: by default so patient that no test meets them because the machine is busy.
    init(
        limits: TransferLimits = .patient, connections: Int = 16, caFile: String? = nil,
        proxy: String? = nil, rules: FetchRules = .loopback, resolve: [String] = []
    ) throws {
        scratch = try ScratchDirectory()
        engine = try TransferEngine(
            settings: TransferSettings(
                limits: limits, connections: connections, caFile: caFile, proxy: proxy,
                rules: rules, userAgent: TransferSettings.userAgent(version: "test"),
                resolve: resolve))
    }

    deinit { engine.stop() }

    func request(_ url: String, output: String = UUID().uuidString) throws -> TransferRequest {
        let path = scratch.url.appending(path: output).path
        return TransferRequest(
            url: try RemoteURL(ByteString(url)), output: try TransferOutput(creating: path))
    }

    func run(_ request: TransferRequest) async -> Result<TransferReport, FetchError> {
        await withCheckedContinuation { continuation in
            engine.start(request) { continuation.resume(returning: $0) }
        }
    }

    func fetch(_ url: String) async throws -> Result<TransferReport, FetchError> {
        await run(try request(url))
    }

    /// One as soon as the other has ended. A busy machine's test would come back to ask for the next so late that the
    /// connection is not used any more.
    func fetch(inTurn urls: [String]) async throws -> [Result<TransferReport, FetchError>] {
        let requests = try urls.map { try request($0) }
        return await withCheckedContinuation { continuation in
            run(requests[...], []) { continuation.resume(returning: $0) }
        }
    }

    private typealias Results = [Result<TransferReport, FetchError>]

    private func run(
        _ requests: ArraySlice<TransferRequest>, _ results: Results,
        _ completion: @escaping @Sendable (Results) -> Void
    ) {
        guard let next = requests.first else { return completion(results) }
        engine.start(next) { [self] in run(requests.dropFirst(), results + [$0], completion) }
    }

    /// A request whose output holds `content` already, as an earlier attempt has left it.
    func request(_ url: String, holding content: some DataProtocol) throws -> TransferRequest {
        let request = try request(url)
        try Data(content).write(to: URL(filePath: request.output.name))
        return request
    }

    /// The bytes that a transfer has written so far.
    func size(of request: TransferRequest) throws -> Int {
        try URL(filePath: request.output.name).resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
    }

    /// An operation for a request that is ready before its turn comes.
    func operation(
        _ url: String, completion: @escaping TransferOperation.Completion
    ) throws -> TransferOperation {
        operation(try request(url), completion: completion)
    }

    func operation(
        _ request: TransferRequest, completion: @escaping TransferOperation.Completion
    ) -> TransferOperation {
        TransferOperation(
            engine: engine, url: request.url, prepare: { .transfer(request) },
            completion: completion)
    }

    /// What the transfer has written.
    static func content(_ report: TransferReport) throws -> Data {
        try Data(contentsOf: URL(filePath: report.request.output.name))
    }
}

extension Result<TransferReport, FetchError> {
    /// The failure, or nil for a success.
    var failure: FetchError? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension ScriptedOrigin.Reply {
    static func ok(_ fields: [String] = [], body: [UInt8] = [1, 2, 3]) -> Self {
        Self(["HTTP/1.1 200 OK"] + fields, body: body)
    }

    static func gzip(_ body: [UInt8]) -> Self { ok(["Content-Encoding: gzip"], body: body) }

    static func chunked(_ body: String, status: String = "200 OK") -> Self {
        Self(["HTTP/1.1 \(status)", "Transfer-Encoding: chunked"], body: Array(body.utf8))
    }

    static func raw(_ text: String) -> Self { Self(bytes: Array(text.utf8)) }

    static func found(_ location: String, status: Int = 302, _ fields: [String] = []) -> Self {
        Self(["HTTP/1.1 \(status) Found", "Location: \(location)", "Content-Length: 0"] + fields)
    }

    static func picture(_ fields: [String] = []) -> Self {
        let body = Array(DocumentRoot.content(0))
        return ok(["Content-Length: \(body.count)"] + fields, body: body)
    }
}

/// A folder of files with known content, an nginx that serves it, and an engine.
struct NginxFixture {
    let root: DocumentRoot
    let origin: NginxOrigin
    let client: EngineFixture

    /// - Parameter tls: whether it speaks TLS, with a certificate that the engine trusts.
    init(
        _ indices: Range<Int> = 0..<1, limits: TransferLimits = .patient, tls: Bool = false
    ) throws {
        root = try DocumentRoot(indices)
        origin = try NginxOrigin(documentRoot: root.scratch.path, tls: tls)
        client = try EngineFixture(limits: limits, caFile: tls ? origin.caFile : nil)
    }

    func url(_ path: String) -> String { "\(origin.baseURL)\(path)" }

    func fetch(_ path: String) async throws -> Result<TransferReport, FetchError> {
        try await client.fetch(url(path))
    }
}

extension ScratchDirectory {
    /// Makes a symbolic link at a path in it.
    func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: "\(self.path)/\(path)", withDestinationPath: target)
    }
}

extension LocalSources.OpenedFile {
    /// Its first bytes.
    var content: String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor.number, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}

/// A folder of files with known content, each of its own size.
struct DocumentRoot {
    let scratch: ScratchDirectory
    let names: [String]

    init(_ indices: Range<Int> = 0..<1) throws {
        scratch = try ScratchDirectory()
        names = indices.map { "\($0).png" }
        for (index, name) in zip(indices, names) {
            try Self.content(index).write(to: scratch.url.appending(path: name))
        }
    }

    /// PNG's signature, and bytes that differ from file to file.
    static func content(_ index: Int) -> Data {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let rest = (0..<(10_000 + 997 * index)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index) }
        return Data(signature + rest)
    }
}
