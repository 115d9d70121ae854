import DarkroomAnswer
import Foundation
import TestPictures
import TestSupport
import Testing

/// Outputs that are copied from the store of results by a real daemon.
@Suite(.fewAtATime) struct ResultStoreEndTests {
    private let fixture: DaemonFixture
    private let folder: ScratchDirectory

    init() throws {
        fixture = try DaemonFixture(pictures: 2)
        folder = try ScratchDirectory()
        // A small source, which is read at once, and a large one. Neither has the bytes of the one that is downloaded, whose
        // result would be theirs.
        for (name, width, height) in [("small.png", 40, 30), ("large.png", 400, 300)] {
            try folder.write(
                Starfield.png(width: width, height: height, seed: 2), to: "pictures/\(name)")
        }
    }

    private var settings: [String: String] {
        [
            "results.folder": folder.path + "/r", "results.maxBytes": "64MiB",
            "sources.roots": "[\(folder.path)/pictures]",
        ]
    }

    private func run(
        _ own: [String: String] = [:], environment: [String: String] = [:]
    ) async throws -> DaemonProcess {
        try await fixture.run(settings.merging(own) { $1 }, environment: environment)
    }

    /// Has a batch of a small, a large and a downloaded picture done.
    private func finish(
        _ id: String, _ daemon: DaemonProcess, _ filters: [Any] = ["sepia"]
    ) async throws -> Status {
        try drop(id, filters)
        return try await fixture.complete(id, daemon)
    }

    private func drop(_ id: String, _ filters: [Any] = ["sepia"]) throws {
        try fixture.drop(
            id,
            [
                "filters": filters,
                "images": [
                    ["name": "small", "source": "small.png"],
                    ["name": "large", "source": "large.png", "output": ["format": "jpeg"]],
                    ["name": "url", "source": fixture.url("0.png")],
                ],
            ])
    }

    private func stored(_ status: Status) -> [String] {
        status.images.filter { $0.made == .stored }.map(\.name)
    }

    private func sums(_ status: Status) -> [String?] { status.images.map { $0.output?.sha256 } }

