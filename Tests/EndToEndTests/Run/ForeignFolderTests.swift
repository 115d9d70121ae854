import DarkroomCore
import Foundation
import TestSupport
import Testing

/// Whoever may write to the folder of the results cannot lead a run elsewhere: `.darkroom` and what is in it are the
/// user's own.
@Suite(.fewAtATime, .enabled(if: geteuid() == 0, "another user's folders need root"))
struct ForeignFolderTests {
    private static let attacker: uid_t = 65534
    private let fixture: RunFixture

    init() throws {
        fixture = try RunFixture()
        try fixture.write("filters: [mono]\nimages: {a: small.png, b: gray.png}\n", to: "good.yaml")
        // What a run would empty or remove if it took this for `active/good`.
        for name in ["manifest.yaml", "journal", "output-0", "source-0", "status.new", "receipt/x"]
        {
            try fixture.write("precious", to: "precious/\(name)")
        }
        chmod(fixture.scratch.path, 0o755)
    }

    private var precious: [String] {
        get throws {
            let names = try FileManager.default.subpathsOfDirectory(
                atPath: fixture.url("precious").path)
            return names.sorted()
        }
    }

    /// Runs commands of a shell in the folder of the results.
    private func prepare(_ commands: String, as user: uid_t = attacker) async throws {
        let out = fixture.url("out").path
        try FileManager.default.makeFolder(atPath: out)
        chown(out, user, user)
        chmod(out, 0o777)
        let words = [
            "setpriv", "--reuid", "\(user)", "--regid", "\(user)", "--clear-groups", "bash", "-ec",
            "cd '\(out)'; \(commands)",
        ]
        #expect(try SystemProgram.run("/usr/bin/env", words).status == 0)
    }

    static let owner = """
        this folder belongs to the user with the number 65534, and not to 0, who runs the command
        darkroom: Whoever can write to it could exchange files during the run. Run the command as its user, name another folder, or remove this one.

        """

    @Test(
        arguments: [
            ("mkdir .darkroom", "", 77, "darkroom: out/.darkroom: \(owner)"),
            (
                "mkdir -p -m 777 .darkroom/active", "", 77, "darkroom: out/.darkroom: \(owner)"
            ),
            (
                "ln -s ../precious .darkroom", "", 65,
                """
                darkroom: out/.darkroom: a symbolic link is in the place of this file
                darkroom: Remove the link, or put the file itself there.

                """
            ),
            (
                "", "mkdir -p .darkroom/active && chown 65534 .darkroom/active", 77,
                "darkroom: out/.darkroom/active: \(owner)"
            ),
            (
                "", "mkdir -p .darkroom && ln -s ../../precious .darkroom/active", 65,
                """
                darkroom: out/.darkroom/active: a symbolic link is in the place of this file
                darkroom: Remove the link, or put the file itself there.

                """
            ),
            (
                "", "mkdir -p .darkroom/active && ln -s ../../../precious .darkroom/active/good",
                65,
                """
                darkroom: out/.darkroom/active/good: a symbolic link is in the place of this file
                darkroom: Remove the link, or put the file itself there.

                """
            ),
        ] as [(String, String, Int32, String)])
    func isRefused(commands: String, ofRoot: String, exit: Int32, errors: String) async throws {
        let before = try precious
        try await prepare(commands.isEmpty ? ":" : commands)
        if !ofRoot.isEmpty {
            try await prepare(ofRoot, as: 0)
            chown(fixture.url("out").path, Self.attacker, Self.attacker)
        }
        try await fixture.end("run good.yaml -o out").expect(exit: exit, errors: errors)
        #expect(try precious == before)
        #expect(!fixture.exists("out/status.json"))
    }

    /// A umask or a volume gave the group the right to write.
    @Test func isTakenFromOthers() async throws {
        try await prepare("umask 0; mkdir -p .darkroom/active", as: 0)
        #expect(try await fixture.end("run good.yaml -o out").exit == 0)
        for name in ["out/.darkroom", "out/.darkroom/active"] {
            var found = stat()
            #expect(stat(fixture.url(name).path, &found) == 0)
            #expect(found.st_mode & 0o022 == 0, "\(name)")
        }
        try fixture.checkOutcome()
    }

