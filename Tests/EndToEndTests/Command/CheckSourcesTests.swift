import Foundation
import TestPictures
import TestSupport
import Testing

/// `darkroom check --sources` beside the real daemon.
@Suite(.fewAtATime) struct CheckSourcesTests {
    /// What a line of `--json` says of an image.
    private struct Image: Decodable {
        struct Size: Decodable {
            var width: Int
            var height: Int
            var exact: Bool?
        }

        struct Error: Decodable {
            var code: String
            var message: String
            var retryable: Bool
        }

        var name: String
        var verdict: String
        var picture: Size?
        var result: Size?
        var memory: Int?
        var error: Error?
        var reason: String?
    }

    private static func images(_ output: String) throws -> [String: Image] {
        let lines = output.split(separator: "\n").filter { $0.contains(#""type":"image""#) }
        let images = try lines.map { try JSONDecoder().decode(Image.self, from: Data($0.utf8)) }
        return Dictionary(uniqueKeysWithValues: images.map { ($0.name, $0) })
    }

    /// Everything that check says of an image, the daemon says too, with the same words; and what check calls ready
    /// succeeds. A failed download is not repeated, so that the daemon's words have no number of attempts.
    @Test func saysWhatTheDaemonSays() async throws {
        let fixture = try DaemonFixture(pictures: 2)
        let bad = try MisbehavingOrigin()
        let dead = try unusedPort()
        let files: [(String, [UInt8])] = [
            (
                "large.png",
                PNGMaker.noise(width: 200, height: 200, colourType: .rgba, depth: 8).encoded
            ),
            ("grown.png", PNGMaker.black(width: 9000, height: 10, colourType: .rgb, depth: 8)),
            ("photo.jpg", JPEGMaker.gradient(width: 640, height: 480, channels: 3).encoded),
            ("cmyk.jpg", JPEGMaker.gradient(width: 64, height: 48, channels: 4).encoded),
            ("logo.png", Starfield.png(width: 20, height: 20, seed: 2)),
            ("cut.png", Array(DaemonFixture.picture.prefix(20))),
            ("two.jpg", JPEGMaker.gradient(width: 64, height: 48, channels: 2).encoded),
            ("empty.png", []),
            ("pdf.png", Array("%PDF-1.7\n".utf8) + [UInt8](repeating: 0, count: 40)),
            ("a.webp", CodecSamples.webp), ("b.tiff", CodecSamples.tiff),
            ("c.avif", CodecSamples.avif),
        ]
        for (name, bytes) in files {
            try Data(bytes).write(to: fixture.documents.url.appending(path: name))
        }
        let daemon = try await fixture.run(
            fixture.readsDocuments.merging([
                "downloads.denyHosts": "[bad.example.org]", "downloads.retries": "0",
                "pictures.maxPixels": "80000", "limits.memory": "40MiB",
                "downloads.connectTimeout": "60s",
            ]) { $1 })
        var sources: [String: String] = [
            "local": "0.png", "remote": fixture.url("1.png"), "large": fixture.url("large.png"),
            "photo": fixture.url("photo.jpg"), "missing": "none.png", "outside": "/etc/passwd",
            "page": fixture.url("page.png"), "absent": fixture.url("none.png"),
            "gone": fixture.url("status/410"), "unavailable": fixture.url("status/503"),
            "dead": "http://127.0.0.1:\(dead)/a.png", "private": "http://10.0.0.1/a.png",
            "denied": "http://bad.example.org/a.png", "ftp": fixture.url("to-ftp"),
            "loop": fixture.url("loop"), "moved": fixture.url("moved/0.png"),
            "forgotten": "ftp://example.org/a.png", "folder": ".",
            "chunked": fixture.url("chunked/large.png"), "wide": "grown.png",
        ]
        for name in [
            "cmyk.jpg", "two.jpg", "cut.png", "empty.png", "pdf.png", "a.webp", "b.tiff", "c.avif",
        ] {
            sources["local \(name)"] = name
            sources["remote \(name)"] = fixture.url(name)
        }
        for behaviour in [MisbehavingOrigin.Behaviour.nothing, .garbage, .huge, .toFTP, .truncated]
        {
            sources["bad \(behaviour)"] = bad.url(behaviour)
        }
        var images: [[String: Any]] = sources.sorted { $0.key < $1.key }.map {
            ["name": $0.key, "source": $0.value, "filters": []]
        }
        func add(_ name: String, _ filters: [Any], from: String? = nil, _ output: Any = [:]) {
            let origin = from.map { ("from", $0) } ?? ("source", "0.png")
            images.append([
                "name": name, origin.0: origin.1, "filters": filters, "output": output,
            ])
        }
        add("crop", [["crop": ["width": 81, "height": 1, "x": 0, "y": 0]]])
        add("small", [["resize": ["width": 40]]], ["format": "jpeg"])
        add("inside", [["crop": ["width": 40, "height": 10, "x": 0, "y": 0]]], from: "small")
        add("beside", [["crop": ["width": 41, "height": 10, "x": 0, "y": 0]]], from: "small")
        add("orphan", [], from: "missing")
        add("mark", [["watermark": ["from": "local"]]])
        add("unmarked", [["watermark": ["from": "crop"]]])
        add("enlarged", [["resize": ["width": 1000, "height": 1000, "fit": "fill"]]])
        add("trimmed", ["trim"])
        let manifest = try DaemonFixture.json(["images": images])
        // Its relative sources are not beside it, so they mean the daemon's roots.
        let elsewhere = try ScratchDirectory()
        try elsewhere.write(manifest, "all.json")

        let result = try await fixture.client(
            "check", "--sources", "--json", "\(elsewhere.path)/all.json")
        #expect(result.errors == "")
        #expect(result.exit == 65)
        let foreseen = try Self.images(result.output)
        #expect(foreseen.count == images.count)

        try fixture.spool.drop("all.json", manifest)
        let status = try await fixture.spool.finish("all", daemon)
        var compared = 0
        for image in status.images {
            let said = try #require(foreseen[image.name])
            #expect(said.error?.code == image.error?.code, "\(image.name) \(said)")
            // The port and the time in libcurl's words differ each time.
            if image.error?.code != "connect-failed" {
                #expect(said.error?.message == image.error?.message, "\(image.name)")
            }
            #expect(said.error?.retryable == image.error?.isTransient, "\(image.name)")
            #expect((said.verdict == "ready") == (image.state == .filtered), "\(image.name)")
            if let output = image.output, let result = said.result, result.exact == true {
                compared += 1
                #expect(result.width == output.width && result.height == output.height)
            }
        }
        // Except those that are not known exactly.
        #expect(
            compared >= 8 && compared + 3 >= status.counts.filtered,
            "\(compared) of \(status.counts.filtered)")
        let codes = Set(status.images.compactMap(\.error?.code))
        #expect(
            codes.isSuperset(of: [
                "source-missing", "source-forbidden", "html-page", "http-status", "connect-failed",
                "address-forbidden", "host-forbidden", "unsupported-scheme", "too-many-redirects",
                "jpeg-unsupported", "png-truncated", "unsupported-format", "not-a-picture",
                "filter-outside",
                "dependency-failed", "too-many-pixels", "bad-response",
            ]), "\(codes)")
    }

