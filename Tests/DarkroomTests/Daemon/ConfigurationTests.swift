import Foundation
import Logging
import TestSupport
import Testing

@testable import Darkroom

@Suite struct ConfigurationTests {
    let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    private func loader(
        file: String? = nil, environment: [String: String] = [:], set: [(String, String)] = []
    ) throws -> ConfigurationLoader {
        let path = scratch.path + "/darkroomd.yaml"
        try (file ?? "").write(toFile: path, atomically: false, encoding: .utf8)
        return ConfigurationLoader(
            path: path, overrides: set.map { (key: $0.0, text: $0.1) }, environment: environment)
    }

    private func problems(_ loader: ConfigurationLoader) -> [String] {
        do {
            _ = try loader.load()
            return []
        } catch {
            return error.problems.map { $0.replacing(scratch.path + "/", with: "") }
        }
    }

    @Test func hasDefaultsForEverything() throws {
        let configuration = try loader().load()
        #expect(configuration.spool == "/var/spool/darkroom")
        #expect(configuration.downloadConcurrency == 16)
        #expect(configuration.downloads.maxBytes == 256 << 20)
        #expect(configuration.defaultFilters == [.sepia(intensity: 0.8)])
        #expect(configuration.sourceRoots == [])
        #expect(configuration.durability == .full)
    }

    @Test func takesTheCommandLineBeforeTheEnvironmentBeforeTheFile() throws {
        let file = "downloads: {concurrency: 1, maxBytes: 1KiB, redirects: 1}"
        let environment = [
            "DARKROOM_DOWNLOADS_CONCURRENCY": "2", "DARKROOM_DOWNLOADS_MAX_BYTES": "2KiB",
        ]
        let configuration = try loader(
            file: file, environment: environment, set: [("downloads.concurrency", "3")]
        ).load()
        #expect(configuration.downloadConcurrency == 3)
        #expect(configuration.downloads.maxBytes == 2048)
        #expect(configuration.downloads.redirects == 1)
    }

    @Test(arguments: [
        ("a: 1", "darkroomd.yaml:1: unknown key a"),
        (
            "downloads:\n  maxByte: 1",
            "darkroomd.yaml:2: unknown key downloads.maxByte; "
                + "did you mean downloads.maxBytes?"
        ),
        (
            "download:\n  maxBytes: 1",
            "darkroomd.yaml:1: unknown key download; did you mean downloads?"
        ),
        (
            "log:\n  level: loud",
            "darkroomd.yaml:2: log.level: must be one of trace, debug, info, "
                + "notice, warning, error, critical, not \"loud\""
        ),
        ("durability: some", "darkroomd.yaml:1: durability: must be full or process"),
        ("spool: here", "darkroomd.yaml:1: spool: must be an absolute path"),
        (
            "batches: {window: 0}",
            "darkroomd.yaml:1: batches.window: must be a whole number from 1 to 4096, not \"0\""
        ),
        (
            "sources: {roots: [a]}",
            "darkroomd.yaml:1: sources.roots: must be a list of absolute paths, not \"- a\""
        ),
        ("[1, 2]", "darkroomd.yaml: must be a map of keys"),
        ("spool: /a\nspool: /b", "darkroomd.yaml: Parser: expected all keys to be unique"),
    ])
    func refuses(file: String, problem: String) throws {
        #expect(problems(try loader(file: file)).contains { $0.hasPrefix(problem) })
    }

    @Test(arguments: [
        ("stop.timeout", "5x"), ("stop.timeout", "-1s"), ("stop.timeout", "nan"),
        ("downloads.maxBytes", "1.5.2"), ("downloads.maxBytes", "1kb"), ("downloads.maxBytes", ""),
        ("downloads.concurrency", "1.5"), ("manifests.defaultFilters", "[sepai]"),
    ])
    func refusesOnTheCommandLine(key: String, text: String) throws {
        let found = problems(try loader(set: [(key, text)]))
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("--set \(key): must be ") == true)
    }

    @Test(arguments: [
        ("500ms", 0.5), ("2", 2), ("1.5 s", 1.5), ("5min", 300), ("1h", 3600),
    ])
    func readsTimes(text: String, seconds: Double) throws {
        #expect(try loader(set: [("stop.timeout", text)]).load().stopTimeout == seconds)
    }

    @Test(arguments: [("4096", 4096), ("1.5KiB", 1536), ("2MiB", 2 << 20), ("1 GiB", 1 << 30)])
    func readsSizes(text: String, bytes: Int) throws {
        let configuration = try loader(set: [("downloads.maxBytes", text)]).load()
        #expect(configuration.downloads.maxBytes == bytes)
    }

    @Test func refusesMisspeltVariablesAndMissingFiles() throws {
        let found = problems(try loader(environment: ["DARKROOM_SPOOOL": "/x", "PATH": "/bin"]))
        #expect(
            found == ["environment variable DARKROOM_SPOOOL: unknown; did you mean DARKROOM_SPOOL?"]
        )
        var missing = try loader()
        missing.path = scratch.path + "/none.yaml"
        #expect(problems(missing) == ["none.yaml: there is no such file"])
    }

    @Test func readsListsOfFoldersAndFilters() throws {
        let configuration = try loader(
            file: """
                sources:
                  roots:
                    - /srv/a
                    - "/srv/b: c"
                manifests:
                  defaultFilters:
                    - mono
                    - blur: {sigma: 2}
                """
        ).load()
        #expect(configuration.sourceRoots == ["/srv/a", "/srv/b: c"])
        #expect(configuration.defaultFilters == [.mono, .blur(sigma: 2)])
    }

    /// The installed file names every key with its default, and is itself valid when uncommented.
    @Test func agreesWithTheInstalledFile() throws {
        let url = Repository.root.appending(path: "etc/darkroom/darkroomd.yaml")
        let text = try String(contentsOf: url, encoding: .utf8)
        let uncommented = text.split(separator: "\n", omittingEmptySubsequences: false).map {
            line in
            let indent = line.prefix { $0 == " " }
            let rest = line.dropFirst(indent.count)
            let isKey = rest.first == "#" && rest.dropFirst().first?.isLetter == true
            return isKey ? indent + rest.dropFirst() : indent == "" && rest.first == "#" ? "" : line
        }.joined(separator: "\n")
        let file = ConfigurationFile(path: "darkroomd.yaml", text: uncommented)
        #expect(file.problems == [])
        #expect(file.entries.keys.sorted() == Setting.all.map(\.key).sorted())
        let installed = try loader(file: uncommented).load()
        #expect(installed == (try loader().load()))
    }

    @Test(arguments: Setting.all.map(\.key))
    func hasAVariableForEachKey(key: String) throws {
        let setting = try #require(Setting.named(key))
        let resolved = try loader(environment: [setting.variable: "xyz"]).resolve()
        #expect(resolved.settings.first { $0.setting.key == key }?.text == "xyz")
    }
}
