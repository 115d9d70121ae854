import Foundation
import TestSupport
import Testing

/// `darkroom cancel`, `hold`, `release`, `retry` and `wait` with the real daemon.
@Suite(.fewAtATime) struct ControlOrderTests {
    private func slowFixture() async throws -> (DaemonFixture, DaemonProcess) {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: DaemonFixture.many, ["downloads.concurrency": "2"])
        try fixture.drop("x", images: fixture.slowImages())
        _ = try await fixture.spool.waitForStatus(of: "x", daemon, filtered: 1)
        return (fixture, daemon)
    }

    @Test func holdsReleasesAndCancels() async throws {
        let (fixture, daemon) = try await slowFixture()
        func run(_ words: String...) async throws -> ClientProcess.Result {
            try await fixture.begin(words).result()
        }
        try await run("release", "x").expect(exit: 0, output: "x is not held\n")
        try await run("hold", "x", "--wait").expect(
            exit: 0, output: "x is held: no further image begins\n")
        let held = try #require(try fixture.spool.status(of: "x"))
        #expect(held.state == .held)
        #expect(held.counts.downloading + held.counts.downloaded + held.counts.filtering == 0)
        try await run("hold", "x").expect(exit: 0, output: "x is held already\n")
        try await run("wait", "x", "--timeout", "0").expect(
            exit: 75, errors: "darkroom: x has not ended yet\n")
        try await run("release", "x").expect(exit: 0, output: "x is released\n")
        try await run("retry", "x").expect(exit: 1, errors: "darkroom: x is still in work\n")
        let wait = try fixture.begin(["wait", "x"])
        try await run("cancel", "x", "--wait", "--json").expect(
            exit: 0,
            output: """
                {"command":"cancel","effect":"done","id":"x","message":"x is being cancelled","state":"cancelled","type":"control"}
                {"batches":1,"exit":0,"type":"summary"}

                """)
        try await wait.result().expect(exit: 4)
        try await run("cancel", "x").expect(exit: 0, output: "x is cancelled already\n")
        let status = try await fixture.spool.finish("x", daemon)
        #expect(status.commands?.map(\.command) == [.hold, .release, .cancel])
        try fixture.checkOutcome(status)
    }

    /// Not for the end before the retry.
    @Test func retryWaitsForTheNewAnswer() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 1, ["downloads.retries": "0"])
        try fixture.drop("x", images: [("a", fixture.url("0.png")), ("b", fixture.url("b.png"))])
        #expect(try await fixture.spool.finish("x", daemon).state == .completedWithErrors)
        try await fixture.client("wait", "x").expect(exit: 3)
        for _ in 1...3 {
            try await fixture.client("retry", "x", "--wait").expect(
                exit: 3, output: "x is reopened\n")
            try await fixture.client("retry", "x").expect(exit: 0, output: "x is reopened\n")
            // Without the option too: the wait is for what the retry has begun.
            #expect(try await fixture.client("wait", "x").exit == 3)
        }
        #expect(try await fixture.spool.finish("x", daemon).retries == 6)
        try fixture.addPicture("b.png")
        try await fixture.client("retry", "x", "--wait").expect(exit: 0, output: "x is reopened\n")
        try await fixture.client("wait", "x").expect(exit: 0)
        try await fixture.client("retry", "x").expect(
            exit: 1,
            errors: "darkroom: x has nothing to repeat: all images are filtered\n")
        try await fixture.complete("x", daemon)
    }

    @Test func saysWhyNothingHappens() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        try fixture.drop("done", images: [("a", fixture.url("0.png"))])
        try fixture.spool.drop("bad.json", "{}")
        for id in ["done", "bad"] { _ = try await fixture.spool.finish(id, daemon) }
        let ended = "done has ended before (completed)"
        for (verb, id, errors) in [
            ("cancel", "done", ended), ("hold", "done", ended), ("release", "done", ended),
            ("retry", "bad", "bad was rejected; correct its manifest and submit it again"),
        ] {
            try await fixture.client(verb, id).expect(exit: 1, errors: "darkroom: \(errors)\n")
        }
        for verb in ["cancel", "hold", "release", "retry", "remove", "wait"] {
            try await fixture.client(verb, "none").expect(
                exit: 66,
                errors: """
                    darkroom: none: there is no such batch
                    darkroom: Did you mean done?

                    """)
        }
        try await fixture.client("wait", "done", "bad").expect(exit: 65)
        #expect(try await fixture.client("wait", "done", "--timeout", "soon").exit == 64)
        #expect(try await daemon.stop() == .exited(0))
        try await fixture.client("cancel", "done").expect(
            exit: 69,
            errors: """
                darkroom: no daemon works on the spool SPOOL
                darkroom: Nothing has changed.

                """)
        #expect(fixture.spool.list("inbox") == [])
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func anotherUserMayNot() async throws {
        let scratch = try ScratchDirectory()
        try #require(chmod(scratch.path, 0o755) == 0)
        let spool = scratch.url.appending(path: "spool")
        try FileManager.default.makeFolder(at: spool)
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 1, spool: SpoolFixture(root: spool))
        try await fixture.finish(["x"], daemon)
        for verb in ["cancel", "hold", "release", "retry", "remove"] {
            try await ClientProcess.end([verb, "x"], spool: spool.path, user: 64001).expect(
                exit: 77,
                errors: """
                    darkroom: x: you may not \(verb) it: it belongs to root
                    darkroom: Only its owner, the owner of the spool and root may.

                    """)
        }
        // Everybody who may read may wait.
        try await ClientProcess.end(["wait", "x"], spool: spool.path, user: 64001).expect(exit: 0)
        #expect(fixture.spool.list("inbox") == [])
    }
}
