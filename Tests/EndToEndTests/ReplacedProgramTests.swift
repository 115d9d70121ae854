import DarkroomAnswer
import Foundation
import TestPictures
import TestSupport
import Testing

/// A codec program that is replaced while the daemon runs.
@Suite(.fewAtATime) struct ReplacedProgramTests {
    private let fixture: DaemonFixture
    private let folder: ScratchDirectory

    init() throws {
        fixture = try DaemonFixture(pictures: 0)
        folder = try ScratchDirectory()
    }

    /// Writes a folder with the daemon and links to its codec programs.
    ///
    /// - Returns: the daemon.
    private func install() throws -> URL {
        let built = URL(filePath: try DaemonProcess.program())
        let daemon = folder.url.appending(path: "darkroomd")
        try FileManager.default.copyItem(at: built, to: daemon)
        for name in ["basic", "gif", "icc"] { try link(name, to: name) }
        return daemon
    }

    /// Makes another program, or the usual one, that of a codec.
    private func link(_ name: String, to other: String) throws {
        let programs = URL(filePath: try DaemonProcess.program()).deletingLastPathComponent()
        let link = folder.url.appending(path: "darkroom-codec-\(name)")
        try? FileManager.default.removeItem(at: link)
        try FileManager.default.createSymbolicLink(
            at: link, withDestinationURL: programs.appending(path: "darkroom-codec-\(other)"))
    }

    /// Ends the codec program of a daemon, as it does by itself when it has had nothing to do for a minute. Until the kernel
    /// has ended it, the daemon cannot know that.
    private func end(_ name: String, of daemon: DaemonProcess) async throws {
        let threads = "/proc/\(daemon.identifier)/task"
        let lists = try FileManager.default.contentsOfDirectory(atPath: threads).compactMap {
            try? String(contentsOfFile: "\(threads)/\($0)/children", encoding: .utf8)
        }
        let children = lists.flatMap { $0.split(separator: " ").compactMap { pid_t($0) } }
        let ours = children.filter {
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\($0)/exe")
            return path?.hasSuffix("/darkroom-codec-\(name)") == true
        }
        try #require(ours.count == 1, "\(children)")
        kill(ours[0], SIGKILL)
        try await eventually("the end of darkroom-codec-\(name)") {
            kill(ours[0], 0) == 0 ? nil : true
        }
    }

    /// With a table in memory, no picture would show that the new program cannot read a profile.
    @Test func tablesOfTheFormerOneAreNotUsed() async throws {
        let profile = ICCProfileMaker.chunk(name: "x", profile: ICCProfileMaker.strangeRGB)
        for (name, chunks) in [("plain", []), ("rgb", [profile])] {
            var maker = PNGMaker(
                width: 8, height: 8, colourType: .rgb, depth: 8,
                samples: (0..<192).map { UInt16($0) })
            maker.early = chunks
            try folder.write(maker.encoded, to: "pictures/\(name).png")
        }
        var maker = JPEGMaker(
            width: 8, height: 8, channels: 4, samples: (0..<256).map { UInt8($0) })
        maker.early = JPEGSegment.profile(ICCProfileMaker.strangeInks)
        try folder.write(maker.encoded, to: "pictures/inks.jpg")

        let daemon = try fixture.launch(
            [
                "results.folder": folder.path + "/r", "results.maxBytes": "64MiB",
                "sources.roots": "[\(folder.path)/pictures]",
            ], program: try install().path)
        try await daemon.waitUntil("READY=1") { $0.notifications.last("READY") == "1" }
        func finish(_ id: String) async throws -> (made: [String], warnings: [String]) {
            try fixture.spool.drop(
                "\(id).json",
                """
                {"images": [
                    {"name": "rgb", "source": "rgb.png", "output": {"profile": "srgb"}},
                    {"name": "inks", "source": "inks.jpg"},
                    {"name": "mark", "source": "rgb.png"},
                    {"name": "over", "source": "plain.png", "filters": [{"overlay": {"from": "mark"}}]}
                ]}
                """)
            let images = try await fixture.spool.finish(id, daemon).images
            return (
                images.filter { $0.made != .stored }.map(\.name),
                images.flatMap { image in (image.warnings ?? []).map { "\(image.name): \($0)" } }
            )
        }

        let first = try await finish("one")
        #expect(first.made == ["rgb", "inks", "mark", "over"] && first.warnings == [])
        #expect(try await finish("two").made == [])
        try link("icc", to: "gif")
        try await end("icc", of: daemon)
        let third = try await finish("three")
        #expect(third.made == ["rgb", "inks", "over"])
        #expect(
            third.warnings == [
                "rgb: the colour profile cannot be used: its values are taken as sRGB",
                "inks: the colour profile cannot be used: the inks are taken as those of offset printing",
                "over: mark.png: the colour profile cannot be used: its values are taken as sRGB",
            ])
        let fourth = try await finish("four")
        #expect(fourth.made == [] && fourth.warnings == third.warnings)
        #expect(try await daemon.stop() == .exited(0))
    }
}
