import Foundation
import TestSupport
import Testing

/// `darkroom submit --copy` with the real daemon: pictures that it cannot read where they are.
@Suite(.fewAtATime) struct SubmitCopyTests {
    // MARK: Sent

    @Test func sendsPicturesAlong() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 3)
        let files = ["0.png", "with 'quotes\", a #, a ? and é.png", "new\nline.png"]
        for file in files.dropFirst() { try fixture.addPicture(file) }
        let refused = try await fixture.begin(["submit"] + files).result()
        #expect(refused.exit == 65 && refused.output == "")
        #expect(
            refused.errors.hasSuffix(
                "darkroom: Nothing was submitted. Send the pictures along with --copy, or name them by URLs.\n"
                    + "darkroom: With --anyway it is submitted nevertheless.\n"
            ))
        try await fixture.begin(
            ["submit"] + files + [
                fixture.url("1.png"), "--copy", "--watermark", "2.png", "--format", "jpeg",
                "--priority", "high", "--name", "trip", "--wait",
            ]
        ).result().expect(exit: 0, output: "trip\n")
        let status = try await fixture.complete("trip", daemon)
        #expect(status.priority == .high && status.manifest.name == "trip")
        let path = fixture.documents.path
        #expect(try status.image("0").source == "\(path)/0.png")
        #expect(try status.image("new_line").source == "file://\(path)/new%0Aline.png")
        for folder in ["tmp", "inbox", "active"] { #expect(fixture.spool.list(folder) == []) }
    }

    /// `@` stands for the folder of the manifest. Its text is not changed.
    @Test(arguments: [
        "a.json":
            #"{"images": {"a": "@/0.png", "b": "file://@/1.png", "c": "sub/c d.png"}}"#,
        "a.yaml":
            "# mine\nimages: {a: '@/0.png', b: ./1.png, c: sub/../sub/c d.png}\n",
        "a.plist":
            "<plist><dict><key>a</key><string>@/sub/../0.png</string><key>b</key><string>1.png</string><key>c</key><string>@/./sub/c d.png</string></dict></plist>",
    ]) func sendsThePicturesOfAManifest(name: String, form: String) async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 2)
        try fixture.addPicture("sub/c d.png")
        let text = form.replacing("@", with: fixture.documents.path)
        try fixture.write(text, to: name)
        // From another folder: relative sources begin at the manifest's.
        let client = try ClientProcess(
            ["submit", "\(fixture.documents.path)/\(name)", "--copy", "--wait", "--json"],
            spool: fixture.spool.path, folder: "/")
        let result = try await client.result()
        #expect(result.exit == 0 && result.errors == "")
        let status = try await fixture.complete("a", daemon)
        let lines = try result.objects()
        try #require(lines.map { $0["type"] as? String } == ["submission", "batch", "summary"])
        #expect(lines[0]["file"] as? String == "a" && lines[0]["id"] as? String == "a")
        #expect(lines[0]["identity"] as? String == status.manifest.identity)
        let copy = try #require(status.manifest.file)
        #expect(try fixture.spool.bytes("outbox/a/\(copy)") == Array(text.utf8))
    }

    /// Relative sources that are not beside the manifest are the daemon's to find.
    @Test func leavesOtherSourcesToTheDaemon() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let roots = try ScratchDirectory()
        try roots.addPicture("root.png")
        let daemon = try await fixture.run(["sources.roots": "[\(roots.path)]"])
        try fixture.write("images: [root.png, 0.png]\n", to: "mixed.yaml")
        try fixture.write("images: {a: \(fixture.url("0.png"))}\n", to: "remote.yaml")
        try await fixture.client(
            "submit", "mixed.yaml", "remote.yaml", "--copy", "--wait"
        ).expect(exit: 0, output: "mixed\nremote\n")
        let mixed = try await fixture.spool.finish("mixed", daemon)
        #expect(mixed.manifest.isFolder == true)
        // Without pictures it is a file.
        let remote = try await fixture.spool.finish("remote", daemon)
        #expect(remote.manifest.name == "remote.yaml" && remote.manifest.isFolder == nil)
    }

    /// A name of pictures that would mean something else in the inbox.
    @Test func namesAFolderSoThatItIsTaken() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 0)
        for name in ["a.png", "b.png"] { try fixture.addPicture("raw.hold/\(name)") }
        try await fixture.client(
            "submit", "raw.hold/a.png", "raw.hold/b.png", "--copy", "--wait"
        ).expect(exit: 0, output: "raw.hold_\n")
        try await fixture.complete("raw.hold_", daemon)
    }

    // MARK: Copies

    @Test func copiesHaveThePermissionsOfTheSpool() async throws {
        let fixture = try DaemonFixture(pictures: 2)
        try fixture.makeStations()
        let path = fixture.documents.path
        try #require(chmod(path + "/0.png", 0o644) == 0 && chmod(path + "/1.png", 0o600) == 0)
        let result = try await fixture.client(
            "submit", "0.png", "1.png", "--copy", "--anyway", "--name", "x", before: "umask 077")
        #expect(result.exit == 0 && fixture.spool.list("tmp") == [])
        let sent = "\(fixture.spool.path)/inbox/x"
        for name in ["0.png", "1.png"] {
            let copy = try status("\(sent)\(path)/\(name)")
            #expect(copy.st_nlink == 1 && copy.st_mode == S_IFREG | 0o640)
            #expect(try copy.st_ino != status("\(path)/\(name)").st_ino)
            #expect(
                FileManager.default.contents(atPath: "\(sent)\(path)/\(name)")
                    == Data(DaemonFixture.picture))
        }
        #expect(try status(sent + "/manifest.json").st_mode == S_IFREG | 0o640)
        for folder in [sent, sent + "/" + path.split(separator: "/")[0]] {
            #expect(try status(folder).st_mode == S_IFDIR | 0o2770)
        }
    }

    private func status(_ path: String) throws -> stat {
        var information = stat()
        try #require(lstat(path, &information) == 0, "\(path)")
        return information
    }

    /// Three users without a common group: only an access control list lets the daemon in, and nobody else.
    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func onlyTheDaemonMayUseIt() async throws {
        let (daemonUser, submitter) = (UInt32(64001), UInt32(64002))
        let fixture = try DaemonFixture(pictures: 2)
        let path = fixture.documents.path
        for folder in [path, fixture.spool.root.deletingLastPathComponent().path] {
            try #require(chmod(folder, 0o755) == 0)
        }
        try #require(chown(fixture.spool.path, daemonUser, daemonUser) == 0)
        for (name, mode) in [("0.png", mode_t(0o644)), ("1.png", 0o600)] {
            try #require(chown("\(path)/\(name)", submitter, submitter) == 0)
            try #require(chmod("\(path)/\(name)", mode) == 0)
        }
        let daemon = try DaemonProcess(
            arguments: DaemonProcess.arguments(spool: fixture.spool.path), user: daemonUser)
        try await daemon.says(" watches ")
        try await eventually("its report") { fixture.spool.exists("queue.json") ? true : nil }
        for folder in ["tmp", "inbox"] {
            try #require(chmod("\(fixture.spool.path)/\(folder)", 0o1777) == 0)
        }
        let client = try ClientProcess(
            ["submit", "0.png", "1.png", "--copy", "--hold", "--name", "x"],
            spool: fixture.spool.path, folder: path, user: submitter)
        try await client.result().expect(exit: 0, output: "x\n")
        let sent = "\(fixture.spool.path)/active/x/submitted/x"
        // The bits of the group show the mask of the list.
        #expect(try status(sent).st_mode & 0o777 == 0o770)
        #expect(try status("\(sent)\(path)/0.png").st_nlink == 1)
        let release = try ClientProcess(
            ["release", "x", "--wait"], spool: fixture.spool.path, user: submitter)
        #expect(try await release.result().exit == 0)
        let ended = try await fixture.spool.finish("x", daemon)
        #expect(ended.state == .completed && ended.manifest.uid == submitter)
    }

    // MARK: Nothing is dropped

    @Test func sendsNothingIfAnythingIsWrong() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 1, ["downloads.maxBytes": "64KiB"])
        let path = fixture.documents.path
        try fixture.addPicture("a.png")
        try fixture.addPicture("sub\(path)/0.png")
        try Data(count: 70_000).write(to: fixture.documents.url.appending(path: "large.png"))
        try FileManager.default.makeFolder(atPath: path + "/folder.png")
        let table: [(source: String, exit: Int32, errors: String)] = [
            ("/nowhere/a.png", 66, "/nowhere/a.png: cannot find it: No such file or directory"),
            ("folder.png", 65, "folder.png: it is not a file"),
            (
                "../m.yaml", 65,
                "../m.yaml: it is not beneath the manifest's folder; name it by its absolute path"
            ),
            (
                "manifest.png, manifest.yaml", 65,
                "manifest.yaml: a picture with this name would be the manifest of the folder that is sent; rename it"
            ),
            (
                "\(path)/large.png", 65,
                "\(path)/large.png: the file has 70000 bytes (68.4 KiB), more than the limit of 64 KiB"
            ),
            (
                "\(path)/0.png, \(String(path.dropFirst()))/0.png", 65,
                "\(path)/0.png and ./\(String(path.dropFirst()))/0.png would have the same place in the folder that is sent; rename one of them"
            ),
        ]
        for name in ["manifest.png", "manifest.yaml"] { try fixture.write("x", to: name) }
        for row in table {
            let folder = row.source.contains("0.png") || row.source.hasPrefix("..") ? "sub/" : ""
            try fixture.write("images: [\(row.source)]\n", to: folder + "m.yaml")
            let client = try ClientProcess(
                ["submit", "m.yaml", "--copy"], spool: fixture.spool.path,
                folder: "\(path)/\(folder)")
            #expect(
                try await client.result()
                    == .init(exit: row.exit, output: "", errors: "darkroom: \(row.errors)\n"),
                "\(row.source)")
        }
        try await fixture.client("submit", "0.png", "--copy", "--name", "x.hold").expect(
            exit: 64,
            errors:
                "darkroom: --name x.hold: with --copy, the name cannot have this ending\n")
        #expect(try await daemon.stop() == .exited(0))
        for folder in ["tmp", "inbox", "outbox"] { #expect(fixture.spool.list(folder) == []) }
    }

    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount"))
    func aFullDiskIsSaid() async throws {
        let disk = try SmallDisk(kilobytes: 2048)
        let fixture = try DaemonFixture(pictures: 1, spool: SpoolFixture(root: disk.root))
        try fixture.makeStations()
        try disk.fill(butFor: 200)
        try Data(count: 400_000).write(to: fixture.documents.url.appending(path: "large.png"))
        let path = fixture.documents.path
        let result = try await fixture.client(
            "submit", "0.png", "large.png", "--copy", "--anyway", "--name", "x")
        #expect(result.exit == 74 && result.output == "")
        #expect(result.errors.hasPrefix("darkroom: "))
        #expect(result.errors.contains("\(path)/large.png"))
        #expect(result.errors.contains("No space left on device"), "\(result.errors)")
        #expect(fixture.spool.list("tmp") == [] && fixture.spool.list("inbox") == [])
        // With room it works, by copies: the disk is another one.
        disk.empty()
        let second = try await fixture.client(
            "submit", "0.png", "large.png", "--copy", "--anyway", "--name", "x")
        #expect(second.exit == 0)
        #expect(
            try fixture.spool.bytes("inbox/x\(path)/large.png")
                == [UInt8](repeating: 0, count: 400_000))
    }

    /// The disk is another one, so that much must be copied.
    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount"))
    func ctrlCRemovesWhatWasBegun() async throws {
        let disk = try SmallDisk(kilobytes: 4 << 20)
        let fixture = try DaemonFixture(pictures: 0, spool: SpoolFixture(root: disk.root))
        try fixture.makeStations()
        try fixture.write("", to: "large.png")
        try #require(truncate(fixture.documents.path + "/large.png", 2 << 30) == 0)
        let client = try fixture.begin(
            ["submit", "large.png", "--copy", "--anyway", "--name", "x"])
        try await eventually("the copy") { fixture.spool.list("tmp").isEmpty ? nil : true }
        client.send(SIGINT)
        let result = try await client.result()
        #expect(result.exit == 130 && result.output == "")
        // On a busy machine, a line about the progress may come first.
        let last = "darkroom: Interrupted while the pictures were copied; the copies are removed.\n"
        #expect(result.errors.hasSuffix(last), "\(result.errors)")
        #expect(fixture.spool.list("tmp") == [] && fixture.spool.list("inbox") == [])
    }

    // MARK: Leftovers

    /// However far a killed client has come, there is a whole folder or a leftover that the next one removes.
    @Test func theNextOneRemovesWhatAKilledOneLeft() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        try fixture.makeStations()
        let documents = fixture.documents.path
        let files = (1...2000).map { "\($0).png" }
        for file in files {
            try #require(link(documents + "/0.png", "\(documents)/\(file)") == 0)
        }
        var leftovers = 0
        for life in 0..<12 {
            let client = try fixture.begin(
                ["submit"] + files + ["--copy", "--anyway", "--name", "killed\(life)"])
            switch life {
            // As soon as there is something to leave, at some moments, and not at all.
            case 0..<3:
                // It may have submitted everything before anybody looks.
                try await eventually("the folder") {
                    fixture.spool.list("tmp").isEmpty
                        && !fixture.spool.exists("inbox/killed\(life)") ? nil : true
                }
            case 3..<11: try await Task.sleep(for: .milliseconds(life * 8))
            default: break
            }
            if life < 11 { client.send(SIGKILL) }
            _ = try await client.result()
            leftovers = max(leftovers, fixture.spool.list("tmp").count)
        }
        #expect(leftovers > 0 && fixture.spool.exists("inbox/killed11"))
        #expect(
            try await fixture.client("submit", "0.png", "--copy", "--anyway", "--name", "x").exit
                == 0)
        #expect(fixture.spool.list("tmp") == [])
        let path = fixture.documents.path
        for name in fixture.spool.list("inbox") where name != "x" {
            #expect(fixture.spool.list("inbox/\(name)\(path)") == files.sorted())
            #expect(fixture.spool.exists("inbox/\(name)/manifest.json"))
        }
    }

    /// What another process still fills stays; what nobody fills goes at the next submit, or when a daemon starts.
    @Test(arguments: [true, false]) func onlyLeftoversAreRemoved(byDaemon: Bool) async throws {
        let fixture = try DaemonFixture(pictures: 1)
        try fixture.makeStations()
        let tmp = fixture.spool.path + "/tmp"
        for name in [".darkroom-1-1", ".darkroom-1-2", "mine"] {
            try FileManager.default.makeFolder(atPath: "\(tmp)/\(name)/a/b")
            try Data([1]).write(to: URL(filePath: "\(tmp)/\(name)/a/b/c.png"))
        }
        let lock = open(tmp + "/.darkroom-1-2", O_RDONLY | O_CLOEXEC)
        try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
        defer { close(lock) }
        if byDaemon {
            let daemon = try await fixture.run()
            try await daemon.says("1 folder in tmp/ removed")
        } else {
            let result = try await fixture.client("submit", "0.png", "--copy", "--anyway")
            #expect(result.exit == 0)
        }
        #expect(fixture.spool.list("tmp") == [".darkroom-1-2", "mine"])
    }
}
