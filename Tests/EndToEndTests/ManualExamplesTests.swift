import DarkroomConfiguration
import DarkroomManifest
import Foundation
import TestSupport
import Testing

@testable import DarkroomFetch

/// Runs what the manual shows: its manifests, its command lines, and what it says of a reload.
@Suite(.fewAtATime) struct ManualExamplesTests {
    // MARK: Options

    @Test func helpHasTheOptionsOfThePage() async throws {
        let (ending, output) = try await DaemonProcess.end(arguments: ["--help"])
        #expect(ending == .exited(0))
        let options = try #require(output.firstRange(of: "OPTIONS:"))
        let shown = output[options.upperBound...].matches(of: /(?m)^  (?:-h, )?(--[a-z-]+)/)
        let page = try ManualPage("darkroomd.8")
        let described = page.items("OPTIONS").flatMap(\.names).filter { $0.hasPrefix("-") }
        #expect(Set(described.map { "-" + $0 }) == Set(shown.map { String($0.1) }))
        // And the same exit codes.
        for code in page.items("EXIT STATUS").flatMap(\.names) {
            #expect(output.contains(" \(code) "), "\(code)")
        }
    }

    // MARK: Manifests

    @Test func itsManifestsAreDone() async throws {
        let place = try ManualFixture()
        let daemon = try await place.run()
        let examples = try ManualPage("darkroom-manifest.5").examples("manifest")
        #expect(examples.count >= 4)
        for example in examples {
            let text = place.located(example.text)
            try place.makeSources(of: text, named: example.words[0])
            try place.fixture.spool.drop(example.words[0], text)
            let id = String(try #require(example.words[0].split(separator: ".").first))
            let status = try await place.fixture.spool.finish(id, daemon)
            try place.fixture.checkCompleted(status)
        }
        let night = try #require(try place.fixture.spool.status(of: "night"))
        #expect(try night.image("comet").output?.format == .jpeg)
        #expect(try night.image("comet").output?.channels == 1)
    }

    @Test func itsBadManifestIsRejected() async throws {
        let place = try ManualFixture()
        let daemon = try await place.run()
        let page = try ManualPage("darkroom-manifest.5")
        let bad = try #require(page.examples("invalid").first)
        let shown = try #require(page.examples("problems").first)
        try place.fixture.spool.drop(bad.words[0], bad.text)
        let status = try await place.fixture.spool.finish("album", daemon)
        #expect(status.state == .rejected)
        #expect(
            try status.errors
                == JSONDecoder().decode([ManifestProblem].self, from: Data(shown.text.utf8)))
    }

    // MARK: Command lines

