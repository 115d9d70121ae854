import Foundation
import TestSupport
import Testing

/// `darkroomd --self-test`, as an administrator runs it. Tests/run.sh faults lets it kill more.
@Suite(.fewAtATime) struct SelfTestTests {
    @Test func passesBesideARunningDaemon() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 2)
        try await fixture.finish("before", images: [("a", fixture.url("0.png"))], daemon)
        let folders = names(fixture)

        let test = try DaemonProcess(arguments: ["--self-test", fixture.spool.path, "--kills", "1"])
        try await test.waitUntil("its folder") { _ in fixture.spool.list("").contains(where: isOurs)
        }
        try await fixture.complete("meanwhile", images: [("a", fixture.url("1.png"))], daemon)
        let ending = try await eventually("the end of the self-test") {
            test.currentEnding()
        }

        #expect(ending == .exited(0), "\(test.describe())")
        let output = test.outputText
        #expect(output.contains("note     a daemon works on this spool"))
        #expect(output.contains("ok       a second daemon on the same spool is refused"))
        #expect(output.contains("lost 0, duplicated 0, differing 0, processes left 0"))
        #expect(!output.contains("left out"))
        #expect(output.hasSuffix("No problem found\n"))
        #expect(names(fixture) == folders)
        #expect(fixture.spool.list("outbox") == ["before", "meanwhile"])
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func leavesNothingBehindWhenItIsInterrupted() async throws {
        let scratch = try ScratchDirectory()
        let test = try DaemonProcess(arguments: ["--self-test", scratch.path])
        let log = { try FileManager.default.subpathsOfDirectory(atPath: scratch.path) }
        try await test.waitUntil("daemons that are killed") { _ in
            // What is being listed comes and goes.
            (try? log())?.contains { $0.hasSuffix("/killed.log") } == true
        }
        test.send(SIGINT)
        #expect(try await test.waitForEnding() == .exited(130))
        #expect(try log() == [])
        #expect(test.outputText.hasSuffix("Interrupted; the test folder was removed\n"))
    }

    /// A program without codec programs beside it.
    @Test func saysWhichFormatsItLeavesOut() async throws {
        let fixture = try RunFixture()
        let daemon = fixture.url("darkroomd")
        try FileManager.default.copyItem(
            at: URL(filePath: try DaemonProcess.program()), to: daemon)
        // It is stopped when it has shown that it works without them.
        let words = """
            '\(daemon.path)' --self-test . >said 2>&1 &
            for try in $(seq 600); do
                grep -q -e 'without kills' -e problem said && break
                sleep 0.1
            done
            kill -TERM $!
            wait $!
            cat said
            exit 0
            """
        let result = try await fixture.end("--version", before: words)
        #expect(
            result.output.contains("ok       a daemon works correctly without kills"), "\(result)")
        let missing = [
            ("WebP", "webp"), ("TIFF", "tiff"), ("AVIF", "heif"), ("JPEG XL", "jxl"),
            ("GIF", "gif"), ("BMP", "bmp"),
        ]
        for (format, program) in missing {
            let line = result.output.split(separator: "\n").first {
                $0.hasPrefix("note     left out: \(format): ")
            }
            #expect(
                line?.contains("the program darkroom-codec-\(program), which") == true, "\(result)")
        }
    }

    @Test func saysWhenThereIsNoSuchSpool() async throws {
        let scratch = try ScratchDirectory()
        let (ending, output) = try await DaemonProcess.end(
            arguments: ["--self-test", "\(scratch.path)/none"])
        #expect(ending == .exited(74))
        #expect(output.contains("\(scratch.path)/none: cannot open: No such file or directory"))
    }

    /// What is in the spool, except the reports, of which there are two for a moment each time they are written.
    private func names(_ fixture: DaemonFixture) -> [String] {
        fixture.spool.list("").filter { !$0.hasPrefix("inbox.json") && !$0.hasPrefix("queue.json") }
    }

    private func isOurs(_ name: String) -> Bool { name.hasPrefix(".self-test-") }
}
