import Foundation
import TestSupport
import Testing

/// `darkroom submit` with the real daemon.
@Suite(.fewAtATime) struct SubmitCommandTests {
    @Test func turnsPicturesIntoABatch() async throws {
        let fixture = try DaemonFixture(pictures: 3)
        let daemon = try await fixture.run(fixture.readsDocuments)
        try fixture.write("", to: "none")
        let files = ["0.png", "with 'quotes\", a #, a ? and é.png", "new\nline.png"]
        for file in files.dropFirst() { try fixture.addPicture(file) }
        try await fixture.begin(
            ["submit"] + files + [
                fixture.url("1.png"), "--filter", "sepia=0.8", "--filter", "thumbnail=16",
                "--watermark", "2.png", "--format", "jpeg", "--priority", "high", "--name", "trip",
                "--wait",
            ]
        ).result().expect(exit: 0, output: "trip\n")
        let status = try await fixture.complete("trip", daemon)
        #expect(status.priority == .high)
        let names = ["2", "0", "with 'quotes\", a #, a ? and é", "new_line", "1"]
        #expect(status.images.map(\.name) == names)
        // The logo has no output.
        let sizes = status.images.map { [$0.output?.width, $0.output?.height] }
        #expect(sizes == [[nil, nil]] + Array(repeating: [16, 13], count: 4))
        #expect(status.images.map(\.output?.format) == [nil] + Array(repeating: .jpeg, count: 4))
        #expect(fixture.spool.list("tmp") == [])
    }

