import TestPictures
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomWork

/// Local sources that change between the step that finds them and the filter.
struct SchedulerSourceTests {
    private static let old = SchedulerFixture.picture
    private static let new = Starfield.png(width: 5, height: 2, seed: 2)
    /// More than is kept.
    private static let large = PNGMaker.noise(width: 200, height: 200, colourType: .rgb, depth: 8)
        .encoded

    enum Change: Sendable {
        case nothing, replaced, removed, grown, shrunk, isText
        /// The root of the file is no root any more.
        case rootTakenAway

        func make(in fixture: SchedulerFixture, to source: [UInt8]) throws {
            switch self {
            case .nothing: break
            case .replaced: try fixture.setSource("s0", SchedulerSourceTests.new)
            case .removed: try fixture.setSource("s0", nil)
            case .grown: try fixture.setSource("s0", source + [1, 2, 3])
            case .shrunk: try fixture.setSource("s0", Array(source.dropLast(20)))
            case .isText: try fixture.setSource("s0", Array("text".utf8))
            case .rootTakenAway:
                var settings = fixture.scheduler.settings
                settings.localSources.roots = ["/nowhere"]
                fixture.scheduler.update(settings)
            }
        }
    }

    struct Case: Sendable {
        var isLarge = false
        let change: Change
        /// How long the image waits for its filter after that, in seconds.
        var wait = 0.0
        /// The error; nil if the image is made.
        var code: String?
        /// Of what it is made.
        var isNew = false
    }

    static let late = Double(FoundContents.lifetime) / 1e9 + 1

    static let cases = [
        // A small one is made of what was found.
        Case(change: .nothing), Case(change: .replaced), Case(change: .removed),
        Case(change: .grown), Case(change: .shrunk), Case(change: .isText),
        Case(change: .rootTakenAway, code: "source-missing"),
        // After some time, of what is there.
        Case(change: .nothing, wait: late),
        Case(change: .replaced, wait: late, isNew: true),
        Case(change: .removed, wait: late, code: "source-missing"),
        Case(change: .shrunk, wait: late, code: "png-truncated"),
        Case(change: .isText, wait: late, code: "not-a-picture"),
        // A large one always.
        Case(isLarge: true, change: .nothing),
        Case(isLarge: true, change: .replaced, isNew: true),
        Case(isLarge: true, change: .removed, code: "source-missing"),
        Case(isLarge: true, change: .shrunk, code: "png-truncated"),
        Case(isLarge: true, change: .isText, code: "not-a-picture"),
        Case(isLarge: true, change: .rootTakenAway, code: "source-missing"),
    ]

    @Test(arguments: cases) func isMadeOf(_ entry: Case) async throws {
        let source = entry.isLarge ? Self.large : Self.old
        let fixture = try SchedulerFixture()
        try fixture.setSource("s0", source)
        fixture.holdOperations(downloads: false)
        try fixture.accept("a", images: 1)
        try await fixture.wait(for: .imageDownloaded)
        try entry.change.make(in: fixture, to: source)
        fixture.time.advance(by: entry.wait)
        fixture.releaseOperations()
        // Time stands still until the filter has ended.
        try await fixture.wait(for: entry.code == nil ? .imageFiltered : .imageFailed)
        try await fixture.finish()
        let image = try fixture.image("i0", of: "a")
        #expect(image.error?.code == entry.code)
        let used = entry.isNew ? Self.new : source
        #expect(image.sourceSHA256 == (entry.code == nil ? SHA256Digest.hex(of: used) : nil))
        #expect(fixture.scheduler.foundContents.bytes == 0)
    }

    /// The first of them gets what was found, the others open the file.
    @Test func severalImagesOfOneSourceAreAllMade() async throws {
        let fixture = try SchedulerFixture()
        let status = try await fixture.complete("a", .of(Array(repeating: "s0", count: 5)))
        #expect(fixture.fetched.count == 1)
        let digest = SHA256Digest.hex(of: Self.old)
        #expect(status.images.allSatisfy { $0.sourceSHA256 == digest })
        #expect(fixture.scheduler.foundContents.bytes == 0)
    }

    /// Nothing stays of images whose filters never begin.
    @Test(arguments: [ControlCommand.cancel, .hold])
    func nothingIsKeptOfABatchThatDoesNotGoOn(command: ControlCommand) async throws {
        let fixture = try SchedulerFixture(window: 8)
        fixture.holdOperations(downloads: false)
        try fixture.accept("a", images: 8)
        try await fixture.wait(for: .imageDownloaded, count: 8)
        #expect(fixture.scheduler.foundContents.bytes == 8 * FoundContents.leastCount)
        fixture.obey("a", command)
        try await fixture.wait(for: "it to be put away") {
            fixture.scheduler.foundContents.bytes == 0
        }
        fixture.releaseOperations()
        if command == .hold { fixture.obey("a", .release) }
        try await fixture.finish()
        #expect(try fixture.finished == ["a": command == .hold ? .completed : .cancelled])
        #expect(fixture.scheduler.foundContents.bytes == 0)
    }

    /// What fails at once is not kept.
    @Test func nothingIsKeptOfWhatIsNoPicture() async throws {
        let fixture = try SchedulerFixture()
        fixture.holdOperations(downloads: false)
        for (source, content) in [("s0", Array("text".utf8)), ("s1", [])] {
            try fixture.setSource(ByteString(source), content)
        }
        try fixture.accept("a", images: 3, missing: ["s2"])
        try await fixture.wait(for: .imageFailed, count: 3)
        #expect(fixture.scheduler.foundContents.bytes == 0)
        try await fixture.finish()
        #expect(
            try fixture.status("a")?.images.map(\.error?.code) == [
                "not-a-picture", "not-a-picture", "source-missing",
            ])
    }
}
