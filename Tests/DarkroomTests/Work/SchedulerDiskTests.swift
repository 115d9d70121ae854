import TestPictures
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest

/// Images on a disk that is really full.
@Suite(.enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
struct SchedulerDiskTests {
    private static let picture = Starfield.png(width: 80, height: 64, seed: 1)

    let disk: SmallDisk
    let fixture: SchedulerFixture
    let origin: FlakyOrigin

    init() throws {
        disk = try SmallDisk(kilobytes: 8192)
        fixture = try SchedulerFixture(spoolPath: disk.root.path) { $0.perHost = 16 }
        origin = try fixture.origin(picture: Self.picture) { _, _ in nil }
    }

    /// Images of pictures of the origin's, each used by so many, and one that is made of the first.
    private func manifest(images count: Int, sharing: Int) -> Manifest {
        var manifest = Manifest.of((0..<count).map { origin.source("\($0 / sharing)") })
        manifest.images.append(Manifest.Image(name: "made", origin: .image(0)))
        return manifest
    }

    /// Accepts a batch whose filters meet the full disk, their sources being there.
    private func meetFullDisk(images: Int, sharing: Int) async throws {
        fixture.holdOperations(downloads: false)
        try fixture.accept("a", manifest(images: images, sharing: sharing))
        let downloads = (8 + sharing - 1) / sharing
        try await fixture.wait(for: .imageDownloaded, count: downloads)
        try disk.fill(butFor: 0)
        fixture.releaseOperations()
        try await fixture.wait(for: .storageWaits)
        try await fixture.wait(for: "what runs to end") { fixture.scheduler.runningCount == 0 }
    }

    /// An image that met a full disk gives its source back, unless another image needs it, and has it fetched again.
    @Test(arguments: [1, 4]) func everyImageWaitsForSpace(sharing: Int) async throws {
        try await meetFullDisk(images: 60, sharing: sharing)
        let report = try #require(fixture.storage.report)
        #expect(report.code == "disk-full" && report.secondsBetweenAttempts == 1)
        let shown = try #require(fixture.shown("a"))
        #expect(shown.counts.failed == 0 && shown.counts.filtered < 61)
        // Where the disk stays full, nothing changes but the time between two tries.
        try await fixture.wait(for: "some tries") {
            fixture.time.advance(by: 1)
            return (fixture.storage.report?.secondsBetweenAttempts ?? 0) >= 8
        }
        #expect(fixture.shown("a")?.counts.failed == 0)
        disk.empty()
        try await fixture.finish()
        let status = try #require(try fixture.status("a"))
        #expect(status.state == .completed && status.counts.filtered == 61)
        #expect(status.waiting == nil)
        #expect(fixture.filtered.count == 61)
        if sharing == 1 { #expect(origin.requests.count > 60) }
    }

    @Test(arguments: [ControlCommand.cancel, .hold])
    func imagesThatWaitForTheDiskTakeCommands(command: ControlCommand) async throws {
        try await meetFullDisk(images: 20, sharing: 1)
        fixture.obey("a", command)
        disk.empty()
        try await fixture.finish()
        let status = try #require(try fixture.status("a"))
        if command == .cancel {
            #expect(status.state == .cancelled && status.counts.finished == 21)
        } else {
            #expect(status.state == .held)
            fixture.obey("a", .release)
            try await fixture.finish()
            #expect(try fixture.status("a")?.counts.filtered == 21)
        }
    }

    /// A stop does not wait for space, and the next start goes on.
    @Test func theNextStartGoesOn() async throws {
        try await meetFullDisk(images: 20, sharing: 1)
        fixture.scheduler.close()
        fixture.scheduler.stop(within: 60) {}
        disk.empty()
        let next = try SchedulerFixture(after: fixture)
        next.scheduler.accept(try next.recover("a"))
        try await next.finish()
        #expect(try next.status("a")?.state == .completed)
        #expect(try next.status("a")?.counts.filtered == 21)
    }
}
