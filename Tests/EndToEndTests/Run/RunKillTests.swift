import DarkroomAnswer
import DarkroomCore
import Foundation
import Testing

/// `darkroom run` is killed at each point that it passes, and at random moments. The same command continues: nothing is
/// lost, done twice or different.
@Suite(.fewAtATime) struct RunKillTests {
    /// A manifest whose images pass all steps, also those of images that are made from others. Two fail.
    private static let manifest = """
        images:
          mark: {source: alpha.png, output: {format: jpeg}}
          a: {source: large.png, filters: [{watermark: {from: mark}}]}
          b: {from: mark, filters: [flip], output: {format: jpeg}}
          c: {source: small.png, after: [b], output: {name: "{width}/{name}-{sha8}"}}
          d: {source: nowhere.png}
          e: {from: d}
          f: {source: alpha.png, filters: mono, publish: false}
          g: {from: f, filters: {overlay: {from: f, scale: 0.5}}}
          h: {source: small.png, publish: false, after: [g]}

        """

    private let fixture: RunFixture

    init() throws {
        fixture = try RunFixture()
        try fixture.write(Self.manifest, to: "m.yaml")
    }

    /// The points that each run passes, and those that only a run passes which continues another one. The second point
    /// is that at which the former run has died.
    static let points: [(FaultPoint, after: FaultPoint?)] =
        [
            .planWritten, .planMoved, .claimFolderMade, .claimCopied, .claimFolderSynced,
            .claimActiveSynced, .receiptManifestWritten, .receiptManifestMoved, .statusWritten,
            .statusMoved, .downloadBegan, .downloadEnded, .filterBegan, .filterWritten,
            .handOverWritten, .handOverMoved, .handOverRemoved, .publishOutputsSynced,
            .publishJournalTorn, .publishJournalWritten, .publishJournalSynced,
            .outputFolderMade, .publishOutputMoved, .publishOutputsMoved, .finalStatusWritten,
            .sizesMoved, .finalStatusMoved,
            .finalStatusSynced, .treeEntryRemoved, .activeRemoved,
        ].map { ($0, nil) } + [
            (.recoveryJournalMended, .publishJournalTorn),
            (.recoveryOutputMoved, .publishJournalSynced),
            (.recoveryScrapRemoved, .filterWritten), (.recoveryFinished, .finalStatusSynced),
            (.recoveryCrashJournaled, .filterBegan),
        ]

    private static let command = ["m.yaml", "-o", "out", "--set", "durability=full", "--quiet"]

    /// What a run without kills leaves: the digests of the outputs and the codes of the failures.
    private func reference() async throws -> [String] {
        let command = Self.command.map { $0 == "out" ? "reference" : $0 }
        try await fixture.begin(command).result().shows(exit: 3)
        try fixture.checkOutcome(of: "reference")
        return try Self.outcome(try fixture.status("reference"))
    }

