import ArgumentParser
import DarkroomCore
import DarkroomSelfTest
import DarkroomSpool
import Foundation

/// Runs daemons whose system calls fail, whose disk is full, whose inbox goes away, whose files have extreme sizes and
/// times and that are sent signals too early, and holds them against their promise each time. Tests/run.sh starts it.
@main
struct FaultsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "faults",
        abstract: "Let the system fail darkroomd, and see that nothing is lost.")

    @Option(help: "The daemon.") var darkroomd: String
    @Option(help: "Tests/Faults/shim.c as a shared library.") var shim: String
    @Option(help: "Tests/Faults/codec_shim.c as a shared library.") var codecShim: String
    @Option(help: "Where to make spools; needs a few megabytes.") var folder =
        NSTemporaryDirectory()
    @Option(
        help:
            "Only full, inbox, signals, numbers, codecs, calls, or one kind of calls, such as open-EIO."
    )
    var only = ""

    func run() throws {
        // As in the daemon, so that a child's signals wait for it; and ours are asked for between steps.
        SignalSources.block(ControlSignal.all.map(\.number))
        let name = "darkroom-faults-\(getpid())"
        // The shim compares with the paths that the kernel gives.
        let scratch = try Directory(path: URL(filePath: folder).resolvingSymlinksInPath().path)
        try scratch.makeDirectory(FileName(name), mode: 0o755)
        defer { try? scratch.removeTree(FileName(name)) }
        let fixture = FaultFixture(
            folder: try Directory(FileName(name), in: scratch), program: darkroomd, shim: shim,
            codecShim: codecShim)
        try TestSpool.makePictures(in: fixture.folder)
        let reference = try SpoolAudit.makeReference(
            SampleManifest.all, on: TestSpool("undisturbed", in: fixture.folder, program: darkroomd)
        )
        let parts: [(names: [String], () throws -> [String])] = [
            (["inbox"], { try InboxTrouble.run(fixture, reference) }),
            (["signals"], { try EarlySignals.run(fixture) }),
            (["numbers"], { try ExtremeNumbers.run(fixture) }),
            (["full"], { try FullDisk.run(fixture, reference) }),
            (["codecs"] + CodecCalls.names, { try CodecCalls.run(fixture, only: only) }),
            (["calls"] + NthCall.names, { try NthCall.run(fixture, reference, only: only) }),
        ]
        let report = SelfTestReport()
        var failures = 0
        for (names, body) in parts where only.isEmpty || names.contains(only) {
            let lines = try body()
            failures += lines.count { $0.hasPrefix("FAIL ") }
            for line in lines { report.say(line) }
        }
        if failures > 0 { throw ExitCode(1) }
    }
}

/// What the parts work with.
struct FaultFixture: Sendable {
    /// Where spools are made; it has the pictures.
    let folder: Directory
    let program: String
    let shim: String
    let codecShim: String
}

/// The line for something that cannot be tried here. On a machine that is there for testing that is a failure.
func leftOut(_ what: String, because reason: String) -> String {
    let isCI = ProcessInfo.processInfo.environment["CI"] == "true"
    return "\(isCI ? "FAIL" : "skip") \(what): \(reason)"
}

extension SpoolAudit {
    /// The audit's result as lines for Tests/run.sh: one if all is well, else one for each problem.
    func lines(_ what: String) -> [String] {
        let sums =
            "\(what), manifests \(manifests), images \(images), lost \(lost.count), "
            + "duplicated \(duplicated.count), differing \(differing.count)"
        guard !problems.isEmpty else { return ["ok \(sums)"] }
        return problems.prefix(20).map { "FAIL \(what): \($0)" } + ["FAIL \(sums)"]
    }
}