    @Test func printsLines() async throws {
        let fixture = try DaemonFixture(pictures: 2)
        let daemon = try await fixture.run(fixture.readsDocuments)
        try fixture.write("images: [0.png, \(fixture.url("1.png"))]", to: "good.yaml")
        try fixture.write("images: [0.png, none.png]", to: "bad.yaml")
        let dead = "http://127.0.0.1:\(try unusedPort())/a.png"
        try fixture.write("images: [\(dead)]", to: "dead.yaml")
        func check(_ words: String) async throws -> ClientProcess.Result {
            var result = try await fixture.begin(
                ["check", "--sources"] + words.split(separator: " ").map(String.init)
            ).result()
            result.output = result.output.replacing(#/[0-9.]+ [MG]iB/#, with: "N")
            result.errors = result.errors.replacing(fixture.documents.path, with: ".")
            return result
        }
        let line = "80×64  8-bit RGB PNG"
        try await check("good.yaml").expect(
            exit: 0,
            output: """
                0  \(line)  → 80×64 PNG  memory N
                1  \(line)  → 80×64 PNG  memory N
                good.yaml: 2 images, up to N of memory (limit N)

                """)
        try await check("bad.yaml").expect(
            exit: 65,
            output: """
                0  \(line)  → 80×64 PNG  memory N
                bad.yaml: 2 images, up to N of memory (limit N), 1 would fail

                """,
            errors:
                "bad.yaml: none: none.png: no such file in sources.roots (.) [source-missing]\n")
        let transient = try await check("dead.yaml")
        #expect(
            transient.exit == 75 && transient.errors.hasSuffix("[connect-failed] (this may pass)\n")
        )
        #expect(transient.output == "dead.yaml: 1 image, 1 would fail now\n")
        // A failure for good is worse than one that may pass.
        #expect(try await check("dead.yaml bad.yaml").exit == 65)
        try await check("0.png --filter resize=40 --format jpeg").expect(
            exit: 0,
            output: """
                0  \(line)  → 40×32 JPEG  memory N
                the manifest: 1 image, up to N of memory (limit N)

                """)
        #expect(try await check("0.png --filter crop:width=100,height=10,x=0,y=0").exit == 65)
        try await check("good.yaml --format png").expect(
            exit: 64,
            errors:
                "darkroom: --format is for pictures; good.yaml is a manifest and says itself what to do\n"
        )
        _ = try await daemon.stop()
    }

    /// A folder that the inbox would not take is one of pictures, as for `submit`.
    @Test func aFolderOfPictures() async throws {
        let fixture = try DaemonFixture(pictures: 2)
        let folder = fixture.documents.path
        try fixture.write("", to: "IMG_1.MOV")
        for options in [[], ["--filter", "mono"]] {
            let result = try await fixture.begin(
                ["check", "--sources", "--json", folder] + options
            )
            .result()
            #expect(result.exit == 0, "\(result)")
            #expect(try Self.images(result.output).keys.sorted() == ["0", "1"])
            #expect(result.errors.contains("of \(folder) is not a picture: .MOV\n"))
        }
        try fixture.write("images: [0.png]", to: "manifest.yaml")
        let result = try await fixture.client("check", "--sources", folder, "--filter", "mono")
        #expect(result.exit == 64)
        #expect(result.errors.contains("is a manifest and says itself what to do"))
    }

    @Test func assumesTheUsualSettings() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let path = fixture.documents.path
        try fixture.write("images: [\(path)/0.png, \(fixture.url("0.png"))]", to: "m.yaml")
        let result = try await fixture.client("check", "--sources", "m.yaml")
        #expect(result.exit == 65)
        #expect(
            result.errors == """
                darkroom: No darkroomd has reported its settings; the usual ones are assumed.
                m.yaml: 0-2: \(fixture.url("0.png")): the address 127.0.0.1 is not global unicast (loopback); downloads.allowNetworks with 127.0.0.1/32 can allow it [address-forbidden]

                """)
        #expect(try fixture.origin.requests().isEmpty)
    }
}
