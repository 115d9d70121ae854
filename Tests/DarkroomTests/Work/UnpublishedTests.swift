import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomPicture

/// Images without an output: others get their pixels, and nothing of them is left.
struct UnpublishedTests {
    /// A logo that is not published, a picture that is marked with it, one that is made of it, and one that has nothing
    /// to do with it.
    private static func manifest(
        _ output: OutputOptions = OutputOptions(), isPublished: Bool = false
    ) -> Manifest {
        Manifest(images: [
            .init(name: "logo", origin: .source("l"), output: output, isPublished: isPublished),
            .init(name: "a", origin: .source("a"), overlays: [0]),
            .init(name: "b", origin: .source("b"), overlays: [0]),
            .init(name: "c", origin: .image(0)),
            .init(name: "other", origin: .source("o")),
        ])
    }

    private static func pixels(_ fixture: SchedulerFixture) throws -> Set<String> {
        try fixture.activeFiles("x").filter { $0.hasPrefix("pixels-") || $0.hasPrefix("output-") }
    }

    private static func sums(_ status: Status) -> [String?] {
        status.images.dropFirst().map { $0.output?.sha256 }
    }

    /// Its pixels are the exact ones, with alpha, whatever its `output` says.
    @Test(arguments: [OutputOptions(), OutputOptions(format: .jpeg)])
    func itsPixelsAreThoseOfAPublishedImage(output: OutputOptions) async throws {
        let published = try await SchedulerFixture().complete(
            "x", Self.manifest(isPublished: true))
        let fixture = try SchedulerFixture()
        let status = try await fixture.complete("x", Self.manifest(output))
        #expect(status.state == .completed)
        #expect(Self.sums(status) == Self.sums(published))
        let logo = status.images[0]
        #expect(logo.state == .filtered && logo.published == false && logo.output == nil)
        #expect(logo.attempts == 1 && logo.error == nil)
        #expect(status.images.dropFirst().allSatisfy { $0.published == nil })
        let files = try fixture.outputIdentities("x").keys
        #expect(!files.contains { $0.hasPrefix("logo") })
    }

    /// It is filtered, so its errors are told, and nothing is kept.
    @Test func anImageThatNoneNeedsIsFiltered() async throws {
        let fixture = try SchedulerFixture()
        let origin = try fixture.origin()
        let manifest = Manifest(images: [
            .init(name: "good", origin: .source("g"), isPublished: false),
            .init(name: "bad", origin: .source("n"), isPublished: false),
            .init(name: "late", origin: .source(origin.source("s"))),
        ])
        try fixture.accept("x", manifest, missing: ["n"])
        try await fixture.wait(for: "two to end") { fixture.shown("x")?.counts.finished == 2 }
        #expect(try Self.pixels(fixture) == [])
        origin.release()
        try await fixture.finish()
        let status = try #require(try fixture.status("x"))
        #expect(status.images.map(\.state) == [.filtered, .failed, .filtered])
        #expect(status.images.map { $0.error?.code } == [nil, "source-missing", nil])
        #expect(status.images.map { $0.output?.file } == [nil, nil, "late.png"])
        #expect(status.images[1].published == false)
    }

    @Test func itsFailureIsThatOfItsUsers() async throws {
        let fixture = try SchedulerFixture()
        let status = try await fixture.complete("x", Self.manifest(), missing: ["l"])
        #expect(
            status.images.map { $0.error?.code }
                == ["source-missing"] + Array(repeating: "dependency-failed", count: 3) + [nil])
    }

    /// After a restart, and after a retry, its pixels are made again if an image still needs them, and are not recorded
    /// a second time.
    @Test(arguments: [[0], [0, 1, 2], [0, 1, 2, 3]]) func itIsFilteredAgainIfNeeded(
        filtered: [Int]
    ) async throws {
        let former = try SchedulerFixture()
        let before = try await former.complete("x", Self.manifest())
        let images = before.images
        let fixture = try SchedulerFixture()
        fixture.holdOperations()
        try fixture.accept(
            "x", Self.manifest(),
            journal: filtered.map { JournalRecord.ended(index: $0, images[$0]) }, outputs: former)
        #expect(fixture.shown("x")?.counts.filtered == filtered.count)
        fixture.releaseOperations()
        try await fixture.finish()
        let isNeeded = filtered.count < 4
        #expect(fixture.fetched.contains("logo") == isNeeded)
        #expect(!fixture.filtered.contains("logo"))
        let status = try #require(try fixture.status("x"))
        #expect(status.state == .completed && status.counts.filtered == 5)
        #expect(Self.sums(status) == Self.sums(before))
        #expect(status.images[0] == images[0])
    }
}
