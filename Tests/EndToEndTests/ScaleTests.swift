import Foundation
import TestSupport
import Testing

/// Memory and open files stay bounded, however much is dropped.
@Suite(.fewAtATime) struct ScaleTests {
    /// A figure of /proc/PID/status, in bytes.
    private func memory(of daemon: DaemonProcess, _ key: String) throws -> Int {
        let status = try String(
            contentsOfFile: "/proc/\(daemon.identifier)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("\(key):") })
        return try #require(line.split(separator: " ").compactMap { Int($0) }.first) << 10
    }

    /// Local pictures that are not there: everything but the filters is as with those that are.
    private func missing(_ count: Int) -> [(name: String, source: String)] {
        (0..<count).map { ("image-\($0)", "picture-\($0).png") }
    }

    /// A kill in the middle and the start after it take no more than the work itself.
    @Test func aLargeManifestTakesLittleMemoryForEachImage() async throws {
        let count = 10_000
        let fixture = try DaemonFixture(pictures: 1)
        let settings = ["sources.roots": fixture.documents.path, "durability": "process"]
        var daemon = try await fixture.run(settings)
        let idle = try memory(of: daemon, "VmHWM")
        try fixture.drop("large", images: missing(count))
        let journal = fixture.spool.root.appending(path: "active/large/journal").path
        try await eventually(
            "a part to be done", context: { daemon.describe() }
        ) {
            let size = try? FileManager.default.attributesOfItem(atPath: journal)[.size] as? Int
            if size ?? 0 > count * 50 { return true }
            // It may be quicker than the test.
            return try fixture.spool.status(of: "large")?.state.isFinal == true ? true : nil
        }
        let first = try memory(of: daemon, "VmHWM")
        try await daemon.killAtOnce()
        daemon = try await fixture.run(settings)
        let status = try await fixture.spool.finish("large", daemon)
        #expect(status.counts.failed == count)
        for peak in [first, try memory(of: daemon, "VmHWM")] { #expect(peak - idle < count * 3072) }
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func manyManifestsTakeLittleMemoryAndFewFiles() async throws {
        let count = 2000
        let fixture = try DaemonFixture(pictures: 1)
        try fixture.spool.makeFolders()
        for index in 0..<count {
            try fixture.drop("m\(index)", images: [("only", "picture-\(index).png")])
        }
        let daemon = try await fixture.run([
            "sources.roots": fixture.documents.path, "durability": "process",
        ])
        let idle = try memory(of: daemon, "VmHWM")
        var files = 0
        try await eventually("all to be answered") {
            let open = try FileManager.default.contentsOfDirectory(
                atPath: "/proc/\(daemon.identifier)/fd")
            files = max(files, open.count)
            let rest = fixture.spool.list("inbox") + fixture.spool.list("active")
            return rest.isEmpty ? true : nil
        }
        #expect(files < 200)
        #expect(try memory(of: daemon, "VmHWM") - idle < 32 << 20)
        #expect(fixture.spool.list("outbox").count == count)
        for index in 0..<count {
            #expect(try fixture.spool.status(of: "m\(index)")?.counts.failed == 1)
        }
        #expect(try await daemon.stop() == .exited(0))
    }
}
