import Foundation
import TestSupport
import Testing

@testable import DarkroomConfiguration
@testable import DarkroomFetch

struct ConfigurationTests {
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
            "concurrency: 8",
            "darkroomd.yaml:1: unknown key concurrency: it belongs to a section: "
                + "downloads.concurrency or filters.concurrency; write downloads: {concurrency: 8} or "
                + "filters: {concurrency: 8}"
        ),
        (
            "downloads:\n  settle: 2s",
            "darkroomd.yaml:2: unknown key downloads.settle: it belongs to a section: inbox.settle; "
                + "write inbox: {settle: 2s}"
        ),
        (
            "age: 30d",
            "darkroomd.yaml:1: unknown key age: it belongs to a section: retention.age; "
                + "write retention: {age: 30d}"
        ),
        (
            "retention: 30d",
            "darkroomd.yaml:1: unknown key retention: it is a section, with retention.age, retention.bytes, "
                + "retention.originals, retention.tmp; write retention: {age: 30d} or retention: {tmp: 30d}"
        ),
        (
            "sources:\n  - /srv/a\n  - '/srv/b: c'",
            "darkroomd.yaml:1: unknown key sources: it is a section, with sources.roots, sources.ignore; "
                + "write sources: {roots: [/srv/a, '/srv/b: c']}"
        ),
        (
            "concurency: 8",
            "darkroomd.yaml:1: unknown key concurency; did you mean downloads.concurrency or "
                + "filters.concurrency?"
        ),
        (
            "log:\n  spool: /a",
            "darkroomd.yaml:2: unknown key log.spool: spool does not belong to a section"
        ),
        (
            "log:\n  retention: {age: 1d}",
            "darkroomd.yaml:2: unknown key log.retention: retention is a section, which begins at the "
                + "beginning of a line"
        ),
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
            "darkroomd.yaml:1: sources.roots: must be a list of absolute paths, not \"[a]\""
        ),
        (
            "sources: {ignore: [a/b, c]}",
            "darkroomd.yaml:1: sources.ignore: must be a list of names such as [\"*-draft.jpg\", old] (\"a/b\" is not the name of a file or folder), not \"[a/b, c]\""
        ),
        ("[1, 2]", "darkroomd.yaml: must be a map of keys"),
        ("spool: /a\nspool: /b", "darkroomd.yaml:2: spool occurs twice; line 1 already has it"),
        (
            "log: {level: info}\ninbox:\n  poll: 1s\n  settle: 1s\n  poll: 2s\nlog: {}",
            "darkroomd.yaml:5: inbox.poll occurs twice; line 3 already has it"
        ),
        (
            "log: {level: info}\nlog: {level: loud}",
            "darkroomd.yaml:2: log.level occurs twice; line 1 already has it"
        ),
        (
            "stop: {timeout: 2s}\nlog\ninbox: {}",
            "darkroomd.yaml:3: this is not YAML: while scanning a simple key, could not find expected ':', "
                + "in the part that begins at line 2"
        ),
        ("log: [", "darkroomd.yaml:2: this is not YAML: while parsing a flow node, did not find"),
        (
            "stop: {timeout: 2m}",
            "darkroomd.yaml:1: stop.timeout: must be a time such as 500ms, 30s, 5min, 1h or 30d, "
                + "from 0 to 1d, not \"2m\"; write 2min"
        ),
        (
            "retention: {age: 11y}",
            "darkroomd.yaml:1: retention.age: must be a time such as 500ms, 30s, 5min, 1h or 30d, "
                + "from 0 to 3650d, not \"11y\""
        ),
        (
            "retention: {age: 1w}",
            "darkroomd.yaml:1: retention.age: must be a time such as 500ms, 30s, 5min, 1h or 30d, "
                + "from 0 to 3650d, not \"1w\"; write 7d"
        ),
        (
            "downloads: {denyHosts: 'a.example, *.b.example'}",
            "darkroomd.yaml:1: downloads.denyHosts: must be a list of hosts such as"
        ),
        (
            "downloads: {maxBytes: 2TB}",
            "darkroomd.yaml:1: downloads.maxBytes: must be a number of bytes such as 4096, 512KiB, "
                + "64MiB or 1GiB, from 1B to 1TiB, not \"2TB\""
        ),
    ])
    func refuses(file: String, problem: String) throws {
        #expect(problems(try loader(file: file)).contains { $0.hasPrefix(problem) })
    }

    /// Whatever kind of problem each is.
    @Test func tellsProblemsInTheOrderOfTheirLines() throws {
        let file = """
            stop: {timeout: 2m}
            concurrency: 3
            inbox:
              settle: x
              level: debug
            durability: some
            inbox: {poll: y, settle: 1s}
            """
        let found = problems(
            try loader(
                file: file, environment: ["DARKROOM_B": "1", "DARKROOM_A": "1"],
                set: [("spool", "x"), ("nokey", "1"), ("durability", "x")]))
        let places = found.map { String($0.prefix { !" ".contains($0) }) }
        let lines = ["1", "2", "4", "5", "7", "7", "7"].map { "darkroomd.yaml:\($0):" }
        #expect(places == lines + ["environment", "environment", "--set", "--set", "--set"])
        #expect(
            found.suffix(3).map { $0.split(separator: " ")[1] } == [
                "spool:", "nokey:", "durability:",
            ])
        #expect(found[8].contains("DARKROOM_B"))
    }

    /// A section's line that is too long, or would show a password, is not written out.
    @Test(arguments: [
        "proxy: http://ann:secret@proxy.example",
        "roots: /srv/\(String(repeating: "a", count: 90))",
        "downloads: 3", "retention: {years: 1}", "log:\n  retention: ",
    ])
    func writesOutNoOtherLines(file: String) throws {
        let found = problems(try loader(file: file))
        #expect(!found.contains { $0.contains("; write") || $0.contains("secret") }, "\(found)")
    }

    /// One text that stands for several entries.
    @Test(
        arguments: [
            ("downloads.denyHosts", "a.example,*.b.example", "[a.example, \"*.b.example\"]"),
            ("downloads.allowNetworks", "10.0.0.0/8, fd00::/8", "[10.0.0.0/8, \"fd00::/8\"]"),
            ("sources.roots", "/no-a,/no-b", "[/no-a, /no-b]"),
            ("sources.roots", "/no-a:/no-b", "[/no-a, /no-b]"),
            ("sources.roots", "/no-a /no b", nil), ("sources.roots", "/no,a", nil),
        ] as [(String, String, String?)])
    func tellsHowSeveralAreWritten(key: String, text: String, list: String?) throws {
        let loader = try loader(set: [(key, text)])
        var found = problems(loader)
        if found.isEmpty { found = try loader.load().warnings(view: nil).map(\.message) }
        #expect(found.count == 1)
        #expect(found.first?.contains("write ") == (list != nil), "\(found)")
        if let list {
            #expect(found.first?.hasSuffix("write \(list)") == true, "\(found)")
            let corrected = try self.loader(set: [(key, list)]).load()
            #expect(corrected.sourceRoots.count == (key == "sources.roots" ? 2 : 0))
        }
    }

    /// What the manual says of a key in one line.
    @Test func takesAKeyWithItsSectionInOneLine() throws {
        let configuration = try loader(file: "retention.age: 30d\nlog: {level: debug}").load()
        #expect(configuration.retention.age == 30 * 86400)
        #expect(
            problems(try loader(file: "log.level: info\nlog: {level: debug}")).first?
                .hasPrefix("darkroomd.yaml:2: log.level occurs twice") == true)
    }

    @Test func tellsWhatIsSetBeforeWhatIsNot() throws {
        let resolved = try loader(
            file: "downloads:\n  retries: 2", environment: ["DARKROOM_LOG_LEVEL": "debug"],
            set: [("stop.timeout", "1s"), ("downloads.proxy", "http://ann:secret@proxy")]
        ).loadAll().settings
        let set = [
            "log.level: debug  # environment variable DARKROOM_LOG_LEVEL",
            "downloads.retries: 2  # \(scratch.path)/darkroomd.yaml:2",
            "downloads.proxy: http://proxy  # --set downloads.proxy",
            "stop.timeout: 1s  # --set stop.timeout",
        ]
        let few = ConfigurationListing(resolved, withDefaults: false).lines
        let number = Setting.all.count - 4
        #expect(
            few == set + ["# the other \(number) keys have their default values; --all prints them"]
        )
        let all = ConfigurationListing(resolved, withDefaults: true).lines
        #expect(all.prefix(4) == set[...])
        #expect(all.count == Setting.all.count)
        #expect(all[4] == "spool: /var/spool/darkroom  # default")
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

    // MARK: What may be fetched

    @Test func readsTheRulesForFetching() throws {
        let configuration = try loader(
            file: """
                downloads:
                  allowNetworks: [10.0.0.0/8, "fd00::/8", 127.0.0.1]
                  allowHosts: "*.example.org"
                  denyHosts:
                    - "*.bad.example.org"
                    - Worse.example.org
                    - "[::1]"
                  maxHeaderBytes: 1KiB
                """
        ).load()
        let rules = configuration.transferSettings.rules
        #expect(
            rules.addresses.allowNetworks.map(\.description)
                == ["10.0.0.0/8", "fd00::/8", "127.0.0.1/32"])
        #expect(rules.hosts.allow.map(\.description) == ["*.example.org"])
        #expect(
            rules.hosts.deny.map(\.description)
                == ["*.bad.example.org", "worse.example.org", "[::1]"])
        #expect(configuration.transferSettings.limits.maxHeaderBytes == 1024)
        #expect(try loader().load().transferSettings.rules == FetchRules())
    }

    @Test(arguments: [
        ("downloads.allowNetworks", "10.0.0.0/8", "10.0.0.0/8"),
        ("downloads.allowNetworks", "::1", "::1/128"),
        ("downloads.allowNetworks", "[\"::1\", 10.0.0.0/8]", "::1/128 10.0.0.0/8"),
        ("downloads.allowNetworks", "", ""),
        ("downloads.denyHosts", "*.example.org", "*.example.org"),
        ("downloads.denyHosts", "[\"*.example.org\", a]", "*.example.org a"),
    ])
    func readsListsOnTheCommandLine(key: String, text: String, entries: String) throws {
        let rules = try loader(set: [(key, text)]).load().transferSettings.rules
        let all =
            rules.addresses.allowNetworks.map(\.description) + rules.hosts.deny.map(\.description)
        #expect(all.joined(separator: " ") == entries)
    }

    @Test(arguments: [
        (
            "downloads.allowNetworks", "[10.1.2.3/8]",
            "must be a list of networks such as [10.0.0.0/8, \"fd00::/8\"] (\"10.1.2.3/8\" has bits "
                + "beyond its prefix: write 10.0.0.0/8 for the network, or 10.1.2.3 for the single address)"
        ),
        (
            "downloads.denyHosts", "a.*.org",
            "must be a list of hosts such as [example.org, \"*.example.org\"] (\"a.*.org\": * is allowed "
                + "only at the beginning, before a dot: *.example.org)"
        ),
        ("downloads.allowHosts", "[{a: b}]", "must be a list of texts"),
        ("downloads.headers", "headers.yaml", "must be an absolute path"),
        ("downloads.caFile", "/nonexistent/ca.pem", "must be a file that can be read"),
        ("downloads.caFile", "/etc/hostname", "must be a file of certificates in PEM"),
        ("downloads.caFile", "/", "must be a file that can be read"),
        ("downloads.maxHeaderBytes", "1", "must be a number of bytes"),
    ])
    func refusesRules(key: String, text: String, problem: String) throws {
        let found = problems(try loader(set: [(key, text)]))
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("--set \(key): \(problem)") == true, "\(found)")
    }

    @Test(arguments: [
        "http://proxy:3128", "proxy:3128", "proxy", "https://ann:secret@proxy:3128/",
        "socks5h://127.0.0.1:1080", "[::1]:3128", "ann:secret@proxy",
    ])
    func takesProxies(text: String) throws {
        #expect(try loader(set: [("downloads.proxy", text)]).load().downloads.proxy == text)
        let setting = try #require(Setting.named("downloads.proxy"))
        #expect(!setting.shown(text).contains("secret"))
    }

    @Test(arguments: [
        "ftp://ann:secret@proxy", "http://ann:secret@", "http://ann:secret@proxy:99999",
        "http://ann:secret@proxy/path", "http://ann:sec ret@proxy",
        "ann:sec/ret@proxy",
    ])
    func refusesProxiesWithoutTellingTheirPasswords(text: String) throws {
        let found = problems(try loader(set: [("downloads.proxy", text)]))
        #expect(found.count == 1)
        #expect(found.first?.contains("must be the URL of a proxy") == true)
        #expect(found.first?.contains("secret") == false)
        #expect(found.first?.contains("ret@") == false)
    }

    @Test func readsHeadersFromAFileOrTheCredential() throws {
        let headers = scratch.path + "/headers"
        try "example.org: {X-Key: file}".write(toFile: headers, atomically: false, encoding: .utf8)
        let other = scratch.path + "/other.yaml"
        try "example.org: {X-Key: other}".write(toFile: other, atomically: false, encoding: .utf8)
        let origin = Origin(scheme: "https", host: "example.org")
        let credentials = ["CREDENTIALS_DIRECTORY": scratch.path]
        func value(_ loader: ConfigurationLoader) throws -> String? {
            try loader.load().transferSettings.rules.headers.headers(for: origin).first?.value
        }
        #expect(try value(loader()) == nil)
        #expect(try value(loader(environment: credentials)) == "file")
        #expect(
            try value(loader(environment: credentials, set: [("downloads.headers", other)]))
                == "other")
        #expect(
            try value(loader(environment: ["CREDENTIALS_DIRECTORY": "/nonexistent"])) == nil)
        // Read anew each time, as a reload wants it.
        try "example.org: {X-Key: [secret]}".write(
            toFile: headers, atomically: false, encoding: .utf8)
        #expect(
            problems(try loader(environment: credentials))
                == ["headers:1: https://example.org: the value of a header must be text"])
        let missing = problems(try loader(set: [("downloads.headers", "/nonexistent/h")]))
        #expect(missing == ["/nonexistent/h: cannot be read: No such file or directory"])
    }
}
