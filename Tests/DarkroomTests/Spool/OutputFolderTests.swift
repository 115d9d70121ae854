import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomSpool

/// Outputs in folders, and the file with their sizes.
final class OutputFolderTests: SpoolSuite {
    private func publish(_ index: Int, _ file: String, _ content: [UInt8]) throws -> Failure? {
        try folders.active().write(
            content, to: BatchFile.output(index), replacing: true, durably: false)
        return try folders.publish(
            index, as: .png(file, of: content), byPath: spool.ownsOutbox(), durably: true)
    }

    private func content(_ path: String) throws -> [UInt8] {
        try folders.outbox().read(FileName(path))
    }

    @Test(arguments: [0o755, 0o777] as [mode_t]) func foldersAreMade(mode: mode_t) throws {
        #expect(fchmod(spool.outbox.number, mode) == 0)
        try makeFolders()
        #expect(try publish(0, "a/b/c.png", [1]) == nil)
        #expect(try publish(1, "a/b/d.png", [2]) == nil)
        #expect(try publish(2, "a/e.png", [3]) == nil)
        #expect(try publish(3, "f.png", [4]) == nil)
        #expect(try content("a/b/c.png") == [1] && content("a/b/d.png") == [2])
        #expect(try content("a/e.png") == [3] && content("f.png") == [4])
        #expect(try folders.active().names().isEmpty)
    }

    /// Two images whose templates give one path have one file if they have the same bytes. Otherwise the second one fails.
    @Test(arguments: ["c.png", "a/c.png"]) func nothingIsReplaced(path: String) throws {
        try makeFolders()
        #expect(try publish(0, path, [1]) == nil)
        #expect(try publish(1, path, [1]) == nil)
        let failure = try publish(2, path, [2])
        #expect(failure?.code == "file-exists")
        #expect(
            failure?.message.hasSuffix(
                "outbox/x/\(path): another file is in the place of this output; move it away")
                == true)
        #expect(try content(path) == [1])
        // A restart tries it again.
        #expect(try publish(2, path, [2])?.code == "file-exists")
    }

    /// What is in the place of a folder: nothing is written through a link.
    @Test(arguments: ["file", "link", "pipe"]) func onlyFoldersAreEntered(obstacle: String) throws {
        try makeFolders()
        let answer = folders.outbox
        switch obstacle {
        case "file": try answer().write([7], to: "a", durably: false)
        case "link":
            try #require(mkdir("\(scratch.path)/elsewhere", 0o777) == 0)
            try #require(symlink("\(scratch.path)/elsewhere", "\(answer().path)/a") == 0)
        default: try #require(mkfifo("\(answer().path)/a", 0o666) == 0)
        }
        #expect(try publish(0, "a/c.png", [1])?.code == "file-exists")
        if obstacle == "link" {
            #expect(try Directory(path: "\(scratch.path)/elsewhere").names().isEmpty)
        }
    }

    /// The process is killed after the journal has the image, before the rename and after it.
    @Test(arguments: [true, false]) func aRestartUsesTheSamePath(isMoved: Bool) throws {
        let text = #"{"output": {"name": "{folder}/{sha8}.{ext}"}, "images": ["p/a", "p/b"]}"#
        try spool.active.makeDirectory("x", mode: 0o700)
        let active = try folders.active()
        try active.write(Array(text.utf8), to: "manifest.json", durably: false)
        let first = try resume()
        var image = first.status.images[0]
        image.state = .filtered
        let path = first.manifest.images[0].outputFile(
            width: 1, height: 1, sha256: SHA256Digest.hex(of: [1]))
        #expect(path == "p/4bf5122f.png")
        image.output = .png(path, of: [1])
        try active.write([1], to: BatchFile.output(0), durably: false)
        try ItemJournal.append([.ended(index: 0, image)], in: active, durably: false)
        if isMoved { #expect(try publish(0, path, [1]) == nil) }
        for _ in 0..<2 {
            #expect(try resume().status.images[0] == image)
            #expect(try content(path) == [1])
            #expect(try !active.exists(BatchFile.output(0)))
        }
    }

    // MARK: The end

    private func end(_ files: [String]) throws {
        var status = Status(
            of: "x",
            images: files.enumerated().map { index, file in
                ImageStatus(
                    name: "i\(index)", state: .filtered, output: .png(file, of: [UInt8(index)]))
            })
        status.counts = Status.Counts(of: status.images)
        #expect(status.outputFolders.map(\.string).contains("a") == files.contains("a/b/c.png"))
        try folders.writeLastStatus(status, durably: true)
    }

    @Test func theSizesComeBeforeTheLastStatus() throws {
        try makeFolders()
        #expect(try publish(0, "a/b/c.png", [0]) == nil)
        try end(["a/b/c.png"])
        let text = String(decoding: try content("sizes.json"), as: UTF8.self)
        #expect(text.contains(#""file" : "a/b/c.png""#))
        #expect(try folders.active().names().isEmpty)
        // Another end may have none; somebody else's file stays.
        try end(["i0.png"])
        #expect(try !folders.outbox().exists("sizes.json"))
        try folders.outbox().write([1, 2, 3], to: "sizes.json", durably: false)
        try end(["i0.png"])
        #expect(try content("sizes.json") == [1, 2, 3])
    }

    /// What is in a folder of the answer, and whether all of it comes from Darkroom.
    @Test(arguments: [
        ("a/b", "d.png", true), ("a", "d.webp", true), ("a/b", "notes.txt", false),
        ("a", "d", false),
    ]) func answersWithFoldersAreRemoved(folder: String, file: String, isOwn: Bool) throws {
        try makeFolders()
        #expect(try publish(0, "a/b/c.png", [0]) == nil)
        try end(["a/b/c.png"])
        try folders.outbox().write(
            [UInt8](repeating: 1, count: 10_000), to: FileName("\(folder)/\(file)"),
            durably: false)
        switch try FinishedBatch.read("x", in: spool.outbox) {
        case .finished(let batch):
            #expect(isOwn && batch.bytes > 10_000)
            try spool.active.removeTree("x")
            let expired = try #require(try batch.takeOut(of: spool))
            try clear(expired)
            #expect(try spool.active.names().isEmpty && spool.outbox.names().isEmpty)
        case .foreign(let reason): #expect(!isOwn && reason == "it contains a folder, a")
        default: throw Unexpected()
        }
    }
}
