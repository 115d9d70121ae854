import Foundation
import TestSupport
import Testing

/// A daemon of a user that may not use its folders: the check of the configuration says so, and a start says what helps.
@Suite(.fewAtATime, .enabled(if: geteuid() == 0, "only root can be another user"))
struct OtherUserTests {
    static let user: UInt32 = 64001
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
        try #require(chmod(scratch.path, 0o755) == 0)
        // No unit's, and nobody's settings.
        try scratch.write([], to: "darkroomd.yaml")
    }

    private func folder(_ path: String, mode: mode_t = 0o755, owner: UInt32 = 0) throws {
        try #require(mkdir("\(scratch.path)/\(path)", mode) == 0)
        try #require(chown("\(scratch.path)/\(path)", owner, owner) == 0)
    }

    private func end(_ arguments: [String], as user: UInt32? = user) async throws -> (
        status: DaemonProcess.Ending, output: String
    ) {
        let (ending, output) = try await DaemonProcess.end(
            arguments: ["--config", "\(scratch.path)/darkroomd.yaml"] + arguments, user: user)
        return (ending, output.replacing(scratch.path, with: "."))
    }

    /// A spool, what the check says is in its way, what a start fails with, and what both say helps.
    static let barred = [
        Barred(
            "closed/spool", "./closed cannot be entered by user 64001",
            "./closed/spool: cannot create folder",
            "let the user that runs the daemon enter ./closed, or use another folder for the spool"),
        Barred(
            "spool", "user 64001 may not create it in .", "./spool: cannot create folder",
            "let root create the spool for the user that runs the daemon: "
                + "install -d -o 64001 -g 64001 ./spool"),
        Barred(
            "no/such/spool", "there is no folder ./no/such, and user 64001 may not create one in .",
            "./no/such/spool: cannot create the parent folder ./no",
            "correct the path, or let root create the spool for the user that runs the daemon: "
                + "install -d -o 64001 -g 64001 ./no/such/spool"),
        Barred(
            "roots", "./roots cannot be used by user 64001", "./roots/lock: cannot open",
            "the spool must belong to the user that runs the daemon (64001): chown -R 64001 ./roots"
        ),
        Barred(
            "empty", "./empty cannot be used by user 64001", "./empty/lock: cannot open",
            "the spool must belong to the user that runs the daemon (64001): chown 64001 ./empty"),
        // Nobody is told to give that away.
        Barred(
            "srv", "./srv cannot be used by user 64001", "./srv/lock: cannot open",
            "the spool must belong to the user that runs the daemon (64001); use a separate folder for it"
        ),
        Barred(
            "mixed", "./mixed/lock cannot be used by user 64001", "./mixed/lock: cannot open",
            "the spool must belong to the user that runs the daemon (64001): chown -R 64001 ./mixed"
        ),
    ]

    struct Barred: Sendable, CustomTestStringConvertible {
        let spool: String
        let obstacle: String
        let failure: String
        let remedy: String

        init(_ spool: String, _ obstacle: String, _ failure: String, _ remedy: String) {
            self.spool = spool
            self.obstacle = obstacle
            self.failure = failure
            self.remedy = remedy
        }

        var testDescription: String { spool }
    }

    @Test(arguments: barred)
    func spoolThatMayNotBeUsed(_ barred: Barred) async throws {
        try folder("closed", mode: 0o700)
        try folder("empty")
        try folder("srv")
        try folder("srv/other")
        for (spool, owner) in [("roots", 0), ("mixed", Self.user)] {
            try folder(spool, owner: owner)
            for station in ["inbox", "tmp", "active", "outbox"] {
                try folder("\(spool)/\(station)", owner: owner)
            }
            try scratch.write([], to: "\(spool)/lock")
        }
        let spool = ["--spool", "\(scratch.path)/\(barred.spool)"]
        let check = try await end(["--check-config"] + spool)
        #expect(check.status == .exited(78))
        #expect(
            check.output
                == "darkroomd: --set spool: \(words(barred.obstacle)); \(barred.remedy)\n")
        let start = try await end(spool)
        #expect(start.status == .exited(77))
        #expect(
            start.output.contains("\(barred.failure): Permission denied; \(barred.remedy)"),
            "\(start.output)")
        // Root may use them all, and the check has made nothing.
        #expect(try await end(["--check-config"] + spool, as: nil).status == .exited(0))
        #expect(!scratch.exists("no"))
    }

    /// Of a file that is there the system's words follow.
    private func words(_ obstacle: String) -> String {
        obstacle.contains("used") ? "\(obstacle): Permission denied" : obstacle
    }

    @Test func whatTheUserMayUseIsFine() async throws {
        try folder("own", owner: Self.user)
        for path in ["own", "own/new/spool"] {
            let check = try await end(["--check-config", "--spool", "\(scratch.path)/\(path)"])
            #expect(check.status == .exited(0), "\(check.output)")
        }
    }

    @Test func cacheAndMetricsAreLookedAtToo() async throws {
        try folder("own", owner: Self.user)
        try folder("cache")
        let arguments = ["--check-config", "--spool", "\(scratch.path)/own"]
        let check = try await end(
            arguments + [
                "--set", "cache.folder=\(scratch.path)/cache", "--set",
                "metrics.textfile=\(scratch.path)/darkroom.prom",
            ])
        #expect(check.status == .exited(78))
        #expect(
            check.output.contains(
                "darkroomd: --set cache.folder: ./cache cannot be used by user 64001: Permission denied; "
                    + "the cache must belong to the user that runs the daemon (64001): chown 64001 ./cache"
            ), "\(check.output)")
        #expect(
            check.output.contains(
                "darkroomd: warning: --set metrics.textfile: . cannot be written by user 64001: "
                    + "Permission denied; the metrics cannot be written"), "\(check.output)")
    }
}
