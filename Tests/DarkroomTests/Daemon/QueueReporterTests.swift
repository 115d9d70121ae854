import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomConfiguration
@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomSpool
@testable import DarkroomWork

/// When `queue.json` is written, and what it says of the daemon and its batches.
struct QueueReporterTests {
    private static let limits = QueueReport.Limits(
        manifestBytes: 1, images: 2, filters: 3, defaultFilters: "[]", defaultProfile: .p3,
        sourceRoots: ["/a"],
        readableRoots: ["/a"], service: .init(unit: "darkroomd", hidesHomes: true),
        sourceBytes: 4, downloads: .init(proxy: "http://p", caFile: "/c"),
        pictures: .init(pixels: 5, memory: 6, cores: 7, confine: .all), recipesFolder: "/r",
        recipesOnly: true,
        inboxRecipe: "web", ignoredSources: ["*.bak"])

    /// A reporter with a scheduler in whose time it lives.
    private final class Stage {
        let base: SchedulerFixture
        let reporter: QueueReporter

        init(board: Board.Bounds = Board.Bounds(), spoolPath: String? = nil) throws {
            base = try SchedulerFixture(board: board, spoolPath: spoolPath)
            reporter = QueueReporter(
                spool: base.spool, scheduler: base.scheduler, log: base.scheduler.log,
                time: base.time.source
            ) { QueueReporterTests.limits }
            base.scheduler.onProgress { [reporter] in reporter.progressed() }
        }

        /// What is in the file when everything that was asked for has been written.
        func report() throws -> QueueReport {
            reporter.queue.sync {}
            return try JSONDecoder().decode(
                QueueReport.self, from: Data(base.spool.root.read("queue.json")))
        }

        func identity() throws -> FileIdentity? {
            reporter.queue.sync {}
            return try base.spool.root.information(of: "queue.json").map { FileIdentity($0) }
        }
    }

    // MARK: The daemon

    @Test func tellsWhatTheDaemonDoes() throws {
        let stage = try Stage()
        stage.reporter.start(isPaused: false)
        let first = try stage.report()
        #expect(first.state == .running && first.limits == Self.limits && first.waiting == nil)
        #expect(first.daemon.process == getpid() && first.daemon.uid == geteuid())
        #expect(first.daemon.version == Release.version && first.batches.isEmpty)
        let scheduler = stage.base.scheduler
        scheduler.suspend()
        stage.reporter.stateChanged()
        // A kill could still undo it.
        #expect(try stage.report().state == .running)
        stage.reporter.marked(isPaused: true)
        #expect(try stage.report().state == .paused)
        // A disk that refuses matters more.
        stage.base.storage.writeRefused(FileError(.write, "/s/x", .noSpace))
        stage.reporter.stateChanged()
        let waiting = try stage.report()
        #expect(waiting.state == .waiting && waiting.waiting?.code == "disk-full")
        // Nothing is there to be tried.
        stage.base.time.advance(by: 2)
        #expect(stage.base.storage.mayWork)
        scheduler.resume()
        stage.reporter.marked(isPaused: false)
        #expect(try stage.report().state == .running)
        scheduler.close()
        stage.reporter.stateChanged()
        #expect(try stage.report().state == .stopping)
        #expect(QueueReport.tellsOfCrash(in: stage.base.spool.root))
        stage.reporter.end()
        #expect(try stage.report().state == .stopped)
        #expect(!QueueReport.tellsOfCrash(in: stage.base.spool.root))
        // It is the last word.
        let last = try stage.identity()
        stage.reporter.stateChanged()
        stage.reporter.progressed()
        stage.base.time.advance(by: 100)
        #expect(try stage.identity() == last)
    }

    @Test(arguments: ["", "{", "[]"]) func takesABrokenReportForACrash(text: String) throws {
        let scratch = try ScratchDirectory()
        let root = try Directory(path: scratch.path)
        #expect(!QueueReport.tellsOfCrash(in: root))
        try root.write(Array(text.utf8), to: "queue.json", durably: false)
        #expect(QueueReport.tellsOfCrash(in: root))
    }

