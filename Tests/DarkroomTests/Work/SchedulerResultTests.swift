import Foundation
import TestPictures
import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomPicture
@testable import DarkroomSpool
@testable import DarkroomWork

/// Which images of a batch get their outputs from the store of results.
struct SchedulerResultTests {
    private let results: ResultFixture
    private let store: ResultStore

    init() throws {
        results = try ResultFixture()
        store = try results.open().store
    }

    /// What becomes of a batch: which images were copied, and the digests of all outputs.
    private struct Outcome: Equatable {
        var stored: [String]
        var sums: [String?]
    }

    /// Has a batch done in a spool of its own, with this store or without one.
    private func run(
        _ manifest: Manifest, owner: UInt32 = 1000, with store: ResultStore?,
        sources: [ByteString: [UInt8]] = [:], settings: (inout BatchSettings) -> Void = { _ in }
    ) async throws -> Outcome {
        let fixture = try SchedulerFixture(results: store, settings: settings)
        for (name, content) in sources { try fixture.setSource(name, content) }
        let status = try await fixture.complete("x", manifest, owner: owner)
        #expect(status.state == .completed)
        for image in status.images where image.state == .filtered {
            #expect((image.sourceSHA256 != nil) == (image.from == nil))
            #expect(image.settingsSHA256 != nil && image.versionsSHA256 != nil)
            guard let output = image.output else { continue }
            let bytes = try BatchFolders(spool: fixture.spool, id: "x").outputs()
                .read(FileName(output.file))
            #expect(SHA256Digest.hex(of: bytes) == output.sha256 && bytes.count == output.bytes)
        }
        return Outcome(
            stored: status.images.filter { $0.made == .stored }.map(\.name),
            sums: status.images.map { $0.output?.sha256 })
    }

    private static let variant = Manifest.Image.Variant(first: 0, count: 2, commonFilters: 0)

    /// Manifests, and the images that are copied when they are done again.
    private static let manifests: [(String, Manifest, [String])] = [
        ("one", Manifest(images: [.init(name: "a", origin: .source("s"))]), ["a"]),
        (
            "from and overlay",
            Manifest(images: [
                .init(name: "logo", origin: .source("l")),
                .init(name: "a", origin: .source("s"), overlays: [0]),
                .init(name: "b", origin: .image(1)),
            ]), ["logo", "a", "b"]
        ),
        (
            "lossy pixels for others",
            Manifest(images: [
                .init(name: "a", origin: .source("s"), output: OutputOptions(format: .jpeg)),
                .init(name: "b", origin: .image(0)),
            ]), ["b"]
        ),
        (
            "not published",
            Manifest(images: [
                .init(name: "logo", origin: .source("l"), isPublished: false),
                .init(name: "a", origin: .source("s"), overlays: [0]),
            ]), ["a"]
        ),
        (
            "variants",
            Manifest(images: [
                .init(name: "a", origin: .source("s"), variant: variant),
                .init(
                    name: "b", origin: .source("s"), output: OutputOptions(format: .jpeg),
                    variant: variant),
            ]), ["a", "b"]
        ),
        (
            "a page",
            Manifest(images: [.init(name: "a", origin: .source("s"))], wantsPage: true), []
        ),
    ]

    @Test(arguments: manifests)
    func theSameIsCopied(kind: String, manifest: Manifest, copied: [String]) async throws {
        let without = try await run(manifest, with: nil)
        let first = try await run(manifest, with: store)
        let second = try await run(manifest, with: store)
        #expect(without.stored == [] && first.stored == [])
        #expect(second.stored == copied)
        #expect(first.sums == without.sums && second.sums == without.sums)
    }

    private static func manifest(_ output: OutputOptions = OutputOptions()) -> Manifest {
        Manifest(images: [
            .init(name: "logo", origin: .source("l")),
            .init(name: "a", origin: .source("s"), overlays: [0], output: output),
        ])
    }

    /// Another of anything is made, and has the bytes that it has without a store.
    @Test(arguments: ["owner", "source", "overlay", "output", "limits"])
    func anotherIsMade(part: String) async throws {
        let one = Self.manifest()
        _ = try await run(one, with: store)
        let other = Starfield.png(width: 5, height: 5, seed: 2)
        let manifest = part == "output" ? Self.manifest(OutputOptions(format: .jpeg)) : one
        let sources: [ByteString: [UInt8]] =
            switch part {
            case "source": ["s": other]
            case "overlay": ["l": Starfield.png(width: 2, height: 2, seed: 2)]
            default: [:]
            }
        let owner: UInt32 = part == "owner" ? 1001 : 1000
        let change: (inout BatchSettings) -> Void = {
            if part == "limits" { $0.pictureLimits.pixels = 1000 }
        }
        let made = try await run(
            manifest, owner: owner, with: store, sources: sources, settings: change)
        #expect(!made.stored.contains("a"))
        let plain = try await run(
            manifest, owner: owner, with: nil, sources: sources, settings: change)
        #expect(made.sums == plain.sums)
        // What it has made is there for the next one.
        let again = try await run(
            manifest, owner: owner, with: store, sources: sources, settings: change)
        #expect(again.stored == ["logo", "a"] && again.sums == made.sums)
    }

    /// Only the variant that is missing is made.
    @Test func aMissingVariantIsMade() async throws {
        let manifest = Self.manifests[4].1
        let single = Manifest(images: [
            .init(name: "b", origin: .source("s"), output: OutputOptions(format: .jpeg))
        ])
        _ = try await run(single, with: store)
        let outcome = try await run(manifest, with: store)
        #expect(outcome.stored == ["b"])
        #expect(outcome.sums == (try await run(manifest, with: nil)).sums)
    }

    /// The results of a batch with a page are kept for others.
    @Test func aBatchWithAPageFillsTheStore() async throws {
        var manifest = Self.manifests[5].1
        _ = try await run(manifest, with: store)
        manifest.wantsPage = nil
        #expect(try await run(manifest, with: store).stored == ["a"])
    }

    @Test func aFailureIsNotKept() async throws {
        let fixture = try SchedulerFixture(results: store)
        try fixture.setSource("s", Array("\u{89}PNG\r\n\u{1A}\n nothing".utf8))
        try await fixture.complete("x", Self.manifests[0].1)
        #expect(try fixture.image("a", of: "x").state == .failed)
        #expect(store.report?.count == 0)
    }
}
