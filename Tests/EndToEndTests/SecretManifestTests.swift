import DarkroomAnswer
import Foundation
import Glibc
import TestSupport
import Testing

/// Manifests whose URLs have a user, a password, a query and a fragment: the pictures are fetched with them, and nobody
/// but the daemon reads them in the spool.
@Suite(.fewAtATime) struct SecretManifestTests {
    /// As the URL has them, and as they are without escapes; and what a request makes of user and password.
    static let secrets = [
        "stargazer", "w1nter%2BMilky%2FWay", "w1nter+Milky/Way", "tok3n%2Fof%2Fnight",
        "tok3n/of/night", "fr4gment%20part", "fr4gment part", authorization,
    ]
    private static let authorization =
        Data("stargazer:w1nter+Milky/Way".utf8).base64EncodedString()

    private static let query = "?token=tok3n%2Fof%2Fnight"

    /// A URL of the guarded documents with everything that must not be shown.
    private static func url(_ document: String, _ fixture: DaemonFixture) -> String {
        "http://stargazer:w1nter%2BMilky%2FWay@127.0.0.1:\(fixture.origin.port)/guarded/\(document)"
            + query + "#fr4gment%20part"
    }

    /// Ways to write a manifest.
    enum Form: CaseIterable, Sendable {
        case json, escapedJSON, yaml, foldedYAML, aliasYAML, plist, escapedPlist, binaryPlist

        var ending: String {
            switch self {
            case .json, .escapedJSON: "json"
            case .yaml, .foldedYAML, .aliasYAML: "yaml"
            case .plist, .escapedPlist, .binaryPlist: "plist"
            }
        }