    // MARK: Times

    @Test func writesOnceASecondAndEveryTenSeconds() throws {
        let stage = try Stage()
        let time = stage.base.time
        stage.reporter.start(isPaused: false)
        let first = try stage.identity()
        stage.reporter.progressed()
        stage.reporter.progressed()
        stage.reporter.queue.sync {}
        time.advance(by: 0.9)
        #expect(try stage.identity() == first)
        time.advance(by: 0.1)
        let second = try stage.identity()
        #expect(second != first)
        // Nothing has changed since, but the daemon lives.
        time.advance(by: 9)
        #expect(try stage.identity() == second)
        time.advance(by: 1)
        let third = try stage.identity()
        #expect(third != second)
        time.advance(by: 10)
        #expect(try stage.identity() != third)
        // After some rest a change is written at once.
        time.advance(by: 5)
        let fourth = try stage.identity()
        stage.reporter.progressed()
        stage.reporter.queue.sync {}
        time.advance(by: 0)
        #expect(try stage.identity() != fourth)
    }

    /// What takes long is written seldom: a hundredth of the time at most.
    @Test func takesLittleTime() throws {
        let stage = try Stage()
        let time = stage.base.time
        time.step = 0.05
        stage.reporter.start(isPaused: false)
        let first = try stage.identity()
        time.step = 0
        stage.reporter.progressed()
        stage.reporter.queue.sync {}
        time.advance(by: 4)
        #expect(try stage.identity() == first)
        time.advance(by: 2)
        #expect(try stage.identity() != first)
    }

    // MARK: Batches

    @Test func listsWhatIsInWorkFirst() async throws {
        let stage = try Stage(board: Board.Bounds(imageBudget: 10))
        let base = stage.base
        base.holdOperations()
        try base.accept("held", images: 1)
        base.obey("held", .hold)
        try await base.wait(for: "it to be put away") {
            base.board { $0.waitingBatches.heldCount == 1 && $0.batches.isEmpty }
        }
        try base.accept("busy", images: 9)
        try base.accept("second", images: 9, priority: .low)
        try base.accept("third", images: 9, owner: 1001)
        stage.reporter.start(isPaused: false)
        var report = try stage.report()
        #expect(report.batches.map(\.id).first == "busy")
        #expect(report.batches.first?.state == .processing)
        #expect(Set(report.batches.map(\.id)) == ["busy", "held", "second", "third"])
        #expect(report.batches.first { $0.id == "second" }?.priority == .low)
        #expect(report.batches.first { $0.id == "held" }?.state == .held)
        #expect(report.batches.first { $0.id == "busy" }?.uid == 1000)
        let counts = report.counts
        #expect(counts.processing + counts.pending + counts.held == 4 && counts.held == 1)
        #expect(report.images == Status.Counts(new: 28))
        #expect(report.batches.allSatisfy { $0.waiting == nil })
        base.scheduler.suspend()
        stage.reporter.marked(isPaused: true)
        report = try stage.report()
        #expect(report.batches.first?.waiting == "paused")
        for batch in report.batches {
            #expect(batch.waiting == (batch.state == .processing ? "paused" : nil), "\(batch)")
        }
        base.scheduler.resume()
        base.releaseOperations()
        base.obey("held", .cancel)
        try await base.finish()
        stage.reporter.stateChanged()
        report = try stage.report()
        #expect(report.batches.isEmpty && report.images == Status.Counts())
        #expect(report.counts == QueueReport.Counts() && report.imagesPerSecond == nil)
    }

