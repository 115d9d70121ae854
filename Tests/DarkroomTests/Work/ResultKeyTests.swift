import Foundation
import Glibc
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomPicture
@testable import DarkroomWork

/// What tells one result from another.
struct ResultKeyTests {
    private static let key = {
        var key = ResultKey(
            owner: 1000, source: "ab", settings: "ef", limits: PictureLimits(), identity: "1f",
            versions: "01")
        key.overlays = [("logo", "cd")]
        return key
    }()

    @Test func isTheSameForTheSame() {
        #expect(Self.key.cacheKey == Self.key.cacheKey)
        #expect(!Self.key.program.isEmpty)
    }

    private static func key(_ part: String, _ change: (inout ResultKey) -> Void) -> (
        String, ResultKey
    ) {
        var other = key
        change(&other)
        return (part, other)
    }

    private static let others = [
        key("the owner") { $0.owner = 0 },
        key("the source") { $0.source = "ac" },
        key("no overlay") { $0.overlays = [] },
        key("the bytes of an overlay") { $0.overlays[0].sha256 = "ce" },
        key("the name of an overlay") { $0.overlays[0].image = "mark" },
        key("one more overlay") { $0.overlays.append(("logo", "cd")) },
        key("the filters or the output") { $0.settings = "ee" },
        key("the versions") { $0.versions = "02" },
        key("the program") { $0.program = "1-2.3" },
        key("the pixels of a picture") { $0.limits.pixels -= 1 },
        key("its sides") { $0.limits.side -= 1 },
        key("its memory") { $0.limits.wholePictureBytes -= 1 },
        key("its chunks") { $0.limits.ancillaryBytes -= 1 },
    ]

    @Test(arguments: others) func isAnotherForAnother(part: String, other: ResultKey) {
        #expect(other.cacheKey != Self.key.cacheKey, "\(part)")
    }

    /// Who has PNG and JPEG decoded in another program has its libraries in the key, too.
    @Test func aConfinedReaderIsAProgramOfItsOwn() throws {
        let own = try #require(CodecLibraries.identity(confining: .others))
        let basic = try #require(CodecLibraries.identity("basic"))
        #expect(CodecLibraries.identity(confining: .all) == "\(own)-\(basic)")
        #expect(Self.key.program.hasSuffix("-1f"))
    }

    private static func versions(_ change: (inout PictureVersions) -> Void) -> PictureVersions {
        var other = PictureVersions.present
        change(&other)
        return other
    }

    private static let otherVersions = [
        versions { $0.darkroom = "x" }, versions { $0.libpng = "x" },
        versions { $0.libjpegTurbo = "x" }, versions { $0.zlib = "x" },
        versions { $0.libdeflate = "x" },
    ]

    /// Each of the versions is in the digest that is a part of it.
    @Test(arguments: otherVersions) func versionsAreTold(other: PictureVersions) {
        #expect(other.sha256(of: nil) != PictureVersions.presentSHA256(of: nil))
    }
}

/// How the digest of a source is known before it is filtered.
struct ResultSourceTests {
    /// A file of more than 64 KiB that nobody has changed for a while.
    private static let old = (Repository.root.appending(path: "etc/doc").path, "page.png")
    private static let known = String(repeating: "0", count: 64)

    private static func input(_ folder: String, _ name: String) throws -> FilterInput {
        let file = try Directory(path: folder).open(FileName(name))
        let information = try file.information(path: name)
        return try FilterInput(file, .init(information: information, identity: nil), path: name)
    }

    private static func identity(_ folder: String, _ name: String) throws -> SourceIdentity {
        SourceIdentity(
            try Directory(path: folder).open(FileName(name)).information(path: name))
    }

    /// What is remembered is believed, and only for its owner.
    @Test func aRememberedFileIsNotRead() throws {
        let (folder, name) = Self.old
        let sources = SourceMemory()
        let identity = try Self.identity(folder, name)
        sources.remember(Self.known, of: identity, for: 1)
        let input = try Self.input(folder, name)
        #expect(try input.digest(for: 1, sources, path: name)?.sha256 == Self.known)
        let content = try Data(contentsOf: URL(filePath: folder).appending(path: name))
        let real = SHA256Digest.hex(of: content)
        #expect(try input.digest(for: 2, sources, path: name)?.sha256 == real)
        // From now on, that is remembered for the other one, too.
        #expect(sources.sha256(of: identity, for: 2) == real)
        #expect(sources.sha256(of: identity, for: 3) == nil)
        let digest = try #require(try input.digest(for: 2, sources, path: name))
        #expect(!digest.isOwn)
        #expect(try input.source(path: name, before: digest).sha256 == real)
        // What is remembered may be wrong: somebody has written through a mapping.
        let wrong = try #require(try input.digest(for: 1, sources, path: name))
        #expect(try input.source(path: name, before: wrong).sha256 == nil)
    }

    /// A file that was just written may be changed once more within the same tick of the clock.
    @Test func aFreshFileIsReadEachTime() throws {
        let scratch = try ScratchDirectory()
        let file = scratch.url.appending(path: "f")
        try Data(repeating: 7, count: 100_000).write(to: file)
        let sources = SourceMemory()
        let identity = try Self.identity(scratch.path, "f")
        sources.remember(Self.known, of: identity, for: 1)
        let input = try Self.input(scratch.path, "f")
        let digest = try #require(try input.digest(for: 1, sources, path: "f"))
        #expect(digest.sha256 != Self.known && !digest.isOwn)
        #expect(sources.sha256(of: identity, for: 1) == Self.known)
        // What was hashed is what was filtered.
        #expect(try input.source(path: "f", before: digest).sha256 == digest.sha256)
        // It is changed between the digest and the end of the filters.
        let other = FilterInput.Digest(sha256: Self.known, isOwn: false)
        #expect(try input.source(path: "f", before: other).sha256 == nil)
        // Its length differs even if the clock of files has not moved.
        let handle = try FileHandle(forUpdating: file)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data([1]))
        try handle.close()
        #expect(try input.source(path: "f", before: digest).sha256 == nil)
        #expect(try input.digest(for: 1, sources, path: "f") == nil)
    }

    @Test func aSmallFileIsHashedFromMemory() throws {
        let input = FilterInput(FoundFile(bytes: [1, 2, 3], identity: nil))
        let digest = try #require(try input.digest(for: 1, SourceMemory(), path: "f"))
        #expect(digest.sha256 == SHA256Digest.hex(of: [1, 2, 3]) && digest.isOwn)
        #expect(try input.source(path: "f", before: digest).sha256 == digest.sha256)
    }

    /// Those that are used stay.
    @Test func forgetsWhatWasUsedLongestAgo() throws {
        let sources = SourceMemory(mostOfGeneration: 4)
        func identity(_ number: Int) -> SourceIdentity {
            var information = stat()
            information.st_ino = UInt(number)
            return SourceIdentity(information)
        }
        for number in 0..<40 {
            sources.remember("\(number)", of: identity(number), for: 1)
            #expect(sources.sha256(of: identity(0), for: 1) == "0")
        }
        let known = (0..<40).filter { sources.sha256(of: identity($0), for: 1) != nil }
        #expect(known.count <= 9 && known.contains(0) && known.contains(39))
        #expect(known.allSatisfy { $0 == 0 || $0 > 30 })
    }
}