    /// A run keeps the folder that it has opened, whatever takes its name.
    @Test func nothingElsewhereIsTouched() async throws {
        try await prepare("mkdir evil; chmod 777 evil; mkdir -m 777 evil/active")
        let before = try precious
        let attack = Process()
        attack.executableURL = URL(filePath: "/usr/bin/env")
        attack.arguments = [
            "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "bash", "-c",
            """
            cd '\(fixture.url("out").path)'
            ln -s ../../precious evil/active/good
            while :; do
                mv -T .darkroom away; ln -s ../precious .darkroom; rm -f .darkroom
                mv -T evil .darkroom; mv -T .darkroom evil; mv -T away .darkroom
            done 2>/dev/null
            """,
        ]
        try attack.run()
        defer {
            kill(attack.processIdentifier, SIGKILL)
            attack.waitUntilExit()
        }
        var exits: Set<Int32> = []
        for _ in 0..<20 {
            let result = try await fixture.end("run good.yaml -o out --retry")
            exits.insert(result.exit)
            #expect([0, 3, 65, 73, 74, 75, 77].contains(result.exit), "\(result)")
            #expect(try precious == before)
            for name in before where !name.contains("/") && name != "receipt" {
                #expect(try fixture.bytes("precious/\(name)") == Array("precious".utf8))
            }
            for name in ["out/a.png", "out/b.png", "out/status.json", "out/manifest.yaml"] {
                try? fixture.remove(name)
            }
        }
        #expect(!exits.isEmpty)
    }

    // MARK: What the patterns meant

    /// Changes a file of the answer, as its owner.
    private func change(_ name: String, _ old: String, _ new: String) throws {
        let file = fixture.url("out/\(name)")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains(old))
        try Data(text.replacing(old, with: new).utf8).write(to: file)
    }

    /// The pictures of a pattern stand in a file beside the outputs. A run reads no other picture that it names.
    @Test(arguments: ["/secret/b.png", "./../secret/b.png", "http://127.0.0.1:9/b.png"])
    func readsNoOtherPicture(source: String) async throws {
        let manager = FileManager.default
        try fixture.write("images: [\"album/*.png\"]\n", to: "many.yaml")
        for folder in ["album", "secret"] {
            try manager.makeFolder(at: fixture.url(folder))
        }
        try manager.copyItem(at: fixture.url("small.png"), to: fixture.url("album/a.png"))
        try manager.copyItem(at: fixture.url("gray.png"), to: fixture.url("secret/b.png"))
        #expect(try await fixture.end("run many.yaml -o out").exit == 0)
        let other = source.hasPrefix("/") ? fixture.scratch.path + source : source
        try change("sources.json", "album/a.png", other)
        try change("status.json", "album/a.png", other)
        try manager.removeItem(at: fixture.url("out/a.png"))
        let result = try await fixture.end("run many.yaml -o out")
        // It looks for itself what the pattern means.
        #expect(result.exit == 0, "\(result)")
        let images = try #require(try fixture.status()).images
        #expect(images.map(\.source) == ["album/a.png"])
        #expect(
            images.map(\.sourceSHA256) == [SHA256Digest.hex(of: try fixture.bytes("small.png"))])
        #expect(
            try !String(decoding: fixture.bytes("out/sources.json"), as: UTF8.self).contains(other))
    }

    /// A pipe in the place of that file is replaced, not written to, by a run that goes on after a kill.
    @Test func writesIntoNoPipe() async throws {
        try fixture.write("images: [\"./s*.png\"]\n", to: "many.yaml")
        let killed = try await fixture.end(
            "run many.yaml -o out --quiet",
            environment: ["DARKROOM_FAULT": "receipt-manifest-moved"])
        #expect(killed.exit != 0, "\(killed)")
        try await prepare("rm -f sources.json status.json; mkfifo sources.json")
        try await fixture.end("run many.yaml -o out").shows(exit: 0)
        #expect(try fixture.bytes("out/sources.json").count > 10)
    }
}
