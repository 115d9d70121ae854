import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import Foundation
import TestPictures
import TestSupport
import Testing

/// What one end-to-end test works with: a spool, and an origin with pictures.
final class DaemonFixture: Sendable {
    let spool: SpoolFixture
    let origin: NginxOrigin
    /// The origin's documents.
    let documents: ScratchDirectory

    static let width = 80
    static let height = 64
    /// A small picture, the same bytes each time.
    static let picture = Starfield.png(width: width, height: height, seed: 1)

    /// Makes a spool and an origin that serves `pictures` pictures, `0.png`, `1.png`, ….
    init(pictures: Int = 12, spool: SpoolFixture? = nil) throws {
        self.spool = try spool ?? SpoolFixture()
        documents = try ScratchDirectory()
        for index in 0..<pictures {
            try documents.write(Self.picture, to: "\(index).png")
        }
        origin = try NginxOrigin(documentRoot: documents.path)
    }

    func url(_ document: String) -> String { "\(origin.baseURL)/\(document)" }

    /// The address of a document that takes the origin a good while.
    func slowURL(_ document: String) -> String { "\(origin.baseURL)/slow/\(document)" }

    /// Images of documents that take the origin a good while. At two downloads at a time this many
    /// take half a minute, so that a busy machine's test comes in time to see them under way.
    func slowImages(_ numbers: Range<Int> = 0..<many) -> [(name: String, source: String)] {
        numbers.map { ("\($0)", slowURL("\($0).png")) }
    }

    /// Whether a path that was asked for is one of theirs.
    func isSlow(_ path: String, _ numbers: Range<Int>) -> Bool {
        numbers.contains { path == "/slow/\($0).png" }
    }

    /// How many documents are enough for ``slowImages(_:)``.
    static let many = 240

    /// Starts a daemon on the spool and waits until it is ready.
    func run(
        _ settings: [String: String] = [:], arguments: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> DaemonProcess {
        try await DaemonProcess.run(
            spool: spool.path, settings: settings, arguments: arguments, environment: environment)
    }

    /// The same without waiting.
    func launch(
        _ settings: [String: String] = [:], arguments: [String] = [],
        environment: [String: String] = [:], user: UInt32? = nil, program: String? = nil
    ) throws -> DaemonProcess {
        try DaemonProcess(
            arguments: DaemonProcess.arguments(spool: spool.path, settings: settings) + arguments,
            environment: environment, user: user, program: program)
    }

    /// Starts a daemon that cannot start, and waits for its end.
    func end(
        _ settings: [String: String], arguments: [String] = []
    ) async throws -> (ending: DaemonProcess.Ending, output: String) {
        let daemon = try launch(settings, arguments: arguments)
        return (try await daemon.waitForEnding(), daemon.outputText)
    }

    /// Starts a daemon that a fault kills, perhaps before it is ready.
    func die(
        _ settings: [String: String] = [:], environment: [String: String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let ending = try await launch(settings, environment: environment).waitForEnding()
        #expect(
            ending == .killed(signal: SIGKILL), "\(environment)", sourceLocation: sourceLocation)
    }

    static func running(
        pictures: Int = 12, spool: SpoolFixture? = nil, _ settings: [String: String] = [:],
        arguments: [String] = [], environment: [String: String] = [:]
    ) async throws -> (DaemonFixture, DaemonProcess) {
        let fixture = try DaemonFixture(pictures: pictures, spool: spool)
        let daemon = try await fixture.run(
            settings, arguments: arguments, environment: environment)
        return (fixture, daemon)
    }

    /// Drops a JSON manifest of images with these names and sources.
    func drop(
        _ id: String, images: [(name: String, source: String)], priority: Priority = .normal
    ) throws {
        try drop(
            id,
            [
                "priority": priority.rawValue,
                "images": images.map { ["name": $0.name, "source": $0.source] },
            ])
    }

    /// Drops a JSON manifest.
    func drop(_ id: String, _ manifest: [String: Any]) throws {
        try spool.drop("\(id).json", Self.json(manifest))
    }

    static func json(_ object: Any) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
    }