    private var files: [URL] {
        let root = folder.url.appending(path: "r")
        let names = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String }
        return (names ?? []).filter { $0.count == 65 }.map { root.appending(path: $0) }
    }

    private static let all = ["small", "large", "url"]

    /// A variant that fails is not in the store. Its error is its own, also if all others are copied.
    @Test func aFailureBesideCopiesIsThatOfItsImage() async throws {
        let daemon = try await run()
        let manifest = """
            {"filters": ["flop"], "images": ["small.png"], "variants": [
                {"suffix": "a", "filters": ["sepia"]}, {"suffix": "b", "filters": ["mono"]},
                {"suffix": "c", "filters": [{"crop": {"x": 0, "y": 0, "width": 300, "height": 300}}]}
            ]}
            """
        for (id, made) in [("one", []), ("two", ["smalla", "smallb"])] {
            try fixture.spool.drop("\(id).json", manifest)
            let status = try await fixture.spool.finish(id, daemon)
            #expect(stored(status) == made)
            #expect(status.images.map(\.state) == [.filtered, .filtered, .failed])
            #expect(status.images[2].error?.code == "filter-outside")
        }
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func theSameManifestIsCopied() async throws {
        let daemon = try await run()
        let first = try await finish("one", daemon)
        #expect(stored(first) == [])
        #expect(files.count == 3)
        let second = try await finish("two", daemon)
        #expect(stored(second) == Self.all && sums(second) == sums(first))
        for (a, b) in zip(first.images, second.images) {
            #expect(a.sourceSHA256 == b.sourceSHA256 && a.settingsSHA256 == b.settingsSHA256)
            #expect(a.versionsSHA256 == b.versionsSHA256 && a.metadata == b.metadata)
            #expect(a.output == b.output)
        }
        // Outputs and results are files of their own.
        let output = fixture.spool.path("outbox/two/small.png")
        let attributes = try FileManager.default.attributesOfItem(atPath: output)
        #expect(attributes[.referenceCount] as? Int == 1)
        let other = try await finish("three", daemon, ["mono"])
        #expect(stored(other) == [] && sums(other) != sums(first))

        try await fixture.client("show", "two", "--images").shows(output: .has("filtered (stored)"))
        try await eventually("the hits in the status") {
            let status = try await fixture.client("status")
            return status.output.contains("  results  3 of 9 copied, ") ? true : nil
        }
        try await fixture.client(
            "verify", "two", "--again", "--set", "sources.roots=[\(folder.path)/pictures]",
            "--set", "downloads.allowNetworks=[127.0.0.0/8]"
        ).shows(exit: 0)
        #expect(try await daemon.stop() == .exited(0))

        // After a restart, too.
        let again = try await run()
        let third = try await finish("four", again)
        #expect(stored(third) == Self.all && sums(third) == sums(first))
        #expect(try await again.stop() == .exited(0))
    }

    @Test func anotherSourceOfTheSameNameIsMade() async throws {
        let daemon = try await run()
        let first = try await finish("one", daemon)
        for (name, seed) in [("small.png", 8), ("large.png", 9)] {
            try folder.write(
                Starfield.png(width: 400, height: 300, seed: UInt64(seed)), to: "pictures/\(name)")
        }
        let second = try await finish("two", daemon)
        #expect(stored(second) == ["url"])
        #expect(zip(sums(first), sums(second)).map { $0 == $1 } == [false, false, true])
        #expect(try await daemon.stop() == .exited(0))
    }

    /// Two pictures that lie over a third one exchange their files: with them, the names of the outputs.
    @Test func whatLiesOverItExchangesItsPlace() async throws {
        for (name, seed) in [("a.png", 8), ("b.png", 9)] {
            try folder.write(
                Starfield.png(width: 90, height: 60, seed: UInt64(seed)), to: "pictures/\(name)")
        }
        func finish(_ id: String, _ left: String, _ right: String) async throws -> String? {
            let layers = [("left", "west"), ("right", "east")].map { name, gravity in
                ["overlay": ["from": name, "gravity": gravity]]
            }
            try fixture.drop(
                id,
                [
                    "output": ["name": "{stem}.{ext}"],
                    "images": [
                        ["name": "left", "source": left, "filters": []],
                        ["name": "right", "source": right, "filters": []],
                        ["name": "whole", "source": "large.png", "filters": layers],
                    ],
                ])
            let status = try await fixture.complete(id, daemon)
            return try status.image("whole").output?.sha256
        }
        let daemon = try await run()
        let first = try await finish("one", "a.png", "b.png")
        let second = try await finish("two", "b.png", "a.png")
        #expect(first != nil && second != nil && first != second)
        #expect(try await finish("three", "a.png", "b.png") == first)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A program of the same version, but another one.
    @Test func anotherProgramMakesAll() async throws {
        let daemon = try await run()
        let first = try await finish("one", daemon)
        #expect(try await daemon.stop() == .exited(0))
        let copy = folder.url.appending(path: "darkroomd")
        try FileManager.default.copyItem(atPath: try DaemonProcess.program(), toPath: copy.path)
        let script = ["-c", "touch -d 2001-01-01 \"$0\"", copy.path]
        _ = try SystemProgram.run("/bin/sh", script)
        let upgraded = try fixture.launch(settings, program: copy.path)
        try await upgraded.waitUntil("READY=1") { $0.notifications.last("READY") == "1" }
        let second = try await finish("two", upgraded)
        #expect(stored(second) == [] && sums(second) == sums(first))
        #expect(try await upgraded.stop() == .exited(0))
        #expect(files.count == 6)
    }

    /// A library is replaced by one that says the same version, as by a security update.
    ///
    /// - Parameter made: what is made anew with another of these.
    @Test(
        .enabled(if: SmallDisk.isAvailable, "only root can mount a file over another one"),
        arguments: [
            ("libdeflate.so", confine: "others", made: ["png", "webp"]),
            ("libpng16.so", "others", ["png", "webp"]), ("libjpeg.so", "others", ["png", "webp"]),
            ("libwebp.so", "others", ["webp"]), ("libpng16.so", "all", ["png", "webp"]),
        ])
    func anotherLibraryMakesWhatItDecides(
        library: String, confine: String, made: [String]
    ) async throws {
        let settings = settings.merging(["pictures.confine": confine]) { $1 }
        func finish(
            _ id: String, _ program: String? = nil
        ) async throws -> (made: [String], sums: [String?]) {
            let daemon = try fixture.launch(settings, program: program)
            try await daemon.waitUntil("READY=1") { $0.notifications.last("READY") == "1" }
            try fixture.drop(
                id,
                [
                    "filters": ["sepia"],
                    "images": [
                        ["name": "png", "source": "small.png"],
                        ["name": "webp", "source": "small.png", "output": ["format": "webp"]],
                    ],
                ])
            let status = try await fixture.complete(id, daemon)
            #expect(try await daemon.stop() == .exited(0))
            return (status.images.filter { $0.made != .stored }.map(\.name), sums(status))
        }
        let first = try await finish("one")
        #expect(first.made == ["png", "webp"])
        #expect(try await finish("two").made == [])
        let replaced = try daemon(with: library)
        let other = try await finish("three", replaced)
        #expect(other.made == made && other.sums == first.sums)
        #expect(try await finish("four", replaced).made == [])
    }

    /// Writes a program that starts the daemon where an installed library has another build ID.
    private func daemon(with library: String) throws -> String {
        let known = try SystemProgram.run("/sbin/ldconfig", ["-p"]).output
        // `	libz.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libz.so.1`
        let line = try #require(
            String(decoding: known, as: UTF8.self).split(separator: "\n").first {
                $0.hasPrefix("\t\(library).") && $0.contains("(libc6,")
            })
        let path = try #require(line.split(separator: " ").last)
        var bytes = try Data(contentsOf: URL(filePath: String(path)))
        // A note of 20 bytes, of type 3 (NT_GNU_BUILD_ID), by GNU.
        let note = Data([4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0]) + Data("GNU\0".utf8)
        bytes[try #require(bytes.range(of: note)).upperBound] ^= 1
        try bytes.write(to: folder.url.appending(path: "library"))
        let script = """
            #!/bin/sh
            exec unshare --mount /bin/sh -c 'mount --bind "$0" "$1" && shift && exec "$@"' \
                \(folder.path)/library \(path) \(try DaemonProcess.program()) "$@"

            """
        let program = folder.url.appending(path: "daemon")
        try Data(script.utf8).write(to: program)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: program.path)
        return program.path
    }

    @Test func damageIsMadeAnew() async throws {
        let daemon = try await run()
        let first = try await finish("one", daemon)
        for (index, file) in files.enumerated() {
            let handle = try FileHandle(forUpdating: file)
            if index == 0 {
                try handle.truncate(atOffset: handle.seekToEnd() - 1)
            } else {
                try handle.seek(toOffset: 4096 + 100)
                try handle.write(contentsOf: Data([0, 0, 0, 0, 0, 0, 0, 0]))
            }
            try handle.close()
        }
        let second = try await finish("two", daemon)
        #expect(stored(second) == [] && sums(second) == sums(first))
        try await daemon.says("was discarded: ")
        #expect(stored(try await finish("three", daemon)) == Self.all)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// Whatever a death leaves, the batch ends with the bytes that it has without a store.
    @Test(arguments: [
        ("cache-head-written", 1), ("cache-written", 2), ("cache-moved", 1), ("result-copied", 2),
    ])
    func deathHarmsNothing(point: String, number: Int) async throws {
        let whole = try await run(["results.maxBytes": "0"])
        let expected = sums(try await finish("whole", whole))
        #expect(try await whole.stop() == .exited(0))
        #expect(files == [])
        if point == "result-copied" {
            let filling = try await run()
            _ = try await finish("filling", filling)
            #expect(try await filling.stop() == .exited(0))
        }
        let dying = try await run(environment: ["DARKROOM_FAULT": "\(point):\(number)"])
        try drop("one")
        #expect(try await dying.waitForEnding() == .killed(signal: SIGKILL))
        let daemon = try await run()
        #expect(sums(try await fixture.complete("one", daemon)) == expected)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path + "/r/new") == [])
        let last = try await finish("two", daemon)
        #expect(stored(last) == Self.all && sums(last) == expected)
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func folderThatIsNamedMustBeUsable() async throws {
        let (ending, output) = try await fixture.end([
            "results.folder": "/proc/none", "results.maxBytes": "1MiB",
        ])
        #expect(ending == .exited(78))
        #expect(output.contains("results.folder: /proc/none"))
    }

    /// By default it is beside the download cache.
    @Test func isInTheFolderOfTheCache() async throws {
        try folder.makeFolder("c")
        let daemon = try await fixture.run(
            ["results.maxBytes": "1MiB"], environment: ["CACHE_DIRECTORY": folder.path + "/c"])
        try await daemon.says("Results are kept in \(folder.path)/c/results, up to ")
        try await fixture.complete("one", images: [("a", fixture.url("0.png"))], daemon)
        #expect(try await daemon.stop() == .exited(0))
        // Without that folder, there is no store.
        let missing = try await fixture.run(
            ["results.maxBytes": "1MiB"], environment: ["CACHE_DIRECTORY": folder.path + "/none"])
        try await missing.says("is not used as a store of results: ")
        try fixture.drop("two", images: [("a", fixture.url("0.png"))])
        #expect(stored(try await fixture.complete("two", missing)) == [])
        #expect(try await missing.stop() == .exited(0))
    }
}
