import Foundation
import Logging
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomConfiguration
@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomRun

/// A stop before the work has begun. All others are tested end to end.
struct FolderRunTests {
    private static let text = Array(#"{"images": ["a.png", "b.png"], "filters": []}"#.utf8)

    private struct Outcome: Sendable {
        var signal: CInt?
        var hasScheduler = true
        var counts = Status.Counts()
        var message: String?
    }

    /// Stops a run, and then begins it.
    private static func runStopped(in folder: String) -> Outcome {
        var outcome = Outcome()
        do {
            let loaded = try ConfigurationLoader(
                readsStandardFile: false, overrides: [], environment: [:]
            ).loadAll()
            let job = RunJob(
                id: "x", name: "x.json", format: .json, bytes: text,
                manifest: try ManifestReader.read(text, format: .json, defaultFilters: []),
                base: "/nowhere", usesBase: true, folder: folder)
            let log = EventLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let run = try FolderRun(job, loaded, log: log)
            run.stop(.stopped(signal: SIGUSR1))
            let ending = try run.run { wait in while !wait(1) {} }
            if case .stopped(let signal) = ending { outcome.signal = signal }
            outcome.hasScheduler = run.scheduler.withLock { $0 != nil }
            outcome.counts = run.counts
        } catch {
            outcome.message = "\(error)"
        }
        return outcome
    }

    /// Nothing may be in work when the process ends.
    @Test func aStopBeforeTheWorkLetsNothingBegin() async throws {
        let scratch = try ScratchDirectory()
        let folder = "\(scratch.path)/out"
        // A run blocks signals in its thread.
        let outcome = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: Self.runStopped(in: folder))
            }
        }
        #expect(outcome.message == nil)
        #expect(outcome.signal == SIGUSR1 && !outcome.hasScheduler)
        var counts = Status.Counts()
        (counts.total, counts.new) = (2, 2)
        #expect(outcome.counts == counts)
        let status = try #require(try Status(in: Directory(path: folder)))
        #expect(status.state == .pending && status.counts == counts)
        let active = try Directory(path: "\(folder)/.darkroom/active/x")
        #expect(try active.names() == ["manifest.json"])
    }
}