    /// What the origin was asked, once it has logged so many requests that match: it does so after their end.
    func logged(
        _ count: Int, where matches: (NginxOrigin.Request) -> Bool = { _ in true }
    ) async throws -> [NginxOrigin.Request] {
        try await eventually("\(count) requests in the origin's log") {
            let requests = try origin.requests()
            return requests.count(where: matches) >= count ? requests : nil
        }
    }

    /// A transfer that stands still is given up by nobody.
    static let patient = ["downloads.stallTime": "3600s", "downloads.timeout": "1h"]

    func requests(for path: String) throws -> Int {
        try origin.requests().count { $0.path == path }
    }

    /// What must hold for every batch that has ended: nothing of it is left in the inbox or in
    /// `active`, and its answer is right.
    func checkOutcome(
        _ status: Status, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let folder = "outbox/\(status.id)"
        #expect(!spool.exists("active/\(status.id)"), sourceLocation: sourceLocation)
        #expect(
            !spool.exists("inbox/\(status.manifest.name)"), sourceLocation: sourceLocation)
        let found = ["originals", "page", "sources.json"].filter { spool.exists("\(folder)/\($0)") }
        try spool.checkAnswer(
            status, in: folder, and: found, sourceLocation: sourceLocation)
    }

    /// Drops a manifest of these images and waits for its end.
    @discardableResult
    func finish(
        _ id: String, images: [(name: String, source: String)], _ daemon: DaemonProcess
    ) async throws -> Status {
        try drop(id, images: images)
        return try await spool.finish(id, daemon)
    }

    /// The same for one of which every image is to be filtered.
    @discardableResult
    func complete(
        _ id: String, images: [(name: String, source: String)], _ daemon: DaemonProcess,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Status {
        try drop(id, images: images)
        return try await complete(id, daemon, sourceLocation: sourceLocation)
    }

    /// Waits for the end of a batch of which every image is to be filtered.
    @discardableResult
    func complete(
        _ id: String, _ daemon: DaemonProcess,
        mayRemove: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Status {
        let status = try await spool.finish(id, daemon, mayRemove: mayRemove)
        try checkCompleted(status, sourceLocation: sourceLocation)
        return status
    }

    /// A finished batch of which every image was filtered.
    func checkCompleted(
        _ status: Status, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(status.state == .completed, sourceLocation: sourceLocation)
        #expect(
            status.images.compactMap(\.error) == [], sourceLocation: sourceLocation)
        #expect(status.counts.filtered == status.images.count, sourceLocation: sourceLocation)
        try checkOutcome(status, sourceLocation: sourceLocation)
    }
}

extension Status {
    func image(_ name: String) throws -> ImageStatus {
        try #require(images.first { $0.name == name })
    }
}

extension DaemonFixture {
    func report() throws -> InboxReport? {
        guard spool.exists("inbox.json") else { return nil }
        return try JSONDecoder().decode(InboxReport.self, from: Data(spool.bytes("inbox.json")))
    }

    func waitForReport(
        _ daemon: DaemonProcess, _ what: String, until condition: (InboxReport) -> Bool
    ) async throws -> InboxReport {
        try await daemon.waitFor("inbox.json to tell of \(what)", report, until: condition)
    }
}

extension DaemonProcess {
    /// Reads something until it satisfies a condition, and returns it.
    func waitFor<Report>(
        _ what: String, _ read: () throws -> Report?, until condition: (Report) -> Bool
    ) async throws -> Report {
        try await eventually(
            what, context: { "\(String(describing: try? read())) \(describe())" }
        ) {
            try read().flatMap { condition($0) ? $0 : nil }
        }
    }
}

extension FaultPoint {
    /// Has a process killed here.
    var environment: [String: String] { environment(passing: 1) }

    /// The same when it passes here for so many times.
    func environment(passing count: Int) -> [String: String] {
        [Self.variable: "\(rawValue):\(count)"]
    }
}
