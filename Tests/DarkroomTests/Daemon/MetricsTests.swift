import Foundation
import Logging
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomFixtures
@testable import DarkroomWork

struct MetricsTests {
    private func read(_ metrics: Metrics, _ moment: MetricsMoment = MetricsMoment()) throws
        -> Exposition
    {
        try Exposition(MetricsText.write(metrics, moment))
    }

    @Test func isWhatPrometheusReads() throws {
        let exposition = try read(Metrics())
        #expect(exposition.families.count >= 20)
        #expect(exposition.families.keys.allSatisfy { $0.hasPrefix("darkroom_") })
        // A family of no series is allowed, of failures there are none yet.
        #expect(exposition.families["darkroom_image_failures_total"]?.samples == [])
    }

    @Test(arguments: ["/var/spool/darkroom", "/a \"b\" \\ c\nd,}{=", ""])
    func labelsEachSeriesWithItsSpool(spool: String) throws {
        let exposition = try read(Metrics(), MetricsMoment(spool: spool))
        for family in exposition.families.values {
            #expect(family.samples.allSatisfy { $0.labels["spool"] == spool })
        }
    }

    /// What the parser has to refuse, or the tests above would say nothing.
    @Test(arguments: [
        "a 1", "# TYPE a gauge\na 1\n", "# HELP a b\n# TYPE a gauge\na 1 2\n",
        "# HELP a b\n# TYPE a gauge\na{b=\"c} 1\n", "# HELP a b\n# TYPE a gauge\na{b=\"\\x\"} 1\n",
        "# HELP a b\n# TYPE a gauge\na 1\na 1\n", "# HELP a b\n# TYPE a counter\na 1\n",
        "# HELP a b\n# TYPE a gauge\nb 1\n", "# HELP a b\n# TYPE a gauge\na one\n",
        "# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 1\na_sum 1\na_count 1\n",
        "# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
        "# HELP a b\n# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 2\n",
    ])
    func parserIsStrict(text: String) {
        #expect(throws: Exposition.Problem.self) { try Exposition(text) }
    }

