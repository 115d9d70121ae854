import DarkroomAnswer
import DarkroomClient
import Foundation
import TestPictures
import TestSupport
import Testing

@testable import DarkroomFixtures
@testable import DarkroomManifest

/// What the commands write for programs has the keys that `etc/command.schema.json` describes, and no other ones.
struct CommandSchemaTests {
    private typealias Object = [String: Any]

    private static func object(_ text: some StringProtocol) throws -> Object {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? Object)
    }

    private static func definitions() throws -> [String: Object] {
        let schema = try object(Repository.text("etc/command.schema.json"))
        return try #require(schema["$defs"] as? [String: Object])
    }

    private static func keys(_ value: Any?) -> Set<String> { Set((value as? Object ?? [:]).keys) }

    /// Checks an output against the schema, and returns its object.
    @discardableResult
    private static func check(
        _ output: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Object {
        let problem = try CommandSchema().problem(of: output)
        #expect(problem == nil, sourceLocation: sourceLocation)
        return try object(output)
    }

    /// The keys that a definition has.
    private static func keys(of definition: String) throws -> Set<String> {
        keys(try definitions()[definition]?["properties"])
    }

    private static func filled() throws -> ClientSpool {
        let spool = try ClientSpool()
        try spool.writeQueue(
            .waiting, waiting: ClientSpool.waiting("disk-full", "no space"),
            unresumed: [.init(id: "a", code: "c", message: "m", since: ClientSpool.time(1))],
            results: .init(count: 1, bytes: 2, hits: 3, misses: 4, savedBytes: 5))
        var batch = ClientSpool.progress(
            "holiday", done: 1, failed: 1, of: 3, rate: 1, left: 2,
            waiting: ClientSpool.waiting("paused", "m"))
        batch.commands = [ControlRecord(.hold, uid: 0)]
        batch.retries = 1
        batch.times.finished = batch.times.received
        try spool.write(ClientSpool.status("holiday", .processing))
        try spool.write(batch)
        let problem = ManifestProblem(code: "no-images", message: "m")
        try spool.write(ClientSpool.status("wrong", .rejected, errors: [problem], finished: 1))
        var report = InboxReport(written: ClientSpool.time(1))
        report.why = .init(code: "disk", message: "m")
        try spool.write(report.encoded(), "inbox.json")
        try spool.write(FoldersReport(written: ClientSpool.time(1)).encoded(), "folders.json")
        return spool
    }

    @Test func describesTheList() throws {
        let spool = try Self.filled()
        let lines = try spool.list()
            .jsonLines
        #expect(lines.count == 3)
        let objects = try lines.map { try Self.check($0) }
        #expect(objects.last?["type"] as? String == "summary")
        // The first one has everything that a line can have.
        #expect(try Self.keys(objects.first) == Self.keys(of: "listedBatch"))
    }

    @Test func describesABatch() throws {
        let spool = try Self.filled()
        var found: Set<String> = []
        for id in ["holiday", "wrong"] {
            let text = try spool.details(of: id).json()
            found.formUnion(try Self.check(text).keys)
        }
        #expect(try found == Self.keys(of: "batch"))
    }

    @Test func describesTheSpool() throws {
        let spool = try Self.filled()
        let lock = try spool.lock()
        let object = try Self.check(SpoolOverview(of: spool.open(), now: ClientSpool.now).json)
        withExtendedLifetime(lock) {}
        let definition = try #require(try Self.definitions()["status"]?["properties"] as? Object)
        #expect(Self.keys(object) == Self.keys(definition))
        for key in ["daemon", "counts", "inbox"] {
            #expect(
                Self.keys(object[key]) == Self.keys((definition[key] as? Object)?["properties"]))
        }
    }

    @Test func describesEvents() throws {
        let output = Recorder()
        let view = ProgressView(.json, on: .pipe, write: output.write)
        view.show([ClientSpool.progress("holiday", of: 3)], DaemonState(name: .running), at: 0)
        #expect(try Self.check(output.text)["type"] as? String == "progress")
    }

    /// An image that fails, one that is known and one that is not have all keys together.
    @Test func describesChecks() throws {
        let scratch = try ScratchDirectory()
        try Data(Starfield.png(width: 20, height: 10, seed: 1)).write(
            to: scratch.url.appending(path: "a.png"))
        let good = "images: [{name: a, source: \(scratch.path)/a.png}, {name: b, from: a}, b.png]"
        var found: Set<String> = []
        for (text, name) in [(good, "a"), ("images: [/none.png]", nil)] {
            let manifest = try ManifestReader.read(
                Array(text.utf8), format: .yaml, defaultFilters: [])
            try ManifestForecast(of: manifest, SourceRules(nil)).run { image in
                found.formUnion(try Self.check(image.json(of: "m.yaml", from: name)).keys)
            }
        }
        #expect(try found == Self.keys(of: "checkedImage"))
        var sums = ForecastSummary(SourceRules(nil))
        sums.memoryLimit = 1
        let line = try Self.object(JSONText.line("summary", sums))
        for name in ["checkedManifest", "checkSummary"] {
            #expect(try Self.keys(line).subtracting(Self.keys(of: name)) == [])
        }
    }

    @Test func knowsAllWords() throws {
        let definitions = try Self.definitions()
        #expect(
            definitions["batchState"]?["enum"] as? [String] == BatchState.allCases.map(\.rawValue))
        #expect(
            definitions["daemonState"]?["enum"] as? [String]
                == DaemonState.Name.allCases.map(\.rawValue))
        #expect(definitions["priority"]?["enum"] as? [String] == Priority.allCases.map(\.rawValue))
        let command = definitions["command"]?["properties"] as? [String: Object]
        // No status is left of a batch that was removed.
        let commands = ControlCommand.allCases.filter { $0.form.effect != .removes }
        #expect(command?["action"]?["enum"] as? [String] == commands.map(\.rawValue))
    }
}
