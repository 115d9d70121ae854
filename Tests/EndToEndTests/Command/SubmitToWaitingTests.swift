import Foundation
import TestSupport
import Testing

/// `darkroom submit` while the daemon waits for its disk. The lock and the report are the test's, as they are a daemon's:
/// a real one looks again and again whether there is space.
@Suite(.fewAtATime) struct SubmitToWaitingTests {
    private let fixture: DaemonFixture
    private let lock: CInt

    init() throws {
        fixture = try DaemonFixture(pictures: 1)
        lock = try fixture.pretendDaemon("waiting", roots: "/srv", bytes: 100_000)
        try fixture.write("images: {a: \(fixture.url("0.png"))}\n", to: "x.yaml")
    }

    private static let wait = "the daemon waits: SPOOL/probe: No space left on device"

    /// What it says at once about a file in the inbox.
    private static func begin(_ name: String) -> String {
        """
        darkroom: \(name) is still in the inbox: \(wait)
        darkroom: Waiting further; Ctrl-C ends only this command.

        """
    }

    /// A manifest, one with a hold before it, and a folder with pictures.
    @Test(
        arguments: [
            (["x.yaml", "--anyway"], "x.yaml"), (["x.yaml", "--anyway", "--hold"], "x.yaml"),
            (["0.png", "--copy"], "0"), (["0.png", "--copy", "--hold"], "0"),
        ] as [([String], String)])
    func takesTheManifestBack(words: [String], name: String) async throws {
        try await fixture.begin(["submit"] + words).result().expect(
            exit: 74,
            errors: Self.begin(name) + """
                darkroom: not waiting any longer: \(Self.wait)
                darkroom: Not submitted: \(name). Submit it again when the disk can be written to. With --wait, the command waits for that.

                """)
        #expect(fixture.spool.list("inbox") == [] && fixture.spool.list("tmp") == [])
        close(lock)
    }

    /// What is taken is not submitted again.
    @Test func saysWhatIsTaken() async throws {
        let client = try fixture.begin(["submit", "x.yaml", "--anyway"])
        try await client.until("its words") { $0.text("errors") == Self.begin("x.yaml") }
        try FileManager.default.moveItem(
            atPath: fixture.spool.path + "/inbox/x.yaml",
            toPath: fixture.spool.path + "/active/x.yaml")
        try await client.result().expect(
            exit: 74,
            errors: Self.begin("x.yaml") + """
                darkroom: not waiting any longer: \(Self.wait)
                darkroom: The daemon has taken x.yaml. It begins when the disk can be written to; do not submit it again.

                """)
        close(lock)
    }

    @Test func waitsIfItIsAskedTo() async throws {
        let client = try fixture.begin(["submit", "x.yaml", "--anyway", "--wait"])
        try await client.until("its words") { $0.text("errors") == Self.begin("x.yaml") }
        // The daemon that had no space ends, and one begins that has some.
        close(lock)
        let process = try await fixture.run()
        let result = try await client.result()
        #expect(result.exit == 0 && result.output == "x\n", "\(result)")
        #expect(try await process.stop() == .exited(0))
    }
}