    @Test func listsAThousandAtMost() throws {
        let stage = try Stage(board: Board.Bounds(imageBudget: 10))
        let base = stage.base
        base.holdOperations()
        // Without their folders, which nothing asks for here.
        let manifest = Manifest(images: [Manifest.Image(name: "i", origin: .source("s"))])
        for index in 0..<1010 {
            let status = Status(
                id: "\(index)", manifest: .init(name: "", file: nil, sha256: nil, bytes: 0),
                state: .pending, times: .init(received: Clock.timestamp),
                counts: Status.Counts(new: 1), images: ImageStatus.initial(of: manifest))
            base.scheduler.accept(
                PreparedBatch(
                    id: "\(index)", manifest: manifest,
                    status: status))
        }
        stage.reporter.start(isPaused: false)
        let report = try stage.report()
        #expect(report.batches.count == QueueReport.capacity)
        #expect(report.images.total == 1010)
        // In the order of their arrival behind those in work.
        let pending = report.batches.filter { $0.state == .pending }.compactMap { Int($0.id) }
        #expect(pending == pending.sorted() && pending.count > 900)
    }

    @Test func showsRates() async throws {
        // It does not come, so its batch stays in work.
        let origin = try FlakyOrigin(picture: SchedulerFixture.picture) { _, _ in .held }
        let stage = try Stage()
        let base = stage.base
        try base.accept("slow", origin: origin)
        try await base.wait(for: "the request") { origin.requests.count == 1 }
        stage.reporter.start(isPaused: false)
        #expect(try stage.report().imagesPerSecond == nil)
        try base.accept("a", images: 20)
        try await base.wait(for: .batchFinished)
        base.time.advance(by: 5)
        stage.reporter.stateChanged()
        let report = try stage.report()
        #expect(report.imagesPerSecond == 4 && report.batches.map(\.id) == ["slow"])
        #expect(try #require(report.bytesPerSecond) > 0)
        // Nothing ends while nothing may begin.
        base.scheduler.suspend()
        stage.reporter.marked(isPaused: true)
        let paused = try stage.report()
        #expect(paused.imagesPerSecond == nil && paused.bytesPerSecond == nil)
    }

    // MARK: The file

    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
    func isWrittenOnAFullDisk() throws {
        let disk = try SmallDisk(kilobytes: 8192)
        let stage = try Stage(board: Board.Bounds(imageBudget: 10), spoolPath: disk.root.path)
        stage.reporter.start(isPaused: false)
        stage.base.holdOperations()
        for index in 0..<200 { try stage.base.accept("\(index)", images: 1) }
        #expect(try stage.report().batches.isEmpty)
        try disk.fill(butFor: 0)
        stage.base.scheduler.suspend()
        stage.reporter.marked(isPaused: true)
        for _ in 0..<3 {
            stage.reporter.stateChanged()
            let report = try stage.report()
            #expect(report.state == .paused && report.batches.count == 8)
            #expect(report.images.total == 200)
        }
        #expect(stage.base.journal.all(.reportFailed).isEmpty)
        disk.empty()
        stage.reporter.stateChanged()
        #expect(try stage.report().batches.count == 200)
    }

    /// It is told of once, and tried again.
    @Test func saysOnceThatItCannotBeWritten() throws {
        let stage = try Stage()
        let root = stage.base.spool.root
        try root.makeDirectory("queue.json")
        stage.reporter.start(isPaused: false)
        for _ in 0..<3 {
            stage.reporter.queue.sync {}
            stage.base.time.advance(by: 5)
        }
        stage.reporter.queue.sync {}
        let told = stage.base.journal.all(.reportFailed)
        #expect(told.count == 1)
        #expect(told.first?.message.hasPrefix("queue.json is not up to date: ") == true)
        #expect(stage.base.storage.mayWork)
        try root.removeDirectory("queue.json")
        stage.base.time.advance(by: 5)
        #expect(try stage.report().state == .running)
    }

