import Foundation
import TestSupport
import Testing

/// Pictures that end the daemon, which the environment has it do on demand.
@Suite(.fewAtATime) struct CrashTests {
    private static func fault(_ kind: String, image: String = "7") -> [String: String] {
        ["DARKROOM_FAULT": "decode=\(image):\(kind)"]
    }

    private func drop(_ fixture: DaemonFixture, _ id: String = "trip", count: Int = 20) throws {
        try fixture.drop(id, images: (0..<count).map { ("\($0)", fixture.url("\($0).png")) })
    }

    /// Starts the daemon with the fault and waits for its end.
    private func crash(_ fixture: DaemonFixture, _ environment: [String: String]) async throws -> (
        DaemonProcess.Ending, String
    ) {
        // It may end before it is ready. The backtrace that Swift's runtime makes of it reads the program's symbols,
        // seconds of work for a core, for longer than a busy machine gives.
        let quiet = ["SWIFT_BACKTRACE": "enable=no"]
        let daemon = try fixture.launch(environment: environment.merging(quiet) { $1 })
        let ending = try await daemon.waitForEnding()
        return (ending, daemon.outputText)
    }

    /// Also where it is a thread that helps with the picture.
    @Test(arguments: [
        ("segv", "SIGSEGV", SIGSEGV), ("abort", "SIGABRT", SIGABRT), ("stack", "SIGSEGV", SIGSEGV),
        ("helper", "SIGSEGV", SIGSEGV),
    ])
    func aPictureThatCrashesTwiceIsSetAside(
        kind: String, name: String, signal: Int32
    ) async throws {
        let fixture = try DaemonFixture(pictures: 20)
        try fixture.spool.makeFolders()
        try drop(fixture)
        for life in 0..<2 {
            let (ending, output) = try await crash(fixture, Self.fault(kind))
            #expect(ending == .killed(signal: signal))
            #expect(output.contains("7 was being filtered when darkroomd ended") == (life > 0))
        }
        let last = try await fixture.run(environment: Self.fault(kind))
        let status = try await fixture.spool.finish("trip", last)
        #expect(status.state == .completedWithErrors)
        #expect(status.counts.filtered == 19 && status.counts.failed == 1)
        let error = try #require(try status.image("7").error)
        #expect(error.code == "quarantined")
        #expect(error.message.contains("2 times (\(name), \(name))"))
        // The neighbours are what they are in an undisturbed run.
        let undisturbed = try DaemonFixture(pictures: 20)
        let daemon = try await undisturbed.run()
        try drop(undisturbed)
        let expected = try await undisturbed.spool.finish("trip", daemon)
        for image in status.images where image.name != "7" {
            let other = try expected.image(image.name)
            #expect(image.output?.sha256 == other.output?.sha256)
        }
        try fixture.checkOutcome(status)
        #expect(try await last.stop() == .exited(0))
    }

    @Test func killsConvictNobodyUntilThereAreFive() async throws {
        let fixture = try DaemonFixture(pictures: 20)
        try fixture.spool.makeFolders()
        try drop(fixture)
        for _ in 0..<4 {
            let (ending, _) = try await crash(fixture, Self.fault("kill"))
            #expect(ending == .killed(signal: SIGKILL))
        }
        let fifth = try await fixture.run()
        try await fifth.says(
            "7 was being filtered when darkroomd ended (killed, killed, killed, killed); it is retried when the "
                + "other running images have ended; a kill counts only the fifth time")
        try await fixture.complete("trip", fifth)
        #expect(try await fifth.stop() == .exited(0))

        try drop(fixture, "again")
        for _ in 0..<5 { _ = try await crash(fixture, Self.fault("kill")) }
        let last = try await fixture.run(environment: Self.fault("kill"))
        let status = try await fixture.spool.finish("again", last)
        #expect(try status.image("7").error?.code == "quarantined")
        #expect(status.counts.filtered == 19)
    }

    /// What runs when the time for stopping is over has not crashed.
    @Test func aStopIsNoCrash() async throws {
        let fixture = try DaemonFixture(pictures: 20)
        try fixture.spool.makeFolders()
        try drop(fixture)
        for _ in 0..<2 {
            let daemon = try await fixture.run(
                ["stop.timeout": "0s"], environment: Self.fault("hang"))
            _ = try await fixture.spool.waitForStatus(of: "trip", daemon, "done but for one") {
                $0.counts.filtered == 19
            }
            #expect(try await daemon.stop() == .exited(0))
        }
        let last = try await fixture.run()
        try await fixture.complete("trip", last)
        #expect(!last.outputText.contains("was being filtered when darkroomd ended"))
    }

    /// SIGABRT from outside is the watchdog's, and marks the picture that does not move.
    @Test func theWatchdogsVictimIsSuspected() async throws {
        let fixture = try DaemonFixture(pictures: 20)
        try fixture.spool.makeFolders()
        try drop(fixture)
        let first = try await fixture.run(environment: Self.fault("hang"))
        _ = try await fixture.spool.waitForStatus(of: "trip", first, "done but for one") {
            $0.counts.filtered == 19
        }
        // As long as a picture must have been still; see darkroom_crash.h.
        try await Task.sleep(for: .seconds(10.5))
        first.send(SIGABRT)
        #expect(try await first.waitForEnding() == .killed(signal: SIGABRT))
        let second = try await fixture.run()
        try await fixture.complete("trip", second)
        try await second.says("7 was being filtered when darkroomd ended (watchdog)")
    }
}
