import DarkroomAnswer
import DarkroomCore
import Foundation
import Testing

/// What a hostile member of the spool's group does to the intake, beside an innocent one.
@Suite(.fewAtATime) struct IntakeAttackTests {
    private func path(_ fixture: DaemonFixture, _ name: String) -> String {
        fixture.spool.root.appending(path: name).path
    }

    /// Everything in the outbox is a regular file of the daemon's, with no other name.
    private func checkOutbox(
        _ fixture: DaemonFixture, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for id in fixture.spool.list("outbox") {
            for file in fixture.spool.list("outbox/\(id)") {
                var information = stat()
                try #require(lstat(path(fixture, "outbox/\(id)/\(file)"), &information) == 0)
                #expect(
                    information.st_mode & S_IFMT == S_IFREG, "\(id)/\(file)",
                    sourceLocation: sourceLocation)
                #expect(
                    information.st_uid == geteuid() && information.st_nlink == 1, "\(id)/\(file)",
                    sourceLocation: sourceLocation)
            }
        }
    }

    /// `truncate -s 1T`: of what is larger than any manifest nothing is read.
    @Test func sparseManifestsTakeNoTime() async throws {
        let (fixture, daemon) = try await DaemonFixture.running()
        let names = (0..<4).flatMap { number in
            ["json", "yaml", "plist"].map { "sparse\(number)-\($0).\($0)" }
        }
        try await fixture.withstands(daemon) {
            for name in names {
                let staged = path(fixture, "tmp/\(name)")
                close(creat(staged, 0o644))
                try #require(truncate(staged, 1 << 40) == 0)
                try #require(rename(staged, path(fixture, "inbox/\(name)")) == 0)
            }
        }
        let second = try await fixture.run()
        for name in names {
            let id = String(name.prefix { $0 != "." })
            let status = try await fixture.spool.finish(id, second)
            #expect(status.state == .rejected)
            #expect(status.errors?.map(\.code) == ["too-large"])
            #expect(status.manifest.bytes == 1 << 40)
            #expect(status.manifest.sha256 == nil && status.manifest.file == nil)
            try fixture.checkOutcome(status)
        }
        // Nothing is lost, nothing was copied out to blocks.
        #expect(fixture.spool.list("tmp") == names.sorted())
        for name in names {
            var information = stat()
            #expect(stat(path(fixture, "tmp/\(name)"), &information) == 0)
            #expect(information.st_size == 1 << 40 && information.st_blocks == 0)
        }
    }

    /// Legal ones, each as large as may be: it takes many seconds to read one.
    @Test(arguments: ["json", "yaml", "plist"])
    func largeManifestsHoldUpNobody(ending: String) async throws {
        let (fixture, daemon) = try await DaemonFixture.running()
        let text = Self.large(ending)
        try await fixture.withstands(daemon) {
            for number in 0..<3 { try fixture.spool.drop("large\(number).\(ending)", text) }
        }
        // Nor does a stop wait for what the next start finds and reads.
        let second = try await fixture.run()
        let clock = ContinuousClock()
        let start = clock.now
        #expect(try await second.stop() == .exited(0))
        #expect(clock.now - start < .seconds(10))
        // Whatever the stop has met, nothing is lost.
        for number in 0..<3 {
            let places = [
                "inbox/large\(number).\(ending)",
                "active/large\(number)/submitted-large\(number).\(ending)",
                "active/large\(number)/manifest.\(ending)",
            ]
            #expect(places.contains(where: fixture.spool.exists), "\(number)")
        }
    }

    private static func large(_ ending: String) -> String {
        let count = 150_000
        let padding = String(repeating: "x", count: 60)
        switch ending {
        case "json":
            let images = (0..<count).map {
                #"{"name": "i\#($0)", "source": "\#(padding)\#($0).png", "filters": ["mono", "invert"]}"#
            }
            return "{\"images\": [\(images.joined(separator: ",\n"))]}"
        case "yaml":
            return (0..<count).reduce(into: "images:\n") {
                $0 += "- {name: i\($1), source: \(padding)\($1).png, filters: [mono, invert]}\n"
            }
        default:
            return (0..<count).reduce(into: "<plist version=\"1.0\"><dict>\n") {
                $0 += "<key>i\($1)</key><string>\(padding)\($1).png</string>\n"
            } + "</dict></plist>"
        }
    }

    /// A manifest is its submitter's own file, and stays so after it was taken.
    @Test func aRejectedManifestCannotGrow() async throws {
        let fixture = try DaemonFixture()
        let first = try await fixture.run()
        try await fixture.complete("mine", images: [("a", fixture.url("0.png"))], first)
        let staged = path(fixture, "tmp/bad.json")
        try Data("{}".utf8).write(to: URL(filePath: staged))
        try #require(link(staged, path(fixture, "tmp/kept")) == 0)
        let open = Glibc.open(staged, O_WRONLY | O_CLOEXEC)
        defer { close(open) }
        try #require(rename(staged, path(fixture, "inbox/bad.json")) == 0)
        let status = try await fixture.spool.finish("bad", first)
        #expect(status.state == .rejected)
        #expect(try await first.stop() == .exited(0))

        try #require(
            truncate(path(fixture, "tmp/kept"), 1 << 40) == 0 && ftruncate(open, 1 << 41) == 0)
        try makeOldest(fixture, "large", bytes: 40 << 20)
        let second = try await fixture.run(["retention.bytes": "20MiB"])
        try await fixture.withstands(second) { try await second.says("outbox/large removed") }
        #expect(fixture.spool.exists("outbox/mine/a.png"))
        #expect(try fixture.spool.bytes("outbox/bad/manifest.json") == Array("{}".utf8))
        try checkOutbox(fixture)
    }

    /// Makes a finished entry that is the first to be removed.
    private func makeOldest(_ fixture: DaemonFixture, _ id: String, bytes: Int) throws {
        let finished = "2020-09-13T12:26:40.000Z"
        let folder = fixture.spool.root.appending(path: "outbox/\(id)")
        try FileManager.default.makeFolder(at: folder)
        let status = Status(
            id: id,
            manifest: .init(name: "\(id).json", file: "manifest.json", sha256: "", bytes: 2),
            state: .completed, times: .init(received: finished, finished: finished))
        let directory = try Directory(path: folder.path)
        try directory.write([UInt8](repeating: 1, count: bytes), to: "a.png", durably: false)
        try directory.write(status.encoded(), to: "status.json", durably: false)
    }

    /// What is done is what was accepted, whatever its submitter writes into the file afterwards.
    @Test func anAcceptedManifestCannotBeChanged() async throws {
        let fixture = try DaemonFixture()
        let first = try await fixture.run()
        try await first.pause()
        let staged = path(fixture, "tmp/job.json")
        try Data(try DaemonFixture.json(["images": ["a": fixture.url("0.png")]]).utf8)
            .write(to: URL(filePath: staged))
        let open = Glibc.open(staged, O_WRONLY | O_CLOEXEC)
        defer { close(open) }
        try #require(rename(staged, path(fixture, "inbox/job.json")) == 0)
        try await first.waitForStatusText("Paused: 1 batch")
        let other = Array(try DaemonFixture.json(["images": ["b": fixture.url("1.png")]]).utf8)
        try #require(ftruncate(open, 0) == 0)
        #expect(pwrite(open, other, other.count, 0) == other.count)
        try #require(ftruncate(open, 1 << 40) == 0)
        #expect(try await first.stop() == .exited(0))

        let second = try await fixture.run()
        second.send(SIGUSR2)
        let status = try await fixture.spool.finish("job", second)
        try fixture.checkCompleted(status)
        #expect(status.images.map(\.name) == ["a"])
        try checkOutbox(fixture)
    }

    /// Names that are a manifest at one look and something else at the next.
    @Test func swappedManifestsLeaveOnlyFiles() async throws {
        let (fixture, daemon) = try await DaemonFixture.running()
        let makers: [(String) -> CInt] = [
            { mkfifo($0, 0o644) }, { mkdir($0, 0o755) }, { symlink("/etc/hostname", $0) },
            { mknod($0, S_IFSOCK | 0o644, 0) },
        ]
        var names: [String] = []
        try await fixture.withstands(daemon) {
            for number in 0..<400 {
                let name = "swap\(number).json"
                names.append(name)
                let thing = path(fixture, "tmp/thing\(number)")
                try #require(makers[number % makers.count](thing) == 0)
                try fixture.spool.drop(name, "{}")
                // In the moment between the look and the claim, or before, or after.
                if number % 2 == 0 { usleep(UInt32(number % 16) * 50) }
                let target = path(fixture, "inbox/\(name)")
                _ = rename(target, path(fixture, "tmp/own\(number)"))
                _ = rename(thing, target)
            }
        }
        try checkOutbox(fixture)
        // Each manifest is somewhere, and so is each thing that took its place.
        for (number, name) in names.enumerated() {
            let places = [
                "tmp/own\(number)", "tmp/thing\(number)", "inbox/\(name)",
                "outbox/swap\(number)/manifest.json",
                "active/swap\(number)/submitted-\(name)",
            ].filter { isThere(path(fixture, $0)) }
            #expect(places.count >= 2, "\(name) \(places)")
        }
    }

    private func isThere(_ path: String) -> Bool {
        var information = stat()
        return lstat(path, &information) == 0
    }
}