    /// Every key that a report can have is described in the schema, and the schema has no other.
    @Test func agreesWithItsSchema() throws {
        let time = "2026-11-21T08:00:00.000Z"
        var full = QueueReport(
            written: time, state: .waiting,
            waiting: .init(code: "disk-full", message: "m", since: time),
            daemon: .init(version: "1", process: 1, started: time, uid: 0), limits: Self.limits)
        let schema = try JSONSchema(file: "queue.schema.json")
        let members = schema.members
        let least = try JSONSchema.paths(of: full.encoded()).filter { !$0.contains(".") }
        #expect(least.subtracting(["waiting"]) == schema.required)
        full.imagesPerSecond = 1
        full.bytesPerSecond = 1
        full.results = .init(count: 1, bytes: 2, hits: 3, misses: 4, savedBytes: 5)
        var batch = QueueReport.Batch(
            id: "x", state: .held, priority: .normal, uid: 1, received: time,
            counts: Status.Counts())
        batch.secondsLeft = 1
        batch.waiting = "paused"
        full.batches = [batch]
        full.unresumed = [.init(id: "y", code: "c", message: "m", since: time)]
        #expect(try JSONSchema.paths(of: full.encoded()) == Set(members.keys))
        #expect(
            members["state"]?["enum"] as? [String] == QueueReport.State.allCases.map(\.rawValue))
        #expect(members["batches"]?["maxItems"] as? Int == QueueReport.capacity)
        #expect(
            members["batches.state"]?["enum"] as? [String]
                == BatchState.allCases.filter { !$0.isFinal }.map(\.rawValue))
    }

    // MARK: Limits

    @Test func tellsWhichRootsTheServiceSees() throws {
        let loaded = try ConfigurationLoader(
            overrides: [
                ("sources.roots", "[/srv/photos, /home/anna]"), ("manifests.maxImages", "5"),
                ("manifests.defaultFilters", "[{blur: {sigma: 2}}]"),
            ], environment: [:]
        ).loadAll()
        let all = loaded.queueLimits(seenBy: nil)
        #expect(all.sourceRoots == ["/srv/photos", "/home/anna"])
        #expect(all.readableRoots == all.sourceRoots)
        #expect(all.images == 5 && all.defaultFilters == "[{blur: {sigma: 2}}]")
        #expect(all.manifestBytes == 64 << 20 && all.filters == 64 && all.sourceBytes == 256 << 20)
        #expect(all.service == nil)
        let view = ServiceView(
            unit: "darkroomd", hidesHomes: true, folders: [("/srv", .reading)])
        let seen = loaded.queueLimits(seenBy: view)
        #expect(seen.readableRoots == ["/srv/photos"])
        #expect(seen.service == .init(unit: "darkroomd", hidesHomes: true))
    }

    /// All that decides whether a source would be refused, and no secret.
    @Test func tellsTheRulesForDownloads() throws {
        let defaults = try ConfigurationLoader(overrides: [], environment: [:]).loadAll()
        #expect(defaults.queueLimits(seenBy: nil).downloads == QueueReport.Limits.Downloads())
        let limits = try ConfigurationLoader(
            overrides: [
                ("downloads.allowNetworks", "[10.0.0.0/8, '::1']"),
                ("downloads.allowHosts", "['*.example.org', '[::1]']"),
                ("downloads.denyHosts", "[bad.example.org]"), ("downloads.redirects", "2"),
                ("downloads.connectTimeout", "1.5s"), ("downloads.timeout", "1min"),
                ("downloads.stallTime", "7s"), ("downloads.stallRate", "2KiB"),
                ("downloads.maxHeaderBytes", "8KiB"), ("pictures.maxPixels", "1000"),
                ("downloads.proxy", "http://ann:secret@proxy:3128"), ("limits.memory", "1GiB"),
            ], environment: [:]
        ).loadAll().queueLimits(seenBy: nil)
        #expect(
            limits.downloads
                == QueueReport.Limits.Downloads(
                    allowNetworks: ["10.0.0.0/8", "::1/128"],
                    allowHosts: ["*.example.org", "[::1]"], denyHosts: ["bad.example.org"],
                    redirects: 2, connectTimeout: 1.5, timeout: 60, stallTime: 7, stallRate: 2048,
                    maxHeaderBytes: 8192, proxy: "http://proxy:3128"))
        // An eighth is kept for owners with nothing in work.
        #expect(limits.pictures.pixels == 1000 && limits.pictures.memory == 7 << 27)
        #expect(limits.pictures.cores == ProcessInfo.processInfo.activeProcessorCount)
        #expect(limits.pictures.confine == .others)
    }
}
