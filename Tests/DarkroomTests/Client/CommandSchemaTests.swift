import DarkroomAnswer
import DarkroomClient
import Foundation
import TestSupport
import Testing

@testable import DarkroomManifest

/// What the commands write for programs has the keys that `etc/command.schema.json` describes, and no other ones.
@Suite struct CommandSchemaTests {
    private typealias Object = [String: Any]

    private static func object(_ text: some StringProtocol) throws -> Object {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? Object)
    }

    private static func definitions() throws -> [String: Object] {
        let url = Repository.root.appending(path: "etc/command.schema.json")
        let schema = try object(try String(contentsOf: url, encoding: .utf8))
        return try #require(schema["$defs"] as? [String: Object])
    }

    private static func keys(_ value: Any?) -> Set<String> { Set((value as? Object ?? [:]).keys) }

    /// Checks an output against a definition: the keys, the required ones, and the words of lists of words.
    private static func check(
        _ output: Object, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let definitions = try definitions()
        let definition = try #require(definitions[name])
        let properties = try #require(definition["properties"] as? [String: Object])
        let required = Set(try #require(definition["required"] as? [String]))
        if definition["additionalProperties"] as? Bool == false {
            #expect(keys(output).subtracting(properties.keys) == [], sourceLocation: sourceLocation)
        }
        #expect(required.subtracting(output.keys) == [], sourceLocation: sourceLocation)
        for (key, value) in output {
            let property = properties[key] ?? [:]
            if let reference = property["$ref"] as? String {
                let target = String(reference.dropFirst("#/$defs/".count))
                if let object = value as? Object, definitions[target]?["required"] != nil {
                    try check(object, target, sourceLocation: sourceLocation)
                }
                if let words = definitions[target]?["enum"] as? [String] {
                    #expect(words.contains(value as? String ?? ""), sourceLocation: sourceLocation)
                }
            }
            if let constant = property["const"] as? String {
                #expect(value as? String == constant, sourceLocation: sourceLocation)
            }
        }
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
        let lines = try BatchList(of: spool.open(), .init(all: true), now: ClientSpool.now)
            .jsonLines
        #expect(lines.count == 3)
        for line in lines.dropLast() { try Self.check(Self.object(line), "listedBatch") }
        try Self.check(Self.object(try #require(lines.last)), "listSummary")
        // The first one has everything that a line can have.
        let full = try Self.object(lines[0])
        #expect(Self.keys(full) == Self.keys(try Self.definitions()["listedBatch"]?["properties"]))
    }

    @Test func describesABatch() throws {
        let spool = try Self.filled()
        var found: Set<String> = []
        for id in ["holiday", "wrong"] {
            let object = try Self.object(
                try BatchDetails(of: id, in: spool.open(), now: ClientSpool.now).json())
            try Self.check(object, "batch")
            found.formUnion(object.keys)
        }
        #expect(found == Self.keys(try Self.definitions()["batch"]?["properties"]))
    }

    @Test func describesTheSpool() throws {
        let spool = try Self.filled()
        let lock = try spool.lock()
        let object = try Self.object(try SpoolOverview(of: spool.open(), now: ClientSpool.now).json)
        withExtendedLifetime(lock) {}
        try Self.check(object, "status")
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
        try Self.check(Self.object(output.text), "watchEvent")
    }

    /// An image that fails, one that is known and one that is not have all keys together.
    @Test func describesChecks() throws {
        let scratch = try ScratchDirectory()
        try Data(Starfield.png(width: 20, height: 10, seed: 1)).write(
            to: scratch.url.appending(path: "a.png"))
        let text = """
            images: [{name: a, source: \(scratch.path)/a.png}, {name: b, from: a}, b.png]
            """
        let manifest = try ManifestReader.read(Array(text.utf8), format: .yaml, defaultFilters: [])
        var found: Set<String> = []
        try ManifestForecast(of: manifest, SourceRules(nil)).run { image in
            let object = try Self.object(image.json(of: "m.yaml", from: "a"))
            try Self.check(object, "checkedImage")
            found.formUnion(object.keys)
        }
        let failing = try ManifestReader.read(
            Array("images: [/none.png]".utf8), format: .yaml, defaultFilters: [])
        try ManifestForecast(of: failing, SourceRules(nil)).run { image in
            let object = try Self.object(image.json(of: "m.yaml", from: nil))
            try Self.check(object, "checkedImage")
            found.formUnion(object.keys)
        }
        let definitions = try Self.definitions()
        #expect(found == Self.keys(definitions["checkedImage"]?["properties"]))
        var sums = ForecastSummary(SourceRules(nil))
        sums.memoryLimit = 1
        let line = try Self.object(JSONText.line("summary", sums))
        for name in ["checkedManifest", "checkSummary"] {
            #expect(
                Self.keys(line).subtracting(Self.keys(definitions[name]?["properties"])) == [])
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
