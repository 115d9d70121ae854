import Foundation
import TestPictures
import TestSupport
import Testing

/// Pictures of every format that is read, from the source to the result, in the real codec processes.
@Suite(.fewAtATime) struct PictureFormatTests {
    /// Files of the same picture; the difference is what a lossy one may have.
    struct Sample: Sendable {
        let name: String
        let bytes: [UInt8]
        var difference = 0
    }

    static let samples = [
        Sample(name: "a.webp", bytes: CodecSamples.webp),
        Sample(name: "b.avif", bytes: CodecSamples.avif, difference: 3),
        Sample(name: "c.tiff", bytes: CodecSamples.tiff),
        Sample(name: "d.gif", bytes: CodecSamples.gif),
        Sample(name: "e.bmp", bytes: CodecSamples.bmp),
        Sample(name: "f.jxl", bytes: CodecSamples.jxl),
    ]

    /// The picture of all samples: red, green and blue.
    static let pixels: [UInt8] = {
        var pixels: [UInt8] = []
        for y in 0..<6 {
            for x in 0..<8 { pixels += [UInt8(x * 30), UInt8(y * 40), UInt8((x + y) * 15)] }
        }
        return pixels
    }()

    private static func check(_ png: [UInt8], _ sample: Sample) throws {
        let picture = try PNGDecoder.decode(png)
        let differences: [Int] = zip(picture.samples, pixels).map { abs(Int($0) - Int($1)) }
        #expect(picture.samples.count == pixels.count, "\(sample.name)")
        #expect(differences.max() ?? 0 <= sample.difference, "\(sample.name)")
    }

    @Test(arguments: samples.indices) func filterReadsIt(index: Int) async throws {
        let sample = Self.samples[index]
        let fixture = try RunFixture()
        try fixture.write(sample.bytes, to: sample.name)
        try await fixture.darkroom("filter", sample.name, "-o", "r.png").expect(exit: 0)
        try Self.check(fixture.bytes("r.png"), sample)
        // From a pipe, too.
        let program = try ClientProcess.program()
        try await fixture.end(
            "--version", before: "cat \(sample.name) | '\(program)' filter >p.png; exit $?"
        ).expect(exit: 0)
        #expect(try fixture.bytes("p.png") == fixture.bytes("r.png"))
    }

    /// Local and downloaded ones, beside damaged ones and what is refused: each has its own end.
    @Test func theDaemonReadsThemAll() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        for sample in Self.samples {
            try fixture.documents.write(sample.bytes, to: sample.name)
        }
        let others: [(name: String, bytes: [UInt8], code: String)] = [
            ("cut.webp", Array(CodecSamples.webp.dropLast(20)), "picture-truncated"),
            ("page.pdf", Array("%PDF-1.7\n".utf8), "unsupported-format"),
            ("IMG_1.MOV", [0, 0, 0, 20] + Array("ftypqt  ".utf8), "not-a-picture"),
        ]
        for other in others {
            try fixture.documents.write(other.bytes, to: other.name)
        }
        let daemon = try await fixture.run(fixture.readsDocuments)
        var images: [[String: String]] = [["name": "png", "source": "0.png"]]
        for name in Self.samples.map(\.name) + others.map(\.name) {
            images.append(["name": "local \(name)", "source": name])
            images.append(["name": "remote \(name)", "source": fixture.url(name)])
        }
        try fixture.drop("all", ["filters": [], "images": images])
        let status = try await fixture.spool.finish("all", daemon)
        try fixture.checkOutcome(status)
        #expect(try status.image("png").state == .filtered)
        for sample in Self.samples {
            for place in ["local", "remote"] {
                let image = try status.image("\(place) \(sample.name)")
                let output = try #require(image.output, "\(image)")
                try Self.check(fixture.spool.bytes("outbox/all/\(output.file)"), sample)
            }
        }
        for other in others {
            for place in ["local", "remote"] {
                let error = try #require(try status.image("\(place) \(other.name)").error)
                #expect(error.code == other.code && !error.isTransient, "\(error)")
            }
        }
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A program that is not installed, and one that misbehaves, end only their pictures.
    @Test func othersGoOnBesideBadPrograms() async throws {
        let fixture = try RunFixture()
        let program = URL(filePath: try ClientProcess.program())
        let built = program.deletingLastPathComponent()
        let folder = fixture.url("bin")
        try FileManager.default.makeFolder(at: folder)
        let copies = [
            ("darkroom", "darkroom"), ("darkroom-codec-tiff", "darkroom-codec-tiff"),
            ("darkroom-codec-gif", "darkroom-codec-gif"),
            ("darkroom-codec-bad", "darkroom-codec-webp"),
        ]
        for (from, to) in copies {
            try FileManager.default.copyItem(
                at: built.appending(path: from), to: folder.appending(path: to))
        }
        for sample in Self.samples {
            try fixture.write(sample.bytes, to: sample.name)
        }
        let words = "run small.png a.webp b.avif c.tiff d.gif f.jxl -o out --quiet"
        try await fixture.end("--version", before: "'\(folder.path)/darkroom' \(words); exit $?")
            .shows(exit: 3)
        let status = try #require(try fixture.status())
        for name in ["small", "c", "d"] {
            #expect(try status.image(name).state == .filtered, "\(name)")
        }
        let codes = [("a", "codec-crashed"), ("b", "codec-missing"), ("f.jxl", "codec-missing")]
        for (name, code) in codes { #expect(try status.image(name).error?.code == code, "\(name)") }
        let message = try status.image("b").error?.message ?? ""
        #expect(message.contains("install the package darkroom-heif"), "\(message)")
        #expect(message.contains("b.avif: "), "\(message)")

        let list = try await fixture.end(
            "--version", before: "'\(folder.path)/darkroom' formats; exit $?")
        #expect(list.exit == 0 && list.errors == "", "\(list)")
        let lines = list.output.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("JPEG XL") && $0.contains("darkroom-jxl") })
        #expect(lines.contains { $0.hasPrefix("GIF") && $0.contains("yes") }, "\(list)")
    }
}