        /// The images `a` and `b` with these sources, and a page.
        func manifest(_ a: String, _ b: String) throws -> [UInt8] {
            let escaped = [a, b].map { url in
                url.replacing("/", with: #"\/"#).replacing("@", with: #"\u0040"#)
                    .replacing("w1nter", with: #"w\u0031nter"#)
            }
            let entities = [a, b].map { url in
                url.replacing("@", with: "&#64;").replacing("w1nter", with: "w&#x31;nter")
                    .replacing("tok3n", with: "<![CDATA[tok3n]]>")
            }
            let folded = [a, b].map { url in
                url.replacing("w1nter", with: "w\\x31n\\\n      ter")
                    .replacing("?", with: #"\x3F"#)
            }
            func json(_ urls: [String]) -> String {
                #"{"page": true, "images": {"a": "\#(urls[0])", "b": "\#(urls[1])"}}"#
            }
            func plist(_ urls: [String]) -> String {
                """
                <?xml version="1.0" encoding="UTF-8"?>
                <plist version="1.0"><dict><key>page</key><true/><key>images</key>
                <dict><key>a</key><string>\(urls[0])</string>
                <key>b</key><string>\(urls[1])</string></dict></dict></plist>

                """
            }
            let text: String
            switch self {
            case .json: text = json([a, b])
            case .escapedJSON: text = json(escaped)
            case .yaml: text = "# \(a)\npage: true\nimages:\n  a: \(a)\n  b: \(b) # \(b)\n"
            case .foldedYAML:
                text = "page: true\nimages:\n  a: \"\(folded[0])\"\n  b: \"\(folded[1])\"\n"
            case .aliasYAML:
                text =
                    "page: true\nimages:\n- {name: a, source: &one '\(a)'}\n- {name: b, source: '\(b)'}\n"
                    + "- {name: again, source: *one}\n"
            case .plist: text = plist([a, b])
            case .escapedPlist: text = plist(entities)
            case .binaryPlist:
                return Array(
                    try PropertyListSerialization.data(
                        fromPropertyList: ["page": true, "images": ["a": a, "b": b]]
                            as [String: Any],
                        format: .binary, options: 0))
            }
            return Array(text.utf8)
        }
    }

    /// From the inbox to the removal. One picture appears later, for a retry after a restart.
    @Test(arguments: Form.allCases) func onlyTheDaemonReadsThem(form: Form) async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let metrics = fixture.spool.root.deletingLastPathComponent().appending(path: "m.prom").path
        var daemon = try await fixture.run(["metrics.textfile": metrics])
        let manifest = try form.manifest(
            Self.url("0.png", fixture), Self.url("late.png", fixture))
        let exact = "private/x.\(form.ending)"
        try fixture.spool.drop("x.hold", "")
        try fixture.spool.drop(Array("x.\(form.ending)".utf8), manifest)
        _ = try await fixture.spool.waitForStatus(of: "x", daemon, .held)
        try fixture.expectNoSecrets(daemon, in: "outbox/x/manifest.\(form.ending)")
        try fixture.expectClosed(exact, is: manifest)

        try fixture.spool.drop("x.release", "")
        let first = try await fixture.spool.finish("x", daemon)
        #expect(first.state == .completedWithErrors)
        #expect(try first.image("a").state == .filtered)
        #expect(try first.image("b").error?.code == "http-status")
        #expect(first.manifest.redacted != nil)
        let files = ["manifest.\(form.ending)", "status.json", "progress.json", "page/index.html"]
        try fixture.expectNoSecrets(daemon, in: files.map { "outbox/x/\($0)" } + ["queue.json"])
        try fixture.expectClosed(exact, is: manifest)
        try await Self.expectFetched(late: 1, fixture)

        #expect(try await daemon.stop() == .exited(0))
        try fixture.expectNoSecrets(daemon, in: "outbox/x/manifest.\(form.ending)")
        try fixture.documents.write(DaemonFixture.picture, to: "late.png")
        daemon = try await fixture.run(["metrics.textfile": metrics])
        try fixture.spool.drop("x.retry", "")
        _ = try await fixture.spool.waitForRetry(1, of: "x", daemon)
        let second = try await fixture.spool.finish("x", daemon)
        #expect(second.state == .completed, "\(second.images)")
        #expect(second.manifest == first.manifest)
        try fixture.expectNoSecrets(daemon, in: files.map { "outbox/x/\($0)" })
        try fixture.expectClosed(exact, is: manifest)
        try await Self.expectFetched(late: 2, fixture)

        try fixture.spool.drop("x.remove", "")
        try await daemon.waitUntil("the removal") { _ in !fixture.spool.exists("outbox/x") }
        #expect(fixture.spool.list("private") == [])
        try await fixture.waitForRemoval()
        try fixture.expectNoSecrets(daemon, in: [])
        #expect(try await daemon.stop() == .exited(0))
    }

    /// The requests had the user, the password and the query. A fragment is never sent.
    ///
    /// - Parameter late: how often `late.png` was asked for.
    private static func expectFetched(
        late: Int, _ fixture: DaemonFixture, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let paths = ["0.png", "late.png"].map { "/guarded/\($0)\(query)" }
        _ = try await fixture.logged(1) { $0.path == paths[0] }
        let requests = try await fixture.logged(late) { $0.path == paths[1] }
        #expect(Set(requests.map(\.path)) == Set(paths), sourceLocation: sourceLocation)
        #expect(
            Set(requests.map(\.authorization)) == ["Basic \(authorization)"],
            sourceLocation: sourceLocation)
        let isKnown = requests.allSatisfy { $0.status == 200 || $0.path.contains("late.png") }
        #expect(isKnown, sourceLocation: sourceLocation)
    }

    @Test func theExactOneGoesWhenTheAnswerIsTooOld() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        var daemon = try await fixture.run()
        try fixture.drop("x", images: [("a", Self.url("0.png", fixture))])
        try fixture.checkSecret(try await fixture.spool.finish("x", daemon))
        #expect(fixture.spool.list("private") == ["x.json"])
        #expect(try await daemon.stop() == .exited(0))
        daemon = try await fixture.run(["retention.age": "1ms"])
        try await daemon.waitUntil("the removal") { _ in !fixture.spool.exists("outbox/x") }
        #expect(fixture.spool.list("private") == [])
    }