    /// A manifest goes into the inbox byte for byte, whatever its format.
    @Test(arguments: [
        ("a.json", #"{"images": [{"name": "a", "source": "URL"}]}"#),
        ("a.b.YAML", "# mine\nimages: {a: URL}\n"),
        ("a.plist", "<plist><dict><key>a</key><string>URL</string></dict></plist>"),
    ]) func submitsAManifest(file: String, form: String) async throws {
        let fixture = try DaemonFixture(pictures: 1)
        // A linked file of YAML would wait this long.
        let daemon = try await fixture.run(["inbox.settle": "60s"])
        let text = form.replacing("URL", with: fixture.url("0.png"))
        try fixture.write(text, to: file)
        let id = String(file.prefix { $0 != "." }) + (file.contains("b") ? ".b" : "")
        try await fixture.client("submit", file, "--wait").expect(exit: 0, output: "\(id)\n")
        let status = try await fixture.complete(id, daemon)
        let copy = try #require(status.manifest.file)
        #expect(try fixture.spool.bytes("outbox/\(id)/\(copy)") == Array(text.utf8))
    }

    @Test func readsStandardInput() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        let text = "images: {a: \(fixture.url("0.png"))}\n"
        try await fixture.client(
            "submit", "-", "--name", "piped", "--priority", "veryLow", "--wait", input: text
        ).expect(exit: 0, output: "piped\n")
        let status = try await fixture.spool.finish("piped", daemon)
        #expect(status.priority == .veryLow)
        #expect(
            try fixture.spool.bytes("outbox/piped/manifest.yaml")
                == Array("priority: veryLow\n\(text)".utf8))
    }

    @Test func tellsHowItEnded() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 1, ["downloads.retries": "0"])
        for (name, source) in [("good", "0.png"), ("poor", "none.png")] {
            try fixture.write("images: {a: \(fixture.url(source))}\n", to: "\(name).yaml")
        }
        try await fixture.client("submit", "good.yaml", "poor.yaml", "--wait").expect(
            exit: 3, output: "good\npoor\n",
            errors:
                "darkroom: poor has ended: 1 of 1 image failed. darkroom show poor tells more.\n")
        let json = try await fixture.client("submit", "good.yaml", "--wait", "--json")
        let lines = try json.objects()
        #expect(json.exit == 0 && json.errors == "")
        try #require(lines.map { $0["type"] as? String } == ["submission", "batch", "summary"])
        #expect(lines[0]["id"] as? String == "good-2")
        let identity = try await fixture.spool.finish("good-2", daemon).manifest.identity
        #expect(lines[0]["identity"] as? String == identity)
        #expect(lines[1]["state"] as? String == "completed")
        #expect(lines[2]["exit"] as? Int == 0)
    }

    // MARK: Nothing is dropped

    @Test func dropsNothingIfAnythingIsWrong() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        try fixture.write("images: {a: \(fixture.url("0.png"))}\n", to: "good.yaml")
        try fixture.write("images: {a: \(fixture.url("0.png")), b: [3]}\n", to: "bad.yaml")
        let own = "is for pictures; good.yaml is a manifest and says itself what to do"
        let input = "is for pictures; standard input is a manifest and says itself what to do"
        let missing = "none.png: cannot find it: No such file or directory"
        let both = "good.yaml is a manifest, and other files are pictures. Submit them separately."
        let table: [(words: String, exit: Int32, errors: String)] = [
            ("good.yaml 0.png", 64, both), ("good.yaml --filter mono", 64, "--filter \(own)"),
            ("- --format png --quality 3", 64, "--format \(input)"),
            ("good.yaml --from list.csv", 64, "--from \(own)"),
            ("good.yaml --name a/b", 64, "--name a/b: the name contains a slash"),
            ("good.yaml none.yaml", 66, "none.yaml: cannot open: No such file or directory"),
            ("none.png", 66, missing), ("0.png --watermark none.png", 66, missing),
        ]
        for row in table {
            let words = row.words.split(separator: " ").map(String.init)
            try await fixture.begin(["submit"] + words).result().expect(
                exit: row.exit, errors: "darkroom: \(row.errors)\n")
        }
        let bad = try await fixture.client("submit", "good.yaml", "bad.yaml")
        #expect(bad.exit == 65 && bad.output == "")
        #expect(bad.errors.hasPrefix("bad.yaml:1:") && bad.errors.hasSuffix(" [wrong-type]\n"))
        #expect(try await daemon.stop() == .exited(0))
        #expect(fixture.spool.list("outbox") == [] && fixture.spool.list("inbox") == [])
    }

    @Test func saysThatNobodyListens() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        try fixture.write("images: {a: \(fixture.url("0.png"))}\n", to: "a.yaml")
        let none = try await fixture.client("submit", "a.yaml")
        #expect(none.exit == 66 && none.errors.hasPrefix("darkroom: SPOOL: cannot find its outbox"))

        var daemon = try await fixture.run()
        try await daemon.killAtOnce()
        try await fixture.client("submit", "a.yaml").expect(
            exit: 69,
            errors: """
                darkroom: no daemon works on the spool SPOOL
                darkroom: Nothing was submitted. Start the daemon (systemctl start darkroomd), or submit with --anyway.

                """)
        #expect(fixture.spool.list("inbox") == [])
        try await fixture.client("submit", "a.yaml", "--anyway").expect(
            exit: 0,
            errors:
                "darkroom: No daemon works on the spool SPOOL. It takes the manifest when it starts.\n"
        )
        #expect(fixture.spool.list("inbox") == ["a.yaml"])
        // A second one waits, and gets its own answer.
        let waiting = try fixture.begin(["submit", "a.yaml", "--anyway", "--wait"])
        try await eventually("the second manifest") {
            fixture.spool.list("inbox") == ["a-2.yaml", "a.yaml"] ? true : nil
        }
        daemon = try await fixture.run()
        let second = try await waiting.result()
        #expect(second.exit == 0 && second.output == "a-2\n")
        #expect(
            second.errors
                == "darkroom: No daemon works on the spool \(fixture.spool.path). It takes the manifest when it starts.\n"
        )
        try await fixture.complete("a", daemon)
    }

    @Test func saysWhyItTakesLong() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        try await daemon.killAtOnce()
        try fixture.write("images: {a: \(fixture.url("0.png"))}\n", to: "a.yaml")
        let client = try fixture.begin(["submit", "a.yaml", "--anyway", "--wait"])
        let expected = """
            darkroom: No daemon works on the spool \(fixture.spool.path). It takes the manifest when it starts.
            darkroom: a.yaml is still in the inbox: no daemon works on the spool \(fixture.spool.path)
            darkroom: Waiting further; Ctrl-C ends only this command.

            """
        try await eventually("its words") { client.text("errors") == expected ? true : nil }
        client.send(SIGINT)
        try await client.result().expect(
            exit: 130,
            errors: expected
                + "darkroom: Submitted: a.yaml. darkroom list shows the batches.\n")
        #expect(fixture.spool.list("inbox") == ["a.yaml"])
    }

    /// A daemon whose report says what it can read: the lock is the test's, as it is a daemon's.
    @Test func saysWhatTheDaemonCannotRead() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let lock = try fixture.pretendDaemon("running", roots: "/srv/pictures", bytes: 1)
        defer { close(lock) }
        let path = fixture.documents.path
        try await fixture.client("submit", "0.png").expect(
            exit: 65,
            errors: """
                darkroom: darkroomd cannot read \(path)/0.png: it is not in one of sources.roots (/srv/pictures)
                darkroom: Nothing was submitted. Send the pictures along with --copy, put them into /srv/pictures, or name them by URLs.
                darkroom: With --anyway it is submitted nevertheless.

                """)
        // Its limits count too.
        let many = try await fixture.client("submit", "0.png", "0.png", "0.png", "--name", "x")
        #expect(many.exit == 65)
        #expect(
            many.errors
                == "x: images: 3 images; the limit is 2 [too-many-images]\n")
        #expect(fixture.spool.list("inbox") == [])
    }

    // MARK: Many at once

    /// Each gets the ID of its own manifest, and no other.
    @Test(.tags(.concurrency)) func theIDIsTheRightOneAmongMany() async throws {
        let count = 100
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 1, ["batches.maxWaiting": "200"])
        for number in 0..<count {
            let text = "images: {\"mine-\(number)\": \(fixture.url("0.png"))}\n"
            try fixture.write(text, to: "\(number)/x.yaml")
        }
        let clients = try (0..<count).map { number in
            try fixture.begin(["submit", "\(number)/x.yaml", "--wait"])
        }
        var ids: Set<String> = []
        for (number, client) in clients.enumerated() {
            let result = try await client.result()
            // One that has waited for some seconds says so.
            #expect(result.exit == 0, "\(result.errors)")
            let id = result.output.trimmingCharacters(in: .newlines)
            ids.insert(id)
            let status = try await fixture.spool.finish(id, daemon)
            #expect(status.images.map(\.name) == ["mine-\(number)"])
        }
        #expect(ids.count == count)
        #expect(fixture.spool.list("outbox") == ids.sorted())
        #expect(fixture.spool.list("inbox") == [] && fixture.spool.list("tmp") == [])
    }

    // MARK: The end of the client

    /// Killed at any moment, it leaves a whole manifest or none.
    @Test(.tags(.concurrency)) func aKillLeavesNothingHalf() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        try fixture.write("images: {a: \(fixture.url("0.png"))}\n", to: "x.yaml")
        for milliseconds in 0..<30 {
            let client = try fixture.begin(["submit", "x.yaml", "--hold"])
            try await Task.sleep(for: .milliseconds(milliseconds * 3))
            client.send(SIGKILL)
            _ = try await client.result()
        }
        #expect(try await fixture.client("submit", "x.yaml", "--hold").exit == 0)
        // It removes what they have left, unless the daemon is about to.
        try await eventually("tmp to be empty", context: { daemon.describe() }) {
            fixture.spool.list("tmp").isEmpty ? true : nil
        }
        // What was dropped is taken, and what was taken is right.
        try await eventually("the inbox to be empty", context: { daemon.describe() }) {
            fixture.spool.list("inbox").isEmpty ? true : nil
        }
        let ids = fixture.spool.list("outbox")
        #expect(!ids.isEmpty)
        for id in ids {
            #expect(try fixture.spool.status(of: id)?.state == .held)
        }
    }

    @Test func ctrlCLeavesTheBatchAlone() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: DaemonFixture.many, ["downloads.concurrency": "2"])
        let manifest = ["images": fixture.slowImages().map { ["source": $0.source] }]
        try fixture.write(try DaemonFixture.json(manifest), to: "x.json")
        let client = try fixture.begin(["submit", "x.json", "--wait"])
        try await eventually("the ID") { client.text("output") == "x\n" ? true : nil }
        // It says so from the moment on at which it waits.
        _ = try await fixture.spool.waitForStatus(of: "x", daemon, filtered: 1)
        client.send(SIGINT)
        try await client.result().expect(
            exit: 130, output: "x\n",
            errors:
                "darkroom: The work goes on without this command. To wait again: darkroom wait x\n")
        #expect(try fixture.spool.status(of: "x")?.state == .processing)
        try await daemon.killAtOnce()
    }

    /// The daemon reads a manifest as a member of the inbox's group.
    @Test func theUmaskDoesNotMatter() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        try fixture.makeStations()
        try fixture.write("images: {a: \(fixture.url("0.png"))}\n", to: "x.yaml")
        let result = try await fixture.client("submit", "x.yaml", "--anyway", before: "umask 077")
        #expect(result.exit == 0)
        var information = stat()
        try #require(stat(fixture.spool.path + "/inbox/x.yaml", &information) == 0)
        #expect(information.st_mode == S_IFREG | 0o640)
    }

    /// A manifest, and a folder with pictures.
    @Test(arguments: [["x.yaml"], ["0.png", "--copy", "--name", "x"]])
    func holdsWhatItSubmits(words: [String]) async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        try fixture.write("images: {a: \(fixture.url("0.png"))}\n", to: "x.yaml")
        for id in ["x", "x-2"] {
            try await fixture.begin(["submit", "--hold"] + words).result().expect(
                exit: 0, output: "\(id)\n")
            let status = try await fixture.spool.waitForStatus(of: id, daemon, .held)
            #expect(status.times.started == nil)
        }
        try await fixture.client("release", "x", "--wait").expect(
            exit: 0, output: "x is released\n")
        try await fixture.complete("x", daemon)
        #expect(try fixture.spool.status(of: "x-2")?.state == .held)
        #expect(try fixture.requests(for: "/0.png") == (words.count == 1 ? 1 : 0))
    }
}
