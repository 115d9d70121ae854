import Foundation
import TestSupport
import Testing

@testable import DarkroomConfiguration

/// What a reload tells of the keys that have changed.
struct ConfigurationChangesTests {
    private func load(
        _ settings: [(String, String)], headers: String? = nil
    ) throws -> ConfigurationLoader.Loaded {
        let scratch = try ScratchDirectory()
        var environment: [String: String] = [:]
        if let headers {
            try scratch.write(headers, to: "headers")
            environment["CREDENTIALS_DIRECTORY"] = scratch.path
        }
        let empty = scratch.path + "/empty.yaml"
        try "".write(toFile: empty, atomically: false, encoding: .utf8)
        return try ConfigurationLoader(
            path: empty, overrides: settings.map { (key: $0.0, text: $0.1) },
            environment: environment
        ).loadAll()
    }

    @Test(
        arguments: [
            ([], [], []),
            ([], [("limits.memory", "192MiB")], ["limits.memory: 0 → 192MiB"]),
            ([("sources.roots", "[/a]")], [], ["sources.roots: [/a] → []"]),
            (
                [("downloads.caFile", "")], [("metrics.textfile", "/m.prom")],
                ["metrics.textfile: none → /m.prom"]
            ),
            (
                [("downloads.proxy", "http://ann:one@p:1")],
                [("downloads.proxy", "http://ann:two@p:1")],
                ["downloads.proxy: in a part that is not shown"]
            ),
            (
                [], [("downloads.proxy", "http://ann:one@p:1")],
                ["downloads.proxy: none → http://p:1"]
            ),
            (
                [], [("status.interval", "1s"), ("log.level", "debug")],
                ["log.level: info → debug", "status.interval: 0.5s → 1s"]
            ),
        ] as [([(String, String)], [(String, String)], [String])])
    func namesEachKey(old: [(String, String)], new: [(String, String)], lines: [String]) throws {
        let changes = ConfigurationChanges(from: try load(old), to: try load(new))
        #expect(changes.lines == lines)
    }

    @Test func showsNothingOfAHeader() throws {
        let old = try load([], headers: "example.org: {X-Key: topsecret}")
        let new = try load([], headers: "example.org: {X-Key: othersecret}")
        let changes = ConfigurationChanges(from: old, to: new)
        #expect(changes.lines == ["the request headers of downloads.headers"])
    }

    @Test(
        arguments: [
            ([], [("downloads.perHost", "3")], nil),
            (
                [], [("durability", "process")],
                "a change of durability (full → process) requires a restart"
            ),
            (
                [], [("spool", "/a"), ("cache.folder", "/b")],
                "a change of spool (/var/spool/darkroom → /a), cache.folder (none → /b) requires a restart"
            ),
            (
                [("cache.maxBytes", "0")], [("cache.maxBytes", "1MiB")],
                "a change of cache.maxBytes (0 → 1MiB) requires a restart"
            ),
            ([("cache.maxBytes", "1MiB")], [("cache.maxBytes", "0")], nil),
            (
                [], [("results.folder", "/r"), ("results.maxBytes", "1MiB")],
                "a change of results.folder (none → /r), results.maxBytes (0 → 1MiB) requires a restart"
            ),
            ([("results.maxBytes", "1MiB")], [("results.maxBytes", "0")], nil),
            // Another way to write the same.
            ([("cache.maxBytes", "1MiB")], [("cache.maxBytes", "1024KiB")], nil),
        ] as [([(String, String)], [(String, String)], String?)])
    func namesWhatNeedsARestart(
        old: [(String, String)], new: [(String, String)], refusal: String?
    ) throws {
        #expect(ConfigurationChanges.refusal(from: try load(old), to: try load(new)) == refusal)
    }

    @Test func warnsOfFoldersThatAreNotThere() throws {
        let scratch = try ScratchDirectory()
        let configuration = try load([("sources.roots", "[/none-a, \(scratch.path), /none-b]")])
            .configuration
        #expect(configuration.warnings.map(\.path) == ["/none-a", "/none-b"])
        #expect(configuration.warnings.allSatisfy { $0.kind == .rootMissing })
        #expect(
            configuration.warnings.first?.message.hasPrefix("sources.roots: /none-a: ") == true,
            "\(configuration.warnings)")
    }

    /// A complaint names every entry that is wrong.
    @Test(arguments: [
        (
            "downloads.allowNetworks", "[10.0.0.0/8, 10.1.2.3/8, nonsense]",
            ["10.1.2.3/8", "nonsense"]
        ),
        ("downloads.denyHosts", "[a.*.org, example.org, b.*.org]", ["a.*.org", "b.*.org"]),
        ("sources.roots", "[/a, b, c]", ["\"b\" is not absolute", "\"c\" is not absolute"]),
        ("manifests.defaultFilters", "[sepai, mono, blurr]", ["sepai", "blurr"]),
    ])
    func namesEveryBadEntry(key: String, text: String, words: [String]) throws {
        do {
            _ = try load([(key, text)])
            Issue.record("\(text) was taken")
        } catch let error as ConfigurationError {
            let parts = error.message.components(separatedBy: ", not \"")
            // Not by repeating the whole text, which comes last.
            for word in words { #expect(parts[0].contains(word), "\(error.message)") }
        }
    }
}
