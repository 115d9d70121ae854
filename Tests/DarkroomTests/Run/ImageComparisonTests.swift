import Foundation
import Glibc
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomRun

/// The table in `ImageComparison`, line by line. The former run has filtered `a` and made `b` from it.
struct ImageComparisonTests {
    private static let text =
        "images: {a: a.png, b: {from: a, filters: flip}, c: {source: c.png, filters: mono}}\n"

    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
        for name in ["a.png", "c.png"] { try write("one \(name)", to: name) }
    }

    private func write(_ text: String, to name: String) throws {
        try scratch.write(text, to: name)
        // Long ago.
        let old = timespec(tv_sec: 1_700_000_000, tv_nsec: 5)
        #expect(utimensat(AT_FDCWD, "\(scratch.path)/\(name)", [old, old], 0) == 0)
    }

    private func manifest(_ text: String = text) throws -> Manifest {
        try ManifestReader.read(
            Array(text.utf8), format: .yaml, limits: ManifestLimits(), defaultFilters: [])
    }

    private func information(of name: String) -> stat {
        var information = stat()
        #expect(stat("\(scratch.path)/\(name)", &information) == 0)
        return information
    }

    private func former() throws -> Status {
        let manifest = try manifest()
        var status = Status(
            id: "x", manifest: .init(name: "x", file: nil, sha256: nil, bytes: 0),
            state: .completed,
            times: .init(
                received: "", started: Clock.timestamp(.now.addingTimeInterval(60)),
                finished: Clock.timestamp(.now.addingTimeInterval(60))),
            images: ImageStatus.initial(of: manifest))
        status.versions = [.present]
        for index in status.images.indices {
            let name = status.images[index].name
            status.images[index].state = .filtered
            status.images[index].attempts = 1
            status.images[index].output = .init(
                file: "\(name).png", format: .png, sha256: "00", bytes: 1, width: 1, height: 1,
                depth: 8, channels: 3)
            status.images[index].settingsSHA256 = manifest.settingsSHA256(of: index)
            status.images[index].versionsSHA256 = PictureVersions.presentSHA256(of: .png)
            guard name != "b" else { continue }
            status.images[index].sourceSHA256 = SHA256Digest.hex(of: Array("one \(name).png".utf8))
            status.images[index].sourceIdentity =
                SourceIdentity(information(of: "\(name).png")).text
        }
        return status
    }

    private func compare(
        _ status: Status, _ manifest: Manifest? = nil, isSame: Bool = true, retries: Bool = false,
        prunes: Bool = false, readsAll: Bool = false, missing: [Int] = [], fresh: Set<Int> = []
    ) throws -> ImageComparison.Result {
        var comparison = ImageComparison(
            sources: LocalSources(relativeTo: scratch.path, maximumBytes: .max), former: status,
            isSameManifest: isSame, retries: retries, prunes: prunes, readsAll: readsAll,
            remote: nil)
        comparison.fresh = fresh
        let manifest = try manifest ?? self.manifest()
        return try #require(
            try comparison.compare(manifest) { _ throws(RunError) in missing })
    }

    private func words(_ result: ImageComparison.Result) -> String {
        result.verdicts.map { verdict in
            switch verdict {
            case .stands: "="
            case .standsAlone(.gone): "alone"
            case .standsAlone(let reason): reason.rawValue
            case .made(let reason): reason.rawValue
            }
        }.joined(separator: " ")
    }

    @Test func whatIsUnchangedStands() throws {
        let status = try former()
        let result = try compare(status)
        #expect(words(result) == "= = =")
        #expect(result.images == status.images)
        #expect(!result.isAmended)
        #expect(RunChanges(result) == RunChanges(kept: 3))
    }

    /// What is done to the file of `a`, by a shell in its folder, and what follows.
    @Test(
        arguments: [
            ("printf 'two a.png' > a.png", "source-changed needed-changed =", false),
            // Of the same size, with the time set back: only ctime shows it.
            (
                "cp -p a.png t; printf 'ONE a.png' > a.png; touch -r t a.png",
                "source-changed needed-changed =", false
            ),
            ("touch a.png", "= = =", true),
            ("chmod 600 a.png", "= = =", true),
            ("cp a.png n; mv n a.png", "= = =", true),
            ("printf 'new a.png' > n; mv n a.png", "source-changed needed-changed =", false),
            ("mv a.png n; ln -s n a.png", "= = =", true),
            ("printf other > n; rm a.png; ln -s n a.png", "source-changed needed-changed =", false),
            ("rm a.png", "alone = =", false),
            // What cannot be looked at has not changed for sure.
            ("rm a.png; mkdir a.png", "source-unreadable = =", false),
            ("rm a.png; ln -s a.png a.png", "source-unreadable = =", false),
            ("rm a.png; ln -s away/a.png a.png", "source-unreadable = =", false),
        ] as [(String, String, Bool)])
    func aSourceIsLookedAt(command: String, expected: String, isAmended: Bool) async throws {
        let status = try former()
        try scratch.shell(command)
        let result = try compare(status)
        #expect(words(result) == expected)
        #expect(result.isAmended == isAmended)
    }

    /// A file that has just been changed could be changed again without a sign, so it is read the next time, too.
    @Test func aFreshFileIsReadAgain() throws {
        var status = try former()
        status.images[0].sourceIdentity = nil
        let result = try compare(status)
        #expect(words(result) == "= = =")
        #expect(result.images[0].sourceIdentity == nil)
        let now = information(of: "a.png")
        #expect(SourceIdentity(settled: now, at: now.statusChanged + 1) == nil)
        #expect(SourceIdentity(settled: now, at: now.statusChanged + 2.5)?.text != nil)
    }

    @Test func aSourceThatIsGoneIsMadeToFailOnRequest() throws {
        let status = try former()
        try scratch.remove("c.png")
        #expect(try RunChanges(compare(status)).alone == [.gone: ["c"]])
        #expect(words(try compare(status, prunes: true)) == "= = source-gone")
    }

    @Test(arguments: [
        (
            "images: {a: a.png, b: {from: a, filters: flop}, c: {source: c.png, filters: mono}}",
            "= settings-changed ="
        ),
        (
            "images: {c: {source: c.png, filters: mono}, b: {from: a, filters: flip}, a: a.png}",
            "= = ="
        ),
        (
            "images: {a: {source: a.png, filters: mono}, b: {from: a, filters: flip}}",
            "settings-changed needed-changed"
        ),
        ("images: {a: a.png, b: {from: a, filters: flip}, d: c.png}", "= = new"),
        // Another path to the same bytes.
        ("images: {a: ./a.png, b: {from: a, filters: flip}}", "= ="),
        ("images: {a: c.png, b: {from: a, filters: flip}}", "source-changed needed-changed"),
        ("images: {a: {source: a.png, output: {format: jpeg}}}", "settings-changed"),
    ]) func anotherManifestIsComparedImageByImage(text: String, expected: String) throws {
        let result = try compare(former(), manifest(text + "\n"), isSame: false)
        #expect(words(result) == expected)
    }

    /// An older version has noted less.
    @Test func withoutNotesTheManifestDecides() throws {
        var status = try former()
        for index in status.images.indices {
            status.images[index].settingsSHA256 = nil
            status.images[index].versionsSHA256 = nil
            status.images[index].sourceIdentity = nil
        }
        let result = try compare(status)
        #expect(words(result) == "= = =" && result.isAmended)
        #expect(try words(compare(status, isSame: false)).hasPrefix("settings-changed"))
        status.versions = [PictureVersions.present, Self.older]
        #expect(words(try compare(status)) == "version-changed version-changed version-changed")
        status.images[0].sourceSHA256 = nil
        status.versions = [.present]
        #expect(words(try compare(status)) == "source-changed needed-changed =")
    }

    private static let older = PictureVersions(
        darkroom: "0.0.1", libpng: "1", libjpegTurbo: "1", zlib: "1", libdeflate: "1")

    @Test func anotherVersionMakesItsImagesAgain() throws {
        var status = try former()
        status.images[2].versionsSHA256 = Self.older.sha256(of: .png)
        #expect(words(try compare(status)) == "= = version-changed")
        // Those of its images count, and not those of the batch.
        status = try former()
        status.versions = [Self.older]
        #expect(words(try compare(status)) == "= = =")
    }

    @Test func aMissingOutputIsMadeAgainAlone() throws {
        #expect(words(try compare(former(), missing: [0])) == "output-missing = =")
    }

    @Test(arguments: [ImageState.new, .downloading, .filtering, .cancelled])
    func whatHadNotEndedIsMade(state: ImageState) throws {
        var status = try former()
        status.images[0].state = state
        let result = try compare(status)
        #expect(words(result) == "unfinished needed-changed =")
        #expect(result.images[0].state == .new && result.images[0].attempts == 1)
        #expect(result.images[0].output == nil)
    }

    @Test func aFailedImageIsRepeatedIfSomethingHasChanged() throws {
        var status = try former()
        status.images[2].state = .failed
        status.images[2].output = nil
        status.images[2].error = Failure(code: "png-crc", message: "m")
        #expect(words(try compare(status)) == "= = =")
        #expect(words(try compare(status, retries: true)) == "= = retry")
        // Without an identity, the times tell it.
        status.images[2].sourceIdentity = nil
        status.images[2].times = .init(filtering: .init(milliseconds: 1_600_000_000_000))
        #expect(words(try compare(status)) == "= = source-changed")
        status.images[2].times = nil
        status.images[2].error = Failure(code: "source-missing", message: "m")
        #expect(words(try compare(status)) == "= = source-changed")
        try scratch.remove("c.png")
        #expect(words(try compare(status)) == "= = =")
        status.images[2].settingsSHA256 = "other"
        #expect(words(try compare(status)) == "= = settings-changed")
    }

    /// A corrected manifest names another file, which may be older than the attempt.
    @Test(arguments: [
        ("images: {c: {source: a.png, filters: mono}}", "source-changed"),
        ("images: {c: {source: c.png, filters: mono}}", "="),
    ]) func aFailedImageIsRepeatedWithAnotherSource(text: String, expected: String) throws {
        var status = try former()
        status.images[2].state = .failed
        status.images[2].output = nil
        status.images[2].error = Failure(code: "png-crc", message: "m")
        #expect(words(try compare(status, manifest(text), isSame: false)) == expected)
        status.images[2].sourceIdentity = "1-2-3-4.5-6.7"
        #expect(words(try compare(status, manifest(text), isSame: false)) == "source-changed")
    }

    /// Whatever else has changed, what is gone cannot be made again.
    @Test func aSourceIsLookedAtBeforeTheSettings() throws {
        let others = try manifest(
            "images: {a: {source: a.png, filters: mono}, b: {from: a, filters: flop}, c: {source: c.png, filters: flip}}"
        )
        var status = try former()
        for index in 0..<3 { status.images[index].versionsSHA256 = "other" }
        try scratch.remove("c.png")
        let result = try compare(status, others, isSame: false)
        // The output of `a` has its pixels.
        #expect(words(result) == "settings-changed settings-changed alone")
        #expect(result.images[2] == status.images[2])
        try scratch.remove("a.png")
        #expect(words(try compare(status, others, isSame: false)) == "alone settings-changed alone")
    }

    @Test func whatIsMadeOfPixelsThatAreGoneStands() throws {
        let text =
            "images: {a: {source: a.png, publish: false}, b: {from: a, filters: flip}, c: {source: c.png, filters: mono}}\n"
        var status = try former()
        status.images[0].output = nil
        let first = try manifest(text)
        for index in 0..<3 {
            status.images[index].settingsSHA256 = first.settingsSHA256(of: index)
        }
        try scratch.remove("a.png")
        let changed = try manifest(text.replacing("flip", with: "flop"))
        #expect(words(try compare(status, changed, isSame: false)) == "alone needed-stands =")
        #expect(
            words(try compare(status, changed, isSame: false, prunes: true))
                == "source-gone settings-changed =")
        // There is no result that could stand.
        #expect(
            words(try compare(status, changed, isSame: false, missing: [1]))
                == "alone settings-changed =")
    }

    /// An empty mount point looks like this.
    @Test func allSourcesAreNotGoneAtOnce() throws {
        let status = try former()
        for name in ["a.png", "c.png"] {
            try scratch.remove(name)
        }
        let result = try compare(status, prunes: true)
        #expect(words(result) == "alone = alone" && result.keepsAll)
        try write("one c.png", to: "c.png")
        #expect(!(try compare(status, prunes: true)).keepsAll)
        // A source that nobody has found proves nothing: that of an image that failed, or had not ended.
        try scratch.remove("c.png")
        for state in [ImageState.failed, .new, .cancelled] {
            var status = status
            status.images[2].state = state
            let result = try compare(status, prunes: true)
            #expect(result.verdicts[0] == .standsAlone(.gone) && result.keepsAll, "\(state)")
        }
    }

    @Test func whatWasMadeAMomentAgoIsNotLookedAt() throws {
        var status = try former()
        status.images[0].sourceSHA256 = "other"
        status.images[0].sourceIdentity = nil
        #expect(words(try compare(status)) == "source-changed needed-changed =")
        #expect(words(try compare(status, fresh: [0])) == "= = =")
    }

    /// Results that are made again stand if they turn out to be the same, or if they cannot be made.
    @Test func formerResultsAreNoted() throws {
        var status = try former()
        status.images[0].sourceSHA256 = "other"
        status.images[0].sourceIdentity = nil
        status.images[2].settingsSHA256 = "other"
        let result = try compare(status)
        #expect(words(result) == "source-changed needed-changed settings-changed")
        #expect(result.formers.mapValues(\.isComparable) == [0: true, 1: true, 2: false])
        #expect(try compare(status, missing: [0, 1]).formers.keys.sorted() == [2])
        // Another image gets the file.
        let other = try manifest(
            "images: {a: {source: a.png, output: {format: jpeg}}, a.png: {source: c.png}}")
        #expect(try compare(status, other, isSame: false).formers.isEmpty)
    }

    @Test func allSourcesAreReadOnRequest() throws {
        var status = try former()
        status.images[2].sourceSHA256 = "other"
        #expect(words(try compare(status)) == "= = =")
        #expect(words(try compare(status, readsAll: true)) == "= = source-changed")
    }
}
