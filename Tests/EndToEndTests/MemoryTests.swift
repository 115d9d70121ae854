import DarkroomFetch
import DarkroomManifest
import DarkroomSelfTest
import Foundation
import TestSupport
import Testing

/// The memory that pictures take together, and what becomes of those that need more.
@Suite(.fewAtATime) struct MemoryTests {
    /// Small as a file; 36 million pixels, 108 MB when it is held whole.
    private static let large = PNGMaker.black(width: 6000, height: 6000, colourType: .rgb, depth: 8)

    /// The most memory the process has had, in bytes.
    private func peak(_ daemon: DaemonProcess) throws -> Int {
        let status = try String(
            contentsOfFile: "/proc/\(daemon.identifier)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        let words = line.split(separator: " ", omittingEmptySubsequences: true)
        return try #require(Int(words[1])) << 10
    }

    private func drop(_ bench: Bench, _ id: String, count: Int) throws {
        try Data(Self.large).write(to: bench.documents.url.appending(path: "large.png"))
        try bench.drop(
            id,
            [
                "images": (0..<count).map {
                    ["name": "\($0)", "source": bench.url("large.png")] as [String: Any]
                }, "filters": ["flip"],
            ])
    }

    @Test func largePicturesWaitForEachOther() async throws {
        let bench = try Bench()
        let limit = 192 << 20
        let daemon = try await bench.run([
            "limits.memory": "\(limit)", "filters.concurrency": "4",
        ])
        let idle = try peak(daemon)
        try drop(bench, "large", count: 6)
        let small = (0..<12).map { ("\($0)", bench.url("\($0).png")) }
        try bench.drop("small", images: small)
        try bench.checkCompleted(
            try await bench.spool.finish("small", daemon, within: .seconds(180)))
        let status = try await bench.spool.finish("large", daemon, within: .seconds(180))
        try bench.checkCompleted(status)
        #expect(Set(status.images.compactMap(\.output?.sha256)).count == 1)
        #expect(try peak(daemon) < limit + idle)
    }

    /// Its rows pass through: 300 MB of them in 24 MiB.
    @Test func aHundredMegapixelsTakeLittle() async throws {
        let bench = try Bench()
        let daemon = try await bench.run(["filters.concurrency": "2"])
        // A first batch has every part of the daemon in use.
        try bench.drop("first", images: [("0", bench.url("0.png"))])
        try bench.checkCompleted(try await bench.spool.finish("first", daemon))
        let idle = try peak(daemon)
        let picture = PNGMaker.black(width: 10_000, height: 10_000, colourType: .rgb, depth: 8)
        try Data(picture).write(to: bench.documents.url.appending(path: "large.png"))
        let image: [String: Any] = ["name": "large", "source": bench.url("large.png")]
        try bench.drop("large", ["images": [image], "filters": ["sepia"]])
        let status = try await bench.spool.finish("large", daemon, within: .seconds(180))
        try bench.checkCompleted(status)
        #expect(try peak(daemon) - idle <= 24 << 20)
    }

    @Test func onePictureOfMoreThanThereIsFails() async throws {
        let bench = try Bench()
        let daemon = try await bench.run(["limits.memory": "64MiB"])
        try drop(bench, "large", count: 1)
        let status = try await bench.spool.finish("large", daemon)
        let error = try #require(try status.image("0").error)
        #expect(error.code == "memory-limit" && !error.isTransient)
        #expect(error.message.hasPrefix("\(bench.url("large.png")): filtering it takes up to"))
        #expect(error.message.contains("more than the 56 MiB that limits.memory allows one"))
        // A batch of small ones is not concerned.
        try bench.drop("small", images: [("0", bench.url("0.png"))])
        try bench.checkCompleted(try await bench.spool.finish("small", daemon))
    }

    /// What is left of a small picture is small.
    @Test func aSmallPictureIsTrimmedAndScaledInLittle() async throws {
        let bench = try Bench(pictures: 0)
        let picture = PNGMaker.noise(width: 10, height: 10, colourType: .rgb, depth: 8)
        try Data(picture.encoded).write(to: bench.documents.url.appending(path: "small.png"))
        let daemon = try await bench.run(["limits.memory": "64MiB"])
        let scalings: [[String: Any]] = [
            ["thumbnail": ["size": 200]], ["resize": ["width": 800]],
            ["resize": ["width": 200, "height": 200, "fit": "outside"]],
        ]
        try bench.drop(
            "trimmed",
            [
                "images": scalings.indices.map {
                    [
                        "name": "\($0)", "source": bench.url("small.png"),
                        "filters": ["trim", scalings[$0]] as [Any],
                    ] as [String: Any]
                }
            ])
        try bench.checkCompleted(try await bench.spool.finish("trimmed", daemon))
    }

    /// A larger limit holds from the reload on.
    @Test func theLimitChangesWithAReload() async throws {
        let bench = try Bench()
        let file = bench.documents.url.appending(path: "darkroomd.yaml")
        try Data("limits: {memory: 64MiB}".utf8).write(to: file)
        let daemon = try await bench.run(arguments: ["--config", file.path])
        try drop(bench, "before", count: 1)
        let before = try await bench.spool.finish("before", daemon)
        #expect(try before.image("0").error?.code == "memory-limit")
        try Data("limits: {memory: 192MiB}".utf8).write(to: file)
        daemon.send(SIGHUP)
        try await daemon.waitUntil("the reload") {
            $0.outputText.contains("Configuration reloaded") && $0.outputText.contains("192 MiB")
        }
        try drop(bench, "after", count: 1)
        try bench.checkCompleted(
            try await bench.spool.finish("after", daemon, within: .seconds(180)))
    }
}
