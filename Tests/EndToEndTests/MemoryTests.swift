import Foundation
import TestPictures
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

    private func drop(_ fixture: DaemonFixture, _ id: String, count: Int) throws {
        try fixture.documents.write(Self.large, to: "large.png")
        try fixture.drop(
            id,
            [
                "images": (0..<count).map {
                    ["name": "\($0)", "source": fixture.url("large.png")] as [String: Any]
                }, "filters": ["flip"],
            ])
    }

    @Test func largePicturesWaitForEachOther() async throws {
        let fixture = try DaemonFixture()
        let limit = 192 << 20
        let daemon = try await fixture.run([
            "limits.memory": "\(limit)", "filters.concurrency": "4",
        ])
        let idle = try peak(daemon)
        try drop(fixture, "large", count: 6)
        let small = (0..<12).map { ("\($0)", fixture.url("\($0).png")) }
        try fixture.drop("small", images: small)
        try await fixture.complete("small", daemon)
        let status = try await fixture.spool.finish("large", daemon)
        try fixture.checkCompleted(status)
        #expect(Set(status.images.compactMap(\.output?.sha256)).count == 1)
        #expect(try peak(daemon) < limit + idle)
    }

    /// Its rows pass through: 300 MB of them in 24 MiB.
    @Test func aHundredMegapixelsTakeLittle() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(["filters.concurrency": "2"])
        // A first batch has every part of the daemon in use.
        try await fixture.complete("first", images: [("0", fixture.url("0.png"))], daemon)
        let idle = try peak(daemon)
        let picture = PNGMaker.black(width: 10_000, height: 10_000, colourType: .rgb, depth: 8)
        try fixture.documents.write(picture, to: "large.png")
        let image: [String: Any] = ["name": "large", "source": fixture.url("large.png")]
        try fixture.drop("large", ["images": [image], "filters": ["sepia"]])
        let status = try await fixture.spool.finish("large", daemon)
        try fixture.checkCompleted(status)
        #expect(try peak(daemon) - idle <= 24 << 20)
    }

    @Test func theLimitChangesWithAReload() async throws {
        let fixture = try DaemonFixture()
        let file = fixture.documents.url.appending(path: "darkroomd.yaml")
        try Data("limits: {memory: 64MiB}".utf8).write(to: file)
        let daemon = try await fixture.run(arguments: ["--config", file.path])
        try drop(fixture, "before", count: 1)
        let before = try await fixture.spool.finish("before", daemon)
        #expect(try before.image("0").error?.code == "memory-limit")
        try Data("limits: {memory: 192MiB}".utf8).write(to: file)
        daemon.send(SIGHUP)
        try await daemon.waitUntil("the reload") {
            $0.outputText.contains("Configuration reloaded") && $0.outputText.contains("192 MiB")
        }
        try drop(fixture, "after", count: 1)
        try await fixture.complete("after", daemon)
    }
}
