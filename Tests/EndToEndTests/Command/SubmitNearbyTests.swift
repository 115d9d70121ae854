import Foundation
import TestSupport
import Testing

/// Relative sources of submitted manifests, with the real daemon: beside the manifest first, then in the roots.
@Suite(.fewAtATime) struct SubmitNearbyTests {
    private let fixture: DaemonFixture
    private let shop: ScratchDirectory
    private let root: ScratchDirectory

    /// The folder of the manifest has `photos/a.png` and `photos/b.png`, the root `photos/a.png` and `r.png`.
    init() throws {
        fixture = try DaemonFixture(pictures: 0)
        shop = try ScratchDirectory()
        root = try ScratchDirectory()
        for (folder, file) in [
            (shop, "photos/a.png"), (shop, "photos/b.png"), (root, "photos/a.png"),
            (root, "r.png"),
        ] {
            try folder.addPicture(file)
        }
    }

    private func write(_ text: String, to file: String) throws -> String {
        try shop.write(text, file)
        return "\(shop.path)/\(file)"
    }

    /// Runs the command in the root of the machine.
    private func command(_ arguments: String...) async throws -> ClientProcess.Result {
        let client = try ClientProcess(arguments, spool: fixture.spool.path, folder: "/")
        return try await client.result()
    }

    @Test func takesThoseBesideTheManifest() async throws {
        let daemon = try await fixture.run(["sources.roots": "[\(root.path), \(shop.path)]"])
        let text = "# mine\nimages: [photos/b.png, r.png, photos/*.png]\n"
        let path = try write(text, to: "shop.yaml")
        let result = try await command("submit", path, "--priority", "high", "--wait")
        let note =
            "‘photos/*.png’ is beside the manifest and in \(root.path), one of sources.roots; the one beside the manifest is taken"
        result.expect(exit: 0, output: "shop\n", errors: "\(path): note: \(note)\n")
        let status = try await fixture.spool.finish("shop", daemon)
        let folder = "\(shop.path)/photos"
        #expect(
            status.images.map(\.source)
                == ["photos/b.png", "r.png", "\(folder)/a.png", "\(folder)/b.png"])
        #expect(status.priority == .high)
        let copy = try fixture.spool.bytes("outbox/shop/manifest.yaml")
        #expect(
            String(decoding: copy, as: UTF8.self)
                == "# mine\npriority: high\nimages: [photos/b.png, r.png, \"\(folder)/*.png\"]\n"
        )
        // check means the same.
        let check = try await command("check", "--sources", path)
        #expect(check.exit == 0 && check.errors == "\(path): note: \(note)\n")
        #expect(check.output.split(separator: "\n").count == 5)
        // What is dropped by hand means the roots, in their order.
        try fixture.spool.drop("hand.yaml", text)
        let hand = try await fixture.spool.finish("hand", daemon)
        #expect(
            hand.images.map(\.source) == ["photos/b.png", "r.png", "\(root.path)/photos/a.png"])
    }

    /// A folder on the command line has the files that it has for the daemon.
    @Test func sourcesIgnoreHoldsForFolders() async throws {
        let daemon = try await fixture.run([
            "sources.roots": "[\(shop.path)]", "sources.ignore": "[b.*]",
        ])
        try await command("submit", shop.path + "/photos/", "--name", "x", "--wait").expect(
            exit: 0, output: "x\n")
        let status = try await fixture.spool.finish("x", daemon)
        #expect(status.images.map(\.name) == ["a"])
        let out = try ScratchDirectory()
        let run = try await command(
            "run", shop.path + "/photos/", "-o", out.path + "/o", "--quiet", "--set",
            "sources.ignore=[b.*]")
        #expect(run.exit == 0, "\(run)")
        #expect(!FileManager.default.fileExists(atPath: out.path + "/o/b.png"))
    }

    @Test func standardInputBeginsInTheWorkingFolder() async throws {
        let daemon = try await fixture.run(["sources.roots": "[\(shop.path)]"])
        let file = try write("images: [b.png]\n", to: "in.yaml")
        let client = try ClientProcess(
            ["submit", "-", "--name", "x", "--wait"], spool: fixture.spool.path,
            folder: "\(shop.path)/photos", before: "exec < \(file)")
        try await client.result().expect(exit: 0, output: "x\n")
        #expect(
            try await fixture.spool.finish("x", daemon).images.map(\.source)
                == ["\(shop.path)/photos/b.png"])
    }

    @Test func saysWhatTheDaemonCannotRead() async throws {
        let daemon = try await fixture.run(["sources.roots": "[\(root.path)]"])
        let advice =
            "darkroom: Nothing was submitted. Send the pictures along with --copy, put them into \(root.path), or name them by URLs.\ndarkroom: With --anyway it is submitted nevertheless.\n"
        let reason = "it is not in one of sources.roots (\(root.path))\n"
        for (images, file) in [("photos/b.png", "b.png"), ("photos/b*", "b*")] {
            let path = try write("images: [\(images), r.png]\n", to: "shop.yaml")
            try await command("submit", path).expect(
                exit: 65,
                errors:
                    "darkroom: darkroomd cannot read \(shop.path)/photos/\(file): \(reason)"
                    + advice)
            #expect(try await command("check", "--sources", path).exit == 65)
        }
        // With --copy, the picture beside the manifest is sent, and the others are the daemon's.
        let path = try write("images: [photos/b*, r.png]\n", to: "shop.yaml")
        try await command("submit", path, "--copy", "--priority", "low", "--wait").expect(
            exit: 0, output: "shop\n")
        let status = try await fixture.spool.finish("shop", daemon)
        #expect(status.images.map(\.source) == ["photos/b.png", "r.png"])
        let missing = try write("images: [none.png]\n", to: "none.yaml")
        try await command("submit", missing).expect(
            exit: 65,
            errors: """
                darkroom: none.png: no such file beside the manifest, nor in sources.roots (\(root.path))
                darkroom: Nothing was submitted. Put the files there, or correct their paths; or submit with --anyway, if the files come before their turn.

                """)
    }
}