    /// What is refused is the exact manifest, for the daemon alone, and no message quotes a secret.
    @Test(arguments: [
        ("x.json", #"{"images": {"a": "URL"}, "imagez": 1}"#, "manifest.json"),
        ("x.json", #"{"images": {"a": "URL"#, "manifest.json"),
        ("x.json", #"{"images": {"URL": "URL"}}"#, "manifest.json"),
        ("x.json", #"{"images": {"a": "URL", "a": "URL"}}"#, "manifest.json"),
        ("x.json", #"{"images": {"a": {"from": "URL"}}}"#, "manifest.json"),
        (
            "x.json", #"{"images": {"a": {"source": "0.png", "filters": ["URL"]}}}"#,
            "manifest.json"
        ),
        ("x.json", #"{"images": {"a": "0.png"}, "priority": "URL"}"#, "manifest.json"),
        ("x.yml", "images:\n  a: URL\n\tb: URL\n", "manifest.yaml"),
        ("x.yaml", "images:\n  a: *URL\n", "manifest.yaml"),
        ("x.yaml", "images: {a: {source: a.png, filters: [{overlay: 'URL'}]}}\n", "manifest.yaml"),
        ("x.plist", "<plist><dict><key>images</key><string>URL</string>", "manifest.plist"),
    ])
    func whatIsRefusedIsClosed(name: String, text: String, file: String) async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        let manifest = text.replacing("URL", with: Self.url("0.png", fixture))
        try fixture.spool.drop(name, manifest)
        let status = try await fixture.spool.finish("x", daemon)
        #expect(status.state == .rejected)
        try fixture.expectClosed("outbox/x/\(file)", is: Array(manifest.utf8))
        try fixture.expectNoSecrets(daemon, in: "outbox/x/status.json")
        #expect(fixture.spool.list("private") == [])
    }

    /// A binary property list that ends too early, and an encoding that the reader refuses.
    @Test(arguments: [true, false]) func otherBytesThatAreRefusedAreClosed(isBinary: Bool)
        async throws
    {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        let url = Self.url("0.png", fixture)
        var manifest: [UInt8] = [0xFE, 0xFF]
        for unit in "images: {a: \"\(url)\"}".utf16 {
            manifest += [UInt8(unit >> 8), UInt8(unit & 0xFF)]
        }
        if isBinary { manifest = try Array(Form.binaryPlist.manifest(url, url).dropLast(8)) }
        let ending = isBinary ? "plist" : "yaml"
        try fixture.spool.drop(Array("x.\(ending)".utf8), manifest)
        let status = try await fixture.spool.finish("x", daemon)
        #expect(status.state == .rejected)
        try fixture.expectClosed("outbox/x/manifest.\(ending)", is: manifest)
        try fixture.expectNoSecrets(daemon, in: "outbox/x/status.json")
    }

    // MARK: Folders that stay in their answers

    /// Its submitter lets everybody read the manifest. It may have secrets that cannot be replaced.
    @Test(arguments: [true, false]) func theOriginalsShowNoMore(isRedacted: Bool) async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 1, ["retention.originals": "true"])
        let url = Self.url("0.png", fixture)
        // A value of the query that is also a name cannot be replaced.
        let other = url.replacing("#", with: "&view=large-one#")
        let images = isRedacted ? ["a": url, "b": "b.png"] : ["large-one": other, "b": "b.png"]
        let manifest = Array(try DaemonFixture.json(["images": images]).utf8)
        try fixture.makeFolder(
            "x", files: [("manifest.json", manifest), ("b.png", DaemonFixture.picture)])
        try fixture.dropMade("x")
        let status = try await fixture.spool.finish("x", daemon)
        #expect(status.state == .completed)
        try await fixture.waitForRemoval()
        let kept = "outbox/x/originals"
        #expect(fixture.spool.list(kept) == ["b.png", "manifest.json"])
        if isRedacted {
            try fixture.expectNoSecrets(
                daemon,
                in: ["manifest.json", "originals/manifest.json", "originals/b.png"].map {
                    "outbox/x/\($0)"
                })
        } else {
            try fixture.expectClosed("outbox/x/manifest.json", is: manifest)
            try fixture.expectClosed("\(kept)/manifest.json", is: manifest)
        }
        #expect(
            try fixture.spool.bytes("\(kept)/manifest.json")
                == fixture.spool.bytes("outbox/x/manifest.json"))
        // A retry needs the pictures, and not that manifest.
        try fixture.spool.remove("outbox/x/b.png")
        try fixture.spool.drop("x.retry", "")
        _ = try await fixture.spool.waitForStatus(of: "x", daemon, "ended again") {
            $0.state == .completed && $0.retries == 1
        }
    }

    // MARK: Another user of the group

    private static let member = DaemonFixture.submitter

    /// A daemon of a user whose group may read the spool, and two answers of a member of that group, with a redacted and
    /// with a closed copy. `b` has failed in both.
    private func answersOfAMember() async throws -> (DaemonFixture, DaemonProcess) {
        let fixture = try DaemonFixture(pictures: 1)
        let daemon = try await fixture.runAsAnotherUser(mode: 0o750)
        for folder in ["inbox", "tmp"] {
            try #require(chmod(fixture.spool.path(folder), 0o2770) == 0)
        }
        let url = Self.url("0.png", fixture)
        // A value of the query that is also a name cannot be replaced.
        let other = url.replacing("#", with: "&view=large-one#")
        for (id, name, source) in [("shown", "a", url), ("closed", "large-one", other)] {
            let images = [name: source, "b": Self.url("late.png", fixture)]
            try fixture.drop(id, ["filters": ["sepia"], "images": images], as: Self.member)
            let status = try await fixture.spool.finish(id, daemon)
            #expect(status.state == .completedWithErrors)
            #expect((status.manifest.redacted != nil) == (id == "shown"))
        }
        return (fixture, daemon)
    }

    /// Runs a command for a member of the group, whose folder is `work`, and expects that it says no secret.
    private func client(
        _ arguments: [String], _ fixture: DaemonFixture, _ work: String, user: UInt32? = member
    ) async throws -> ClientProcess.Result {
        let result = try await ClientProcess.end(
            arguments, spool: fixture.spool.path, folder: work, environment: ["TMPDIR": work],
            user: user, group: user == nil ? nil : DaemonFixture.daemonUser)
        var said = ReadableFiles()
        said.add("what it says", Array((result.output + result.errors).utf8))
        #expect(said.leaks == [], "\(arguments)")
        return result.replacing(fixture.spool.path)
    }

    /// A folder of the member's.
    private func work() throws -> ScratchDirectory {
        let work = try ScratchDirectory()
        try #require(chown(work.path, Self.member, DaemonFixture.daemonUser) == 0)
        try #require(chmod(work.path, 0o755) == 0)
        return work
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func aMemberOfTheGroupMayMakeAPage() async throws {
        let (fixture, daemon) = try await answersOfAMember()
        let work = try work()
        let page = try await client(["page", "shown", "-o", "of-shown"], fixture, work.path)
        page.expect(exit: 0, output: "\(work.path)/of-shown/index.html\n")
        let html = try work.text("of-shown/index.html")
        #expect(html.contains("<li>sepia, intensity 1</li>"))
        #expect(html.contains("0.png?…"))
        let closed = try await client(["page", "closed", "-o", "of-closed"], fixture, work.path)
        closed.expect(exit: 0, output: "\(work.path)/of-closed/index.html\n")
        let other = try work.text("of-closed/index.html")
        #expect(!other.contains("<li>sepia"))
        var found = ReadableFiles()
        try found.look(in: work.path, path: "")
        #expect(found.leaks == [])
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func aMemberOfTheGroupMayVerify() async throws {
        let (fixture, daemon) = try await answersOfAMember()
        let work = try work()
        try await client(["verify", "shown"], fixture, work.path).shows(exit: 0, errors: .nothing)
        try await client(["verify", "closed"], fixture, work.path).shows(
            exit: 65,
            output:
                "manifest.json: unreadable: ./outbox/closed/manifest.json: cannot open: Permission denied\n"
        )
        let again = ["--again", "--set", "downloads.allowNetworks=[127.0.0.0/8]"]
        let shown = try await client(["verify", "shown"] + again, fixture, work.path)
        shown.shows(
            exit: 65,
            output: .has(
                "a.png: fails: it cannot be made anew: the manifest beside the outputs has *** for a part of its URL; "
                    + "only the daemon's user and root can do it"))
        let closed = try await client(["verify", "closed"] + again, fixture, work.path)
        closed.shows(exit: 77, errors: .has("manifest.json"))
        // Nobody has asked the origin with *** in these places.
        let asked = try fixture.origin.requests()
        #expect(!asked.contains { $0.path.contains("***") } && asked.count == 4)
        for id in ["shown", "closed"] {
            try await client(["verify", id] + again, fixture, work.path, user: nil).shows(
                exit: 0, errors: .nothing)
        }
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func aRetryWithoutTheExactManifestSaysWhatToDo() async throws {
        let (fixture, daemon) = try await answersOfAMember()
        let work = try work()
        try fixture.spool.remove("private/shown.json")
        let reason =
            "the copy of its manifest has *** for users, passwords and queries of URLs, and the exact one is gone from "
            + "the spool; submit the manifest again [manifest-redacted]"
        try await client(["retry", "shown"], fixture, work.path, user: nil).shows(
            exit: 1, output: .nothing,
            errors: "darkroom: shown cannot be repeated: \(reason)\n")
        try await daemon.says(reason)
        // A member may not look into the folder.
        try await client(["retry", "shown"], fixture, work.path).shows(
            exit: 1, output: .nothing,
            errors: .begins(
                "darkroom: shown was not repeated. If the exact manifest is gone from the spool, submit it again: "
            ))
        let status = try #require(try fixture.spool.status(of: "shown"))
        #expect(status.retries == nil && status.state == .completedWithErrors)
        // The other one has the exact manifest in its answer.
        try fixture.documents.write(DaemonFixture.picture, to: "late.png")
        try await client(["retry", "closed", "--wait"], fixture, work.path).expect(
            exit: 0, output: "closed is reopened\n")
        #expect(try await daemon.stop() == .exited(0))
    }
}

extension DaemonFixture {
    /// A file that nobody but its owner may read.
    func expectClosed(
        _ file: String, is bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var information = stat()
        try #require(
            lstat("\(spool.path)/\(file)", &information) == 0, "\(file)",
            sourceLocation: sourceLocation)
        #expect(information.st_mode == S_IFREG | 0o600, sourceLocation: sourceLocation)
        #expect(try spool.bytes(file) == bytes, sourceLocation: sourceLocation)
    }

    /// A batch whose copy is redacted.
    func checkSecret(
        _ status: Status, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(status.state == .completed, sourceLocation: sourceLocation)
        #expect(status.manifest.redacted != nil, sourceLocation: sourceLocation)
    }

    func expectNoSecrets(
        _ daemon: DaemonProcess, in file: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try expectNoSecrets(daemon, in: [file], sourceLocation: sourceLocation)
    }

    /// Nothing has a secret that others than its owner may read: files, their names, the output of the daemon and what
    /// it tells systemd.
    ///
    /// - Parameter files: some that others may read, so that this looks at something.
    func expectNoSecrets(
        _ daemon: DaemonProcess, in files: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let root = spool.root.deletingLastPathComponent().path
        var found = ReadableFiles()
        try found.look(in: root, path: "")
        let inSpool = "/\(spool.root.lastPathComponent)/"
        for file in files {
            #expect(found.paths.contains(inSpool + file), sourceLocation: sourceLocation)
        }
        found.add("the output", Array(daemon.outputText.utf8))
        found.add("the notifications", Array(daemon.notifications.lines.joined().utf8))
        #expect(found.leaks == [], sourceLocation: sourceLocation)
    }
}

/// The files below a folder that others than their owner may read, by the bits of their modes.
private struct ReadableFiles {
    private(set) var paths: Set<String> = []
    /// Where which secret is.
    private(set) var leaks: [String] = []

    mutating func look(in folder: String, path: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let (file, shown) = ("\(folder)/\(name)", "\(path)/\(name)")
            var information = stat()
            // The daemon may have removed it.
            guard lstat(file, &information) == 0 else { continue }
            add("the name \(shown)", Array(name.utf8))
            switch information.st_mode & S_IFMT {
            case S_IFDIR where information.st_mode & 0o011 != 0: try look(in: file, path: shown)
            case S_IFREG where information.st_mode & 0o044 != 0:
                guard let data = FileManager.default.contents(atPath: file) else { continue }
                paths.insert(shown)
                add(shown, Array(data))
            default: break
            }
        }
    }

    /// Looks for the secrets in the bytes, and in what they are without the escapes of URLs and of JSON.
    mutating func add(_ place: String, _ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let plain = text.replacing(#"\/"#, with: "/")
        let decoded = plain.replacing(#/%([0-9A-Fa-f]{2})/#) { match in
            String(UnicodeScalar(UInt8(match.1, radix: 16) ?? 0))
        }
        for secret in SecretManifestTests.secrets
        where [text, plain, decoded].contains(where: { $0.contains(secret) }) {
            leaks.append("\(place): \(secret)")
        }
    }
}