    @Test func countsWhatTheJournalSays() throws {
        let log = EventLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        var status = Status.full
        log.claimed(status)
        log.ended(batch: status.id, status.images[0], at: .filter)
        log.ended(batch: status.id, status.images[1], at: .filter)
        var cancelled = ImageStatus(name: "c", source: "c", state: .cancelled, attempts: 1)
        cancelled.milliseconds.waited = 2000
        cancelled.error = Failure(code: "cancelled", message: "")
        log.ended(batch: status.id, cancelled, at: .filter)
        // One more was cancelled while it waited, which only the counts tell.
        status.counts.cancelled = 2
        log.finished(status, microseconds: 1)
        log.eventsLost("inbox")
        log.storageFailed(FileError(.write, "x", .noSpace))
        let exposition = try read(log.metrics)
        #expect(try exposition.value("darkroom_manifests_accepted_total") == 1)
        #expect(exposition.sum("darkroom_manifests_total") == 1)
        #expect(
            try exposition.value("darkroom_manifests_total", ["state": "completedWithErrors"]) == 1)
        for (state, count) in [("filtered", 1.0), ("failed", 1), ("cancelled", 2)] {
            #expect(try exposition.value("darkroom_images_total", ["state": state]) == count)
        }
        #expect(try exposition.value("darkroom_images_with_warnings_total") == 1)
        #expect(exposition.sum("darkroom_image_failures_total") == 1)
        #expect(try exposition.value("darkroom_image_failures_total", ["code": "png-crc"]) == 1)
        #expect(try exposition.value("darkroom_written_bytes_total") == 3)
        #expect(try exposition.value("darkroom_inotify_overflows_total") == 1)
        #expect(try exposition.value("darkroom_storage_failures_total") == 1)
        // Of those that were begun: the first and the third.
        #expect(try exposition.value("darkroom_stage_seconds_count", ["stage": "waiting"]) == 2)
        #expect(try exposition.value("darkroom_stage_seconds_sum", ["stage": "waiting"]) == 2)
        #expect(
            try exposition.value(
                "darkroom_stage_seconds_bucket", ["stage": "waiting", "le": "1"]) == 1)
        #expect(
            try exposition.value(
                "darkroom_stage_seconds_bucket", ["stage": "waiting", "le": "3"]) == 2)
    }

    @Test func countsAttemptsAndThoseThatWait() throws {
        let log = EventLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        log.retried(
            Retry(
                number: 1, delay: 1, attempts: 1, mostAttempts: 5, failure: .late, batch: "b",
                image: "i",
                source: "http://h/i.png")
        )
        for code in ["timeout", "http-status", "timeout"] { log.metrics.downloadFailures.add(code) }
        var moment = MetricsMoment(waitingForHost: 7)
        moment.summary.retrying = 3
        let exposition = try read(log.metrics, moment)
        #expect(try exposition.value("darkroom_download_retries_total") == 1)
        #expect(try exposition.value("darkroom_download_failures_total", ["code": "timeout"]) == 2)
        #expect(exposition.sum("darkroom_download_failures_total") == 3)
        // Attempts are not images.
        #expect(exposition.families["darkroom_image_failures_total"]?.samples == [])
        #expect(try exposition.value("darkroom_downloads_waiting", ["for": "host"]) == 7)
        #expect(try exposition.value("darkroom_downloads_waiting", ["for": "retry"]) == 3)
    }

    @Test func tellsOfEachHotFolder() throws {
        let folders = [
            HotFolderMetrics(path: "/srv/a", isUp: true, taken: 5, waiting: 2, refused: 1),
            HotFolderMetrics(path: "/srv/\"b", isUp: false, taken: 0, waiting: 0, refused: 3),
        ]
        var moment = MetricsMoment(hotFolders: folders)
        let exposition = try read(Metrics(), moment)
        for folder in folders {
            func value(_ name: String) throws -> Double? {
                try exposition.value("darkroom_hot_folder_\(name)", ["folder": folder.path])
            }
            #expect(try value("up") == (folder.isUp ? 1 : 0))
            #expect(try value("taken_total") == Double(folder.taken))
            #expect(try value("waiting") == Double(folder.waiting))
            #expect(try value("refused") == Double(folder.refused))
        }
        moment.isRunning = false
        #expect(
            try read(Metrics(), moment).value("darkroom_hot_folder_up", ["folder": "/srv/a"]) == 0)
    }

    /// A bound belongs to its bucket.
    @Test(arguments: [
        (0, 0), (1_000_000, 0), (1_000_001, 1), (1_000_000_000_000, 12), (1_000_000_000_001, 13),
    ])
    func sortsIntoBuckets(nanoseconds: Int, bucket: Int) {
        let histogram = Histogram()
        histogram.add(nanoseconds: UInt64(nanoseconds))
        #expect(histogram.cumulative.firstIndex(of: 1) == bucket)
        #expect(histogram.cumulative.last == 1)
    }

    @Test func boundsTheCodes() throws {
        let metrics = Metrics()
        for number in 0..<1000 {
            let failure = Failure(code: "code-\(number)", message: "")
            metrics.ended(ImageStatus(name: "a", state: .failed, error: failure))
        }
        let codes = metrics.failures.all
        #expect(codes.count <= 201)
        #expect(codes.values.reduce(0, +) == 1000)
    }

    @Test func saysWhatTheInboxHolds() throws {
        let metrics = Metrics()
        metrics.setInbox(isClaiming: false, counts: ["settling": 3, "unreadable": 1])
        let exposition = try read(metrics)
        #expect(try exposition.value("darkroom_inbox_files", ["reason": "settling"]) == 3)
        #expect(exposition.sum("darkroom_inbox_files") == 4)
        #expect(try exposition.value("darkroom_claiming") == 0)
    }

    // MARK: The file

    @Test func replacesItsFileWholeAndForAllToRead() async {
        // The mask is the whole process'.
        await #expect(processExitsWith: .success) {
            umask(0o077)
            let scratch = try ScratchDirectory()
            let path = scratch.path + "/darkroom.prom"
            try "before".write(toFile: path, atomically: false, encoding: .utf8)
            try MetricsFile.replace(path, with: Array("after\n".utf8))
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "after\n")
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o644)
            // The collector takes every file that ends in .prom.
            let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
            #expect(names == ["darkroom.prom"])
        }
    }

    @Test func namesWhatStandsInTheWay() throws {
        let scratch = try ScratchDirectory()
        do {
            try MetricsFile.replace(scratch.path + "/none/a.prom", with: [])
            Issue.record("written into a folder that is not there")
        } catch {
            #expect(error.message.hasPrefix(scratch.path + "/none: cannot open"))
        }
    }

    @Test func leavesNothingWhereAFolderHasItsName() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/darkroom.prom"
        try FileManager.default.makeFolder(atPath: path)
        let error = #expect(throws: FileError.self) { try MetricsFile.replace(path, with: [1]) }
        #expect(error?.errno == .isDirectory)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["darkroom.prom"])
    }

    @Test func writesAtItsInterval() throws {
        let scratch = try ScratchDirectory()
        let log = EventLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let time = ManualTime()
        let file = MetricsFile(log: log, time: time.source) { MetricsMoment() }
        func path(_ name: String) -> String { scratch.path + "/\(name).prom" }
        // Whether the file was written since this was last asked.
        func isWritten(_ name: String) -> Bool {
            file.pacer.queue.sync {}
            return (try? FileManager.default.removeItem(atPath: path(name))) != nil
        }
        file.update(MetricsFile.Target(path: path("a"), interval: 15))
        #expect(isWritten("a"))
        time.advance(by: 14.9)
        #expect(!isWritten("a"))
        time.advance(by: 0.2)
        #expect(isWritten("a"))
        file.update(MetricsFile.Target(path: path("a"), interval: 15))
        #expect(!isWritten("a"))
        // Another target is written at once, and the former one no more.
        file.update(MetricsFile.Target(path: path("b"), interval: 1))
        #expect(isWritten("b"))
        time.advance(by: 20)
        #expect(isWritten("b") && !isWritten("a"))
        file.update(nil)
        time.advance(by: 20)
        #expect(!isWritten("b") && !isWritten("a"))
    }

    @Test func writesAtItsStopThatItHasStopped() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/darkroom.prom"
        let log = EventLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let file = MetricsFile(log: log) { MetricsMoment() }
        file.update(MetricsFile.Target(path: path, interval: 3600))
        file.stop()
        let exposition = try Exposition(String(contentsOfFile: path, encoding: .utf8))
        #expect(try exposition.value("darkroom_up") == 0)
        #expect(try exposition.value("darkroom_claiming") == 0)
    }
}
