import DarkroomAnswer
import DarkroomManifest
import Foundation
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
            try Data(Self.picture).write(to: documents.url.appending(path: "\(index).png"))
        }
        origin = try NginxOrigin(documentRoot: documents.path)
    }

    /// The address of a document, at the speed of the machine.
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

    /// A fixture with a daemon that is ready.
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

    /// How often the origin has answered a request for this path.
    func requests(for path: String) throws -> Int {
        try origin.requests().count { $0.path == path }
    }

    /// What must hold for every batch that has ended: nothing of it is left in the inbox or in
    /// `active`, its counts agree with its images, and its outputs are what it says they are.
    func checkOutcome(
        _ status: Status, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let folder = "outbox/\(status.id)"
        #expect(status.state.isFinal, sourceLocation: sourceLocation)
        #expect(!spool.exists("active/\(status.id)"), sourceLocation: sourceLocation)
        #expect(
            !spool.exists("inbox/\(status.manifest.name)"), sourceLocation: sourceLocation)
        let counts = status.counts
        #expect(counts.total == status.images.count, sourceLocation: sourceLocation)
        for state in ImageState.allCases {
            #expect(
                counts[state] == status.images.count { $0.state == state },
                sourceLocation: sourceLocation)
        }
        #expect(
            counts.warnings == status.images.count(where: \.isWarned),
            sourceLocation: sourceLocation)
        let outputs = status.images.compactMap(\.output)
        let kept = outputs.map(\.file) + [status.manifest.file].compactMap { $0 }
        let found = ["originals", "page", "sources.json"].filter { spool.exists("\(folder)/\($0)") }
        let sizes = ResultSizes.areUseful(for: status.images) ? ["sizes.json"] : []
        let all = kept + found + sizes + ["progress.json", "status.json"]
        for (inner, names) in namesInFolders(of: all) {
            #expect(
                spool.list("\(folder)/\(inner)") == names.sorted(), sourceLocation: sourceLocation)
        }
        let progress = try #require(
            BatchProgress(decoding: try spool.bytes("\(folder)/progress.json")),
            sourceLocation: sourceLocation)
        #expect(
            progress.saysTheSame(as: BatchProgress(of: status)), sourceLocation: sourceLocation)
        let sums = try Checksums.sha256(of: kept, in: spool.root.appending(path: folder).path)
        #expect(
            sums == outputs.map(\.sha256) + [status.manifest.copySHA256].compactMap { $0 },
            sourceLocation: sourceLocation)
        for output in outputs {
            let bytes = try spool.bytes("\(folder)/\(output.file)")
            #expect(bytes.count == output.bytes, sourceLocation: sourceLocation)
            let start: [UInt8] =
                switch output.format {
                case .png: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
                case .jpeg: [0xff, 0xd8, 0xff]
                case .webp: Array("RIFF".utf8)
                case .avif: [0, 0, 0]
                case .tiff: Array("II*\0".utf8)
                case .jpegXL: [0xff, 0x0a]
                }
            #expect(bytes.starts(with: start), sourceLocation: sourceLocation)
        }
    }

    /// Waits for the end of a batch of which every image is to be filtered.
    @discardableResult
    func complete(
        _ id: String, _ daemon: DaemonProcess, within limit: Duration = .seconds(60),
        mayRemove: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Status {
        let status = try await spool.finish(id, daemon, within: limit, mayRemove: mayRemove)
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
    /// The image of this name.
    func image(_ name: String) throws -> ImageStatus {
        try #require(images.first { $0.name == name })
    }
}

extension DaemonFixture {
    /// What inbox.json says; nil if there is none.
    func report() throws -> InboxReport? {
        let path = spool.root.appending(path: "inbox.json").path
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        return try JSONDecoder().decode(InboxReport.self, from: data)
    }

    /// Waits until inbox.json says so, and returns that report.
    func waitForReport(
        _ daemon: DaemonProcess, _ what: String, until condition: (InboxReport) -> Bool
    ) async throws -> InboxReport {
        try await eventually(
            "inbox.json to tell of \(what)",
            context: { "\(String(describing: try? report())) \(daemon.describe())" }
        ) {
            if let report = try report(), condition(report) { return report }
            return nil
        }
    }
}

/// SHA-256 by another program than the one under test.
enum Checksums {
    /// Hexadecimal, in the order of the files, which are in `folder`.
    static func sha256(of files: [String], in folder: String) throws -> [String] {
        // Without a file the program would read its standard input.
        if files.isEmpty { return [] }
        // -z: names are printed as they are, whatever they hold.
        let (_, output) = try SystemProgram.run(
            "/usr/bin/sha256sum", ["-z", "--"] + files, in: folder)
        return output.split(separator: 0).map { String(decoding: $0.prefix(64), as: UTF8.self) }
    }
}
