import Foundation
import TestSupport
import Testing

/// Daemons whose clock is put ahead or back while they work.
@Suite(.fewAtATime) struct ClockTests {
    private static let hour = 3600
    private static let day = 86400

    /// One finished batch, and a file in `tmp`, that are to be removed after an hour.
    private func begin(_ clock: ShiftedClock) async throws -> (DaemonFixture, DaemonProcess) {
        let fixture = try DaemonFixture()
        let daemon = try await run(fixture, clock)
        try fixture.spool.write([1], to: "tmp/upload")
        try await fixture.complete("kept", images: [("a", fixture.url("0.png"))], daemon)
        try await daemon.waitUntil("the first look at the clock") { _ in
            fixture.spool.exists("clock")
        }
        return (fixture, daemon)
    }

    private func run(_ fixture: DaemonFixture, _ clock: ShiftedClock) async throws -> DaemonProcess
    {
        try await fixture.run(
            ["retention.age": "1h", "retention.tmp": "1h"], environment: clock.environment)
    }

    private func isKept(_ fixture: DaemonFixture) -> Bool {
        fixture.spool.exists("outbox/kept/status.json") && fixture.spool.exists("tmp/upload")
    }

    @Test func nothingIsRemovedForADayAfterAJumpAhead() async throws {
        let clock = try ShiftedClock()
        let (fixture, daemon) = try await begin(clock)
        clock.shift(timeOfDay: 2 * Self.day)
        // Which has it look at once.
        try await daemon.reload()
        try await daemon.says("the clock has jumped ahead by 2 days")
        #expect(isKept(fixture))
        // All else goes on.
        try await fixture.complete("more", images: [("a", fixture.url("1.png"))], daemon)
        // The next daemon knows.
        #expect(try await daemon.stop() == .exited(0))
        clock.shift(timeOfDay: 2 * Self.day + 12 * Self.hour, boot: 12 * Self.hour)
        let next = try await run(fixture, clock)
        try await next.says("the clock has jumped ahead by 2 days")
        #expect(isKept(fixture))
        clock.shift(timeOfDay: 3 * Self.day, boot: Self.day)
        try await next.reload()
        try await next.says("outbox/kept removed")
        try await next.says("1 file in tmp/ removed")
        #expect(next.outputText.contains("the clock is trusted again"))
    }

    @Test func aJumpWhileTheDaemonIsStoppedIsNoticed() async throws {
        let clock = try ShiftedClock()
        let (fixture, daemon) = try await begin(clock)
        #expect(try await daemon.stop() == .exited(0))
        clock.shift(timeOfDay: 400 * Self.day)
        let next = try await run(fixture, clock)
        try await next.says("the clock has jumped ahead by 400 days")
        #expect(isKept(fixture))
        // Put right, it is believed at once; and what is then old is removed.
        clock.shift(timeOfDay: 2 * Self.hour, boot: 2 * Self.hour)
        try await next.reload()
        try await next.says("outbox/kept removed")
    }

    @Test func aTimeBeforeTheProgramIsNotBelieved() async throws {
        let clock = try ShiftedClock()
        clock.shift(timeOfDay: -30 * 366 * Self.day)
        let (fixture, daemon) = try await begin(clock)
        try await daemon.says("but this program was built at")
        clock.shift(timeOfDay: 2 * Self.hour)
        try await daemon.reload()
        try await daemon.says("the clock has jumped ahead by")
        #expect(isKept(fixture))
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A manifest that is being written is not taken for whole by a clock that jumps.
    @Test func aJumpDoesNotMakeAManifestSettled() async throws {
        let clock = try ShiftedClock()
        let (fixture, daemon) = try await DaemonFixture.running(
            ["inbox.settle": "1h"], environment: clock.environment)
        // In place, and closed: of YAML only time tells that it is whole.
        let file = fixture.spool.root.appending(path: "inbox/half.yaml")
        try Data("images:\n  a: \(fixture.url("0.png"))\n".utf8).write(to: file)
        _ = try await fixture.waitForReport(daemon, "half.yaml") { report in
            report.files.contains { $0.name == "half.yaml" }
        }
        clock.shift(timeOfDay: 2 * Self.hour)
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("  b: \(fixture.url("1.png"))\n".utf8))
        try handle.close()
        // What comes after it is done.
        try await fixture.complete("after", images: [("a", fixture.url("2.png"))], daemon)
        #expect(fixture.spool.list("inbox") == ["half.yaml"])
        #expect(fixture.spool.list("outbox") == ["after"])
        #expect(try await daemon.stop() == .exited(0))
    }
}

/// The clocks of a daemon, which `Tests/ClockShim` puts ahead or back.
private struct ShiftedClock {
    private let scratch: ScratchDirectory
    private let file: FileHandle
    let environment: [String: String]

    init() throws {
        scratch = try ScratchDirectory()
        let path = scratch.path + "/clock"
        try Data(count: 16).write(to: URL(filePath: path))
        file = try #require(FileHandle(forUpdatingAtPath: path))
        let program = try DaemonProcess.program()
        let shim = URL(filePath: program).deletingLastPathComponent().appending(
            path: "libclockshim.so")
        try #require(FileManager.default.fileExists(atPath: shim.path))
        let others = ProcessInfo.processInfo.environment["LD_PRELOAD"].map { [$0] } ?? []
        environment = [
            "LD_PRELOAD": ([shim.path] + others).joined(separator: ":"), "CLOCK_SHIM": path,
        ]
    }

    /// By so many seconds from the machine's: the time of day, and the clock that nobody sets. The daemon has it at
    /// once.
    func shift(timeOfDay: Int, boot: Int = 0) {
        var offsets = [Int64(timeOfDay), Int64(boot)]
        let written = pwrite(file.fileDescriptor, &offsets, 16, 0)
        #expect(written == 16)
    }
}
