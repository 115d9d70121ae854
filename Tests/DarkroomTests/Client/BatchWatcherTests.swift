import DarkroomAnswer
import DarkroomClient
import Foundation
import TestSupport
import Testing

struct BatchWatcherTests {
    @Test func seesEachReplacement() throws {
        let spool = try ClientSpool()
        var batch = ClientSpool.progress("holiday", done: 1, of: 3)
        try spool.write(ClientSpool.status("holiday", .processing))
        try spool.write(batch)
        let watcher = try BatchWatcher(["holiday"], in: spool.open())
        #expect(watcher.batches == [batch])
        #expect(watcher.daemon.name == .stopped)
        batch.counts.filtered = 2
        try spool.write(batch)
        // The event is there already, so this returns at once.
        #expect(watcher.wait() == .timeOrChange)
        try watcher.look()
        #expect(watcher.batches == [batch])
        #expect(!watcher.allHaveEnded)
        batch.state = .completed
        try spool.write(batch)
        try watcher.look()
        #expect(watcher.allHaveEnded)
        // An ended one may be removed.
        try FileManager.default.removeItem(atPath: spool.path + "/outbox/holiday")
        try watcher.look()
        #expect(watcher.batches == [batch])
    }

    /// A batch whose daemon writes no progress.json is followed by its status.
    @Test func followsOlderDaemons() throws {
        let spool = try ClientSpool()
        try spool.write(ClientSpool.status("holiday", .processing))
        let watcher = try BatchWatcher(["holiday"], in: spool.open())
        #expect(watcher.batches.map(\.state) == [.processing])
        try spool.write(ClientSpool.status("holiday", .cancelled))
        try watcher.look()
        #expect(watcher.batches.map(\.state) == [.cancelled])
    }

    /// A daemon that could not write the last progress has still written the status.
    @Test func theStatusDecidesIfTheProgressIsOld() throws {
        let spool = try ClientSpool()
        try spool.write(ClientSpool.progress("holiday", done: 1, of: 3))
        try spool.write(ClientSpool.status("holiday", .processing))
        try spool.backdate("outbox/holiday/progress.json")
        let watcher = try BatchWatcher(["holiday"], in: spool.open())
        try spool.write(ClientSpool.status("holiday", .cancelled))
        // The progress may still come, so the status, which may be large, is not read yet.
        try watcher.look()
        #expect(watcher.batches.map(\.state) == [.processing])
        try spool.backdate("outbox/holiday/status.json")
        try spool.backdate("outbox/holiday/progress.json", by: 90)
        try watcher.look()
        #expect(watcher.batches.map(\.state) == [.cancelled])
    }

    @Test func refusesWhatIsNotThere() throws {
        let spool = try ClientSpool()
        try spool.write(ClientSpool.status("holiday", .processing))
        try spool.write(ClientSpool.progress("holiday", of: 3))
        #expect(throws: ClientError.self) {
            try BatchWatcher(["holiday", "none"], in: spool.open())
        }
        let watcher = try BatchWatcher(["holiday"], in: spool.open())
        try FileManager.default.removeItem(atPath: spool.path + "/outbox/holiday")
        #expect(
            throws: ClientError(
                .missing, code: "batch-removed",
                "The batch holiday was removed while it was being watched.")
        ) { try watcher.look() }
    }

    @Test(arguments: [
        ([BatchState.completed], ClientExit.success),
        ([.completed, .completedWithErrors], .completedWithErrors),
        ([.cancelled, .completedWithErrors], .cancelled),
        ([.rejected, .cancelled, .completed], .rejected),
        ([], .success), ([.processing], .tryAgain),
    ])
    func endsWithTheWorst(states: [BatchState], exit: ClientExit) {
        #expect(ClientExit(ofWorst: states) == exit)
    }

    /// The list of locks has several pages. Each reading makes all processes of the machine wait that lock a file, so
    /// there are only a few of them.
    @Test func findsTheLockAmongMany() throws {
        let scratch = try ScratchDirectory()
        let first = try ClientSpool()
        let last = try ClientSpool()
        var locks = [try first.lock()]
        locks += try (0..<120).map { try ClientSpool.Lock("\(scratch.path)/\($0)") }
        locks.append(try last.lock())
        for spool in [first, last] {
            #expect(DaemonPresence(in: try spool.open(), queue: nil) == .working)
        }
        withExtendedLifetime(locks) {}
    }

    @Test func findsTheHolderOfTheLock() throws {
        let spool = try ClientSpool()
        let folder = try spool.open()
        #expect(DaemonPresence(in: folder, queue: nil) == .absent)
        let error = #expect(throws: ClientError.self) { _ = try DaemonProcessHandle(of: folder) }
        #expect(error?.exit == .noDaemon)
        let lock = try spool.lock()
        #expect(DaemonPresence(in: folder, queue: nil) == .working)
        let process = try DaemonProcessHandle(of: folder)
        #expect(process.number == getpid())
        // Signal 0 only asks whether it may be sent.
        #expect(process.send(0) == nil)
        withExtendedLifetime(lock) {}
    }
}
