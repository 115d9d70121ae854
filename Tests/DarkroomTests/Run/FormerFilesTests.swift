import Foundation
import Glibc
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomRun
@testable import DarkroomSpool

/// Which files of former outputs are without an image, and which of them nothing may remove.
struct FormerFilesTests {
    private let scratch: ScratchDirectory
    private let outputs: Directory

    init() throws {
        scratch = try ScratchDirectory()
        outputs = try Directory(path: scratch.path)
        for name in ["a.png", "b.png", "old.png", "source.png"] {
            try outputs.write(Array(name.utf8), to: FileName(name), durably: false)
        }
        // As on a file system that does not tell capitals apart: two names of one file.
        #expect(link("\(scratch.path)/a.png", "\(scratch.path)/A.png") == 0)
    }

    private func found(
        _ entries: [FormerOutputs.Entry], fails: Bool = false
    ) throws -> FormerFiles {
        let manifest = try ManifestReader.read(
            Array("images: {a: source.png, b: {source: x.png, output: {format: jpeg}}}\n".utf8),
            format: .yaml, limits: ManifestLimits(), defaultFilters: [])
        var images = ImageStatus.initial(of: manifest)
        images[0].state = .filtered
        images[0].output = .init(
            file: "a.png", format: .png, sha256: "", bytes: 1, width: 1, height: 1, depth: 8,
            channels: 3)
        images[1].state = fails ? .failed : .filtered
        return try FormerFiles(
            Dictionary(grouping: entries, by: \.file).mapValues { Set($0) }, outputs: outputs,
            manifest: manifest, results: images.map { .init($0) },
            sources: LocalSources(relativeTo: scratch.path, maximumBytes: .max))
    }

    private func entry(
        _ file: String, of image: String? = nil, isGone: Bool = false
    ) -> FormerOutputs.Entry {
        .init(
            file: ByteString(file), bytes: 1, sha256: "", image: image.map { ByteString($0) },
            isGone: isGone)
    }

    @Test func whatNoImageHasIsGone() throws {
        let found = try found([entry("old.png", of: "old"), entry("missing.png"), entry("a.png")])
        #expect(found.gone == ["old.png"] && found.stale.isEmpty)
        #expect(found.settled == ["a.png", "missing.png"])
    }

    @Test(arguments: ["A.png", "source.png"]) func whatIsInUseIsNotGone(name: String) throws {
        let found = try found([entry(name, of: "old"), entry("old.png", of: "old")])
        #expect(found.gone == ["old.png"] && found.settled == [ByteString(name)])
    }

    /// The image had another format before.
    @Test func theFileOfAFailedImageWaits() throws {
        let listed = entry("b.png", of: "b")
        #expect(try found([listed], fails: true).stale == ["b.png"])
        #expect(try found([listed], fails: true).gone.isEmpty)
        #expect(try found([listed]).gone == ["b.png"])
        #expect(try found([entry("b.png", of: "b", isGone: true)], fails: true).gone == ["b.png"])
    }

    /// What is known last of a source decides whether it can be looked for.
    @Test func theLastSourceCounts() throws {
        let information = try outputs.information()
        let here = "\(information.st_dev)-1-1-1.0-1.0"
        let elsewhere = "\(information.st_dev + 1)-1-1-1.0-1.0"
        let entry = entry("old.png", of: "old")
        let cases: [(identities: [String?], isAway: Bool)] = [
            ([nil], false), ([here], false), ([elsewhere, here], false), ([elsewhere], true),
            ([here, elsewhere], true), ([nil, elsewhere], true), ([elsewhere, nil], true),
        ]
        for (identities, isAway) in cases {
            let former = FormerOutputs()
            for identity in identities { former.add(entry.with(source: "gone.png", identity)) }
            let found = try found(former.all)
            #expect(found.away == (isAway ? ["old.png"] : []), "\(identities)")
            #expect(found.gone == (isAway ? [] : ["old.png"]), "\(identities)")
            former.remove(entry)
            #expect(former.isEmpty, "\(identities)")
        }
        // The identity of a URL is none of a device.
        #expect(entry.with(source: "https://a.test/b", here) == entry)
        #expect(entry.with(source: "gone.png", "\"tag\"") == entry)
    }

    /// Ten thousand are as fast as one by one.
    @Test func entriesLeaveTheList() throws {
        let former = FormerOutputs()
        for number in 0..<10_000 { former.add(entry("\(number).png", of: "\(number)")) }
        for number in 0..<10_000 { former.remove(ByteString("\(number).png")) }
        #expect(former.isEmpty)
        let one = entry("a.png", of: "a", isGone: true)
        former.add(one)
        try former.write(in: outputs, durably: false)
        let read = FormerOutputs()
        #expect(try read.read(in: outputs) && read.all == [one])
    }
}