    private static func outcome(_ status: Status?) throws -> [String] {
        try #require(status).images.map {
            "\($0.name) \($0.state.rawValue) \($0.output?.sha256 ?? $0.error?.code ?? "")"
        }
    }

    /// The outputs that a killed run has left in the folder.
    private func outputs() -> [String] {
        fixture.list("out").filter { $0.hasSuffix(".png") || $0.hasSuffix(".jpg") }
    }

    /// Kills a run at a point.
    ///
    /// - Returns: whether it has passed the point.
    private func die(at point: FaultPoint, passing: Int = 1) async throws -> Bool {
        let result = try await fixture.begin(
            Self.command, environment: point.environment(passing: passing)
        ).result()
        #expect([137, 3].contains(result.exit), "\(point.rawValue): \(result)")
        return result.exit == 137
    }

    /// Continues the killed run. Everything that was there stays as it was.
    private func finish(_ reference: [String], _ comment: Comment) async throws {
        let before = fixture.identities(of: outputs())
        let result = try await fixture.begin(Self.command).result()
        #expect(result.exit == 3, "\(comment): \(result)")
        #expect(try Self.outcome(try fixture.status()) == reference, comment)
        try fixture.checkOutcome()
        #expect(fixture.identities(of: Array(before.keys)) == before, comment)
    }

    @Test func continuesAfterEachPoint() async throws {
        let reference = try await reference()
        for (point, former) in Self.points {
            var isPassed = false
            // Chance decides which images the former run has ended, and so what the next one finds.
            for passing in 1...6 where !isPassed {
                if let former { #expect(try await die(at: former, passing: passing)) }
                isPassed = try await die(at: point)
                try await finish(reference, "\(point.rawValue)")
                try fixture.remove("out")
            }
            #expect(isPassed, "no run passes \(point.rawValue)")
        }
    }

    /// The repetition of a finished run, too.
    @Test(arguments: [FaultPoint.retryBuilt, .retryMoved, .recoveryRetryRemoved])
    func continuesARepetition(point: FaultPoint) async throws {
        #expect(try await fixture.begin(Self.command).result().exit == 3)
        try fixture.copy("gray.png", to: "nowhere.png")
        let retry = Self.command + ["--retry"]
        if point == .recoveryRetryRemoved {
            try await fixture.begin(
                retry, environment: FaultPoint.retryBuilt.environment
            ).result().shows(exit: 137)
        }
        try await fixture.begin(retry, environment: point.environment).result().shows(exit: 137)
        let before = fixture.identities(of: outputs())
        #expect(try await fixture.begin(retry).result().exit == 0)
        try fixture.checkOutcome()
        #expect(fixture.identities(of: Array(before.keys)) == before)
        #expect(try fixture.status()?.counts.filtered == 9)
    }

    private static func fault(_ kind: String) -> [String: String] {
        // The backtrace of a crash takes seconds.
        ["DARKROOM_FAULT": "decode=a:\(kind)", "SWIFT_BACKTRACE": "enable=no"]
    }

    /// On a cluster, others kill: the scheduler, the out-of-memory killer, a preemption.
    @Test func noNumberOfKillsFailsAPicture() async throws {
        let reference = try await reference()
        for _ in 0..<12 {
            try await fixture.begin(Self.command, environment: Self.fault("kill")).result().shows(
                exit: 137, errors: .nothing)
        }
        try await finish(reference, "after kills")
    }

    /// A picture that crashes the program itself ends the series.
    @Test(
        arguments: [("segv", "SIGSEGV", 139), ("abort", "SIGABRT", 134)]
            as [(String, String, Int32)])
    func aPictureThatCrashesTwiceIsSetAside(kind: String, name: String, exit: Int32) async throws {
        for _ in 0..<2 {
            try await fixture.begin(Self.command, environment: Self.fault(kind)).result().shows(
                exit: exit)
        }
        let last = try await fixture.begin(
            Self.command, environment: Self.fault(kind)
        ).result()
        #expect(last.exit == 3, "\(last)")
        let reason =
            "darkroom: a: a: filtering it ended darkroom run 2 times (\(name), \(name)), so it is quarantined [quarantined]"
        #expect(last.errors.contains(reason), "\(last)")
        let image = try fixture.status()?.images.first { $0.name == "a" }
        #expect(image?.error?.code == "quarantined")
        try fixture.checkOutcome()
        // The crashes of the former runs do not count any more.
        try await fixture.begin(Self.command + ["--retry"]).result().shows(
            exit: 3, errors: .lacks("quarantined"))
        #expect(try fixture.status()?.images.first { $0.name == "a" }?.state == .filtered)
    }

    @Test func continuesAfterRandomKills() async throws {
        let reference = try await reference()
        var kills = RandomKills()
        while kills.count < 40 {
            for _ in 0..<Int.random(in: 1...8) {
                let run = try fixture.begin(Self.command)
                try await kills.wait()
                run.send(SIGKILL)
                let result = try await run.result()
                #expect([137, 3].contains(result.exit), "\(result)")
                kills.note(exit: result.exit)
            }
            try await finish(reference, "after \(kills.count) kills")
            try fixture.remove("out")
        }
    }
}