    /// One after the other on one spool, as an administrator would try them.
    @Test func itsCommandLinesDoWhatIsSaid() async throws {
        let place = try ManualFixture()
        let daemon = try await place.run()
        let manifests = try ManualPage("darkroom-manifest.5").examples("manifest")
        let holiday = place.located(
            try #require(manifests.first { $0.words == ["holiday.yaml"] }).text)
        try place.makeSources(of: holiday, named: "holiday.yaml")
        // Its first answer has a failed image, for the examples to show and to do again.
        try place.hideTower(true)
        let files = [
            "holiday.yaml": holiday,
            "later.yaml": "images: [\(place.fixture.url("photos/beach.png"))]\n",
        ]
        var outputs: [String: String] = [:]
        var retries = 0
        for example in try ManualPage("darkroomd.8").examples("shell")
        where !example.words.contains("parsed") {
            if let name = example.value("files") {
                let text = try #require(files[name])
                try Data(text.utf8).write(to: place.work.appending(path: name))
            }
            let isRetry = example.text.contains("retry holiday")
            if isRetry { retries += 1 }
            if isRetry { try place.hideTower(false) }
            let (code, output) = try await place.shellThatWaits(example.text)
            #expect(code == 0, "\(example): \(output)")
            outputs[example.text] = output
            if isRetry {
                #expect(try place.fixture.spool.status(of: "holiday")?.state == .completed)
            }
            guard let id = example.value("done") else { continue }
            let status = try await place.fixture.spool.finish(id, daemon)
            #expect(status.state == (id == "later" ? .completed : .completedWithErrors))
        }
        #expect(retries == 1)
        let later = try #require(try place.fixture.spool.status(of: "later"))
        #expect(later.commands?.map(\.command) == [.hold, .release])
        #expect(outputs.values.contains { $0.contains("it ended with 3\ntower: ") })
        #expect(outputs.values.contains("a daemon is running\n"))
        #expect(outputs.values.contains { $0.contains("downloads.concurrency: 32") })
    }

    @Test func itsConfigurationLineSaysWhatHolds() async throws {
        let place = try ManualFixture()
        for example in try ManualPage("darkroomd.yaml.5").examples("shell") {
            let (code, output) = try place.shell(example.text)
            #expect(code == 0, "\(example): \(output)")
        }
    }

    /// What only root or a systemd can run is at least a command line.
    @Test func theOthersAreCommandLines() throws {
        let place = try ManualFixture()
        var count = 0
        for name in ManualPage.names {
            for example in try ManualPage(name).examples("shell")
            where example.words.contains("parsed") {
                count += 1
                let (code, output) = try place.shell("bash -n <<'END'\n\(example.text)END\n")
                #expect(code == 0 && output.isEmpty, "\(example): \(output)")
            }
        }
        #expect(count >= 3)
    }

    // MARK: Reload

    /// Values other than the defaults; where none stands here, 7.
    private static let otherValues = [
        "recipes.only": "true",
        "spool": "/tmp/other", "durability": "process", "log.level": "debug",
        "manifests.maxBytes": "1MiB", "manifests.maxImages": "2",
        "manifests.defaultFilters": "[mono]", "manifests.defaultProfile": "srgb",
        "downloads.proxy": "http://127.0.0.1:9",
        "downloads.caFile": "\"\"", "downloads.headers": "\"\"",
        "downloads.maxHeaderBytes": "2KiB", "downloads.allowNetworks": "[127.0.0.0/16]",
        "downloads.allowHosts": "[127.0.0.1]", "downloads.denyHosts": "[x.example]",
        "cache.folder": "/tmp/other", "cache.maxBytes": "0", "results.folder": "/tmp/other",
        // Only a restart enables it.
        "results.maxBytes": "0",
        "sources.roots": "[/srv]",
        "retention.age": "1h", "retention.bytes": "1GiB", "retention.originals": "true",
        "status.interval": "0.25s", "inbox.recipe": "\"\"", "batches.page": "true",
        "metrics.textfile": "\"\"", "pictures.confine": "all",
        "limits.memory": "1GiB", "folders": "[]", "deliver.roots": "[/srv]",
    ]

    /// A configuration of these keys, with their other values.
    private static func text(_ keys: [String]) -> String {
        let sections = Dictionary(grouping: keys) { String($0.prefix { $0 != "." }) }
        return sections.map { section, members in
            members.contains(section)
                ? "\(section): \(otherValues[section] ?? "7")\n"
                : "\(section):\n"
                    + members.map {
                        "  \($0.dropFirst(section.count + 1)): \(otherValues[$0] ?? "7")\n"
                    }.joined()
        }.joined()
    }

    /// Reloads with these keys changed, and says whether that was taken over: a manifest of two images is acceptable
    /// only after the reload.
    private func takesOver(_ keys: [String]) async throws -> Bool {
        let place = try ManualFixture()
        let spool = keys.contains("spool") ? "" : "spool: \(place.fixture.spool.path)\n"
        let file = try ConfigurationText(
            "spool: \(place.fixture.spool.path)\nmanifests: {maxImages: 1}\n")
        let daemon = try DaemonProcess(
            arguments: ["--config", file.path], environment: ["CACHE_DIRECTORY": place.work.path])
        try await daemon.waitUntil("READY=1") { $0.notifications.last("READY") == "1" }
        try file.write(spool + Self.text(keys + ["manifests.maxImages"]))
        try await daemon.reload()
        let status = try await place.fixture.finish(
            "two", images: [("a", "a.png"), ("b", "b.png")], daemon)
        return status.state != .rejected
    }

    private static func restartKeys() throws -> [String] {
        try ManualPage("darkroomd.yaml.5").items("KEYS")
            .filter { $0.text.contains("Requires a restart.") }.flatMap(\.names)
    }

    @Test func refusesWhatRequiresARestart() async throws {
        let keys = try Self.restartKeys()
        #expect(!keys.isEmpty)
        for key in keys { #expect(try await !takesOver([key]), "\(key)") }
    }

    @Test func takesOverEverythingElse() async throws {
        let keys = try Self.restartKeys() + ["manifests.maxImages"]
        let others = Setting.all.map(\.key).filter { !keys.contains($0) }
        #expect(others.count > 30)
        #expect(try await takesOver(others))
    }
}

/// A spool, an origin that stands for https://example.org, a folder that stands for /srv/pictures, and one to work in.
final class ManualFixture: Sendable {
    let fixture: DaemonFixture
    let work: URL
    private let scratch: ScratchDirectory
    /// What stands for /srv/pictures.
    let pictures: URL

    init() throws {
        fixture = try DaemonFixture(pictures: 2)
        scratch = try ScratchDirectory()
        pictures = scratch.url("pictures")
        work = scratch.url("work")
        for folder in ["pictures", "work"] { try scratch.makeFolder(folder) }
    }

    func run(environment: [String: String] = [:]) async throws -> DaemonProcess {
        try await fixture.run(
            ["sources.roots": "[\(pictures.path)]"], environment: environment)
    }

    /// The text with the places of the tests instead of those of an installation.
    func located(_ text: String) -> String {
        text.replacing("https://example.org", with: fixture.origin.baseURL)
            .replacing("/var/spool/darkroom", with: fixture.spool.path)
            .replacing("/srv/pictures", with: pictures.path)
            .replacing(
                "/usr/share/doc/darkroom/examples",
                with: Repository.root.appending(path: "etc/samples").path)
    }

    /// Makes every picture that a manifest names.
    func makeSources(of text: String, named name: String) throws {
        let format = try #require(ManifestFormat(fileName: name))
        let manifest = try ManifestReader.read(
            Array(text.utf8), format: format, defaultFilters: [])
        for image in manifest.images {
            guard let source = image.source?.text.string else { continue }
            let base = fixture.origin.baseURL + "/"
            if source.hasPrefix(base) {
                let name = String(source.dropFirst(base.count))
                try fixture.documents.write(DaemonFixture.picture, to: name)
            } else {
                try scratch.write(DaemonFixture.picture, to: "pictures/\(source)")
            }
        }
    }

    func makePhotos(_ names: [String]) throws {
        for name in names { try scratch.write(DaemonFixture.picture, to: "work/photos/\(name)") }
    }

    /// Lets the local pictures seem to have been written a minute ago.
    func makePicturesOld() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: pictures.path) {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -60)],
                ofItemAtPath: pictures.appending(path: name).path)
        }
    }

    /// Takes a picture of the holiday away, or puts it back.
    func hideTower(_ hides: Bool) throws {
        let (shown, hidden) = ("photos/tower.png", "photos/hidden")
        try fixture.documents.move(hides ? shown : hidden, to: hides ? hidden : shown)
    }

    /// Runs a script in the folder to work in, with the daemon of this build in its path; gives its exit code and
    /// what it wrote.
    func shell(_ script: String) throws -> (code: Int32, output: String) {
        let script = try begin(script)
        let output = try script.output.fileHandleForReading.readToEnd() ?? Data()
        script.process.waitUntilExit()
        return (script.process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    /// Runs a script that waits, without keeping a thread of the tests waiting with it.
    func shellThatWaits(_ script: String) async throws -> (code: Int32, output: String) {
        try await end(of: begin(script))
    }

    /// Waits for the end of a script that has been begun.
    func end(of script: Script) async throws -> (code: Int32, output: String) {
        try await eventually("the end of a script") {
            script.process.isRunning ? nil : true
        }
        // It writes less than a pipe holds.
        let output = try script.output.fileHandleForReading.readToEnd() ?? Data()
        return (script.process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    /// A script that runs, and where it writes to.
    struct Script {
        let process: Process
        let output: Pipe
    }

    func begin(_ script: String) throws -> Script {
        let program = URL(filePath: try DaemonProcess.program())
        let process = Process()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-e", "-o", "pipefail", "-c", located(script)]
        process.currentDirectoryURL = work
        var variables = [
            "PATH": program.deletingLastPathComponent().path + ":/usr/bin:/bin", "LANG": "C.UTF-8",
            "DARKROOM_SPOOL": fixture.spool.path,
        ]
        for name in ["TSAN_OPTIONS", "ASAN_OPTIONS", "LD_LIBRARY_PATH", "LD_PRELOAD"] {
            variables[name] = ProcessInfo.processInfo.environment[name]
        }
        process.environment = variables
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        return Script(process: process, output: pipe)
    }
}
