import DarkroomAnswer
import DarkroomCore
import Foundation
import Glibc
import TestPictures
import TestSupport
import Testing

/// A hot folder, with a recipe, on the spool of a `DaemonFixture`.
final class HotFolderFixture: TestFolder {
    let base: DaemonFixture
    /// Holds the configuration, its recipes and the hot folder.
    let scratch: ScratchDirectory
    let originals: String
    /// Further keys of the folder. `DONE` in it, and in `originals`, is the path of `done`.
    let options: String
    let delivers: Bool

    static let settings = ["inbox.settle": "200ms", "inbox.poll": "300ms"]

    init(originals: String = "keep", options: String = ", within: 100ms", delivers: Bool = false)
        throws
    {
        base = try DaemonFixture(pictures: 0)
        scratch = try ScratchDirectory()
        self.originals = originals
        self.options = options
        self.delivers = delivers
        for name in ["recipes", "scans", "delivered", "done"] {
            try scratch.makeFolder(name)
        }
        try recipe("filters: {resize: 8}\n")
        try "".write(toFile: configuration, atomically: false, encoding: .utf8)
    }

    var spool: SpoolFixture { base.spool }
    var configuration: String { "\(scratch.path)/darkroomd.yaml" }
    var folder: String { root.path }
    var root: URL { scratch.url("scans") }

    func recipe(_ text: String, _ name: String = "small") throws {
        try text.write(
            toFile: "\(scratch.path)/recipes/\(name).yaml", atomically: true, encoding: .utf8)
    }

    var delivered: String { "\(scratch.path)/delivered" }
    /// Where originals move.
    var done: String { "\(scratch.path)/done" }

    var setting: String {
        let deliver = delivers ? ", deliver: \(delivered)" : ""
        let keys = "originals: \(originals)\(options)\(deliver)"
        return "[{path: \(folder), recipe: small, \(keys.replacing("DONE", with: done))}]"
    }

    func run(
        _ settings: [String: String] = [:], environment: [String: String] = [:]
    ) async throws -> DaemonProcess {
        try await base.run(
            Self.settings.merging(["folders": setting]) { $1 }.merging(settings) { $1 },
            arguments: ["--config", configuration], environment: environment)
    }

    /// Starts a daemon that a fault ends, perhaps before it is ready.
    ///
    /// - Parameter meanwhile: what happens while it works.
    func die(
        at fault: String, by signal: CInt = SIGKILL,
        sourceLocation: SourceLocation = #_sourceLocation,
        meanwhile: (DaemonProcess) async throws -> Void = { _ in }
    ) async throws {
        let settings = Self.settings.merging(["folders": setting]) { $1 }
        let daemon = try base.launch(
            settings, arguments: ["--config", configuration],
            environment: [FaultPoint.variable: fault, "SWIFT_BACKTRACE": "enable=no"])
        try await meanwhile(daemon)
        let ending = try await daemon.waitForEnding()
        #expect(ending == .killed(signal: signal), "\(fault)", sourceLocation: sourceLocation)
    }

    /// Has the next daemon begin paused.
    func pause() throws {
        try spool.makeFolders()
        try spool.write([], to: "paused")
    }

    // MARK: Pictures

    /// A small picture, another one for each seed.
    static func picture(_ seed: Int) -> Data {
        Data(Starfield.png(width: 16, height: 12, seed: UInt64(seed)))
    }

    func put(_ name: String, _ seed: Int = 1) throws { try put(name, Self.picture(seed)) }

    func put(_ name: String, _ bytes: Data) throws {
        try FileManager.default.makeFolder(at: url(name).deletingLastPathComponent())
        let temporary = "\(scratch.path)/temporary"
        try bytes.write(to: URL(filePath: temporary))
        #expect(rename(temporary, path(name)) == 0)
    }

    var left: [String] {
        ((try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    // MARK: Answers

    struct Answer {
        /// The name of the copy that was submitted.
        let source: String
        let image: ImageStatus
        let id: String

        var state: ImageState { image.state }
    }

    /// The images of all answers that have ended, sorted by their sources.
    func answers() throws -> [Answer] {
        var answers: [Answer] = []
        for id in spool.list("outbox") {
            guard let status = try spool.status(of: id), status.state.isFinal else { continue }
            answers += status.images.map { image in
                // No file of the roots is ever taken for it.
                let source = image.source ?? "?"
                #expect(source.hasPrefix("./"))
                return Answer(source: String(source.dropFirst(2)), image: image, id: id)
            }
        }
        return answers.sorted { $0.source < $1.source }
    }

    /// Waits until so many pictures have an answer and nothing is in work, then expects that these are all.
    @discardableResult
    func expectAnswers(
        _ sources: [String], _ daemon: DaemonProcess,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [Answer] {
        let found = try await eventually(
            "\(sources.count) answers",
            context: {
                "\(((try? answers()) ?? []).map(\.source)) \(report(orNil: ())) \(daemon.describe())"
            }
        ) { () throws -> [Answer]? in
            // Reading all answers takes long. So it asks again afterwards, in case something came meanwhile.
            guard isIdle else { return nil }
            let answers = try answers()
            return answers.count >= sources.count && isIdle ? answers : nil
        }
        #expect(found.map(\.source) == sources.sorted(), sourceLocation: sourceLocation)
        return found
    }

    /// Whether no picture is on its way.
    var isIdle: Bool {
        spool.list("inbox").isEmpty && spool.list("active").allSatisfy { $0.hasPrefix(".") }
    }

    /// Waits until a batch waits for that.
    func waiting(
        _ code: String, _ daemon: DaemonProcess
    ) async throws -> (id: String, status: Status, waiting: Status.Waiting) {
        try await eventually("a batch to wait", context: { daemon.describe() }) {
            for id in spool.list("outbox") {
                if let status = try spool.status(of: id), let reason = status.waiting,
                    reason.code == code
                {
                    return (id, status, reason)
                }
            }
            return nil
        }
    }

    // MARK: The report

    private func report(orNil: Void) -> String { (try? report()).map { "\($0)" } ?? "no report" }

    func report() throws -> FoldersReport? {
        let path = spool.root.appending(path: "folders.json").path
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        return FoldersReport(decoding: Array(data))
    }

    @discardableResult
    func waitForReport(
        _ daemon: DaemonProcess, _ what: String, until condition: (FoldersReport.Folder) -> Bool
    ) async throws -> FoldersReport.Folder {
        try await eventually(
            "folders.json to tell of \(what)",
            context: { "\(report(orNil: ())) \(daemon.describe())" }
        ) {
            try report()?.folders.first { condition($0) }
        }
    }

    /// The records of batches that have not been forgotten.
    var records: [String] {
        let stations = "hot"
        return spool.list(stations).flatMap { spool.list("\(stations)/\($0)") }
            .filter { $0.hasSuffix(".batch") }
    }

    func waitForRecords(_ count: Int, _ daemon: DaemonProcess) async throws {
        try await daemon.waitUntil("\(count) records") { _ in records.count == count }
    }

    func waitForNoRecords(_ daemon: DaemonProcess) async throws {
        try await waitForRecords(0, daemon)
    }
}
