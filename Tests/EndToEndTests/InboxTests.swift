import DarkroomManifest
import DarkroomPicture
import DarkroomSelfTest
import DarkroomSpool
import Foundation
import TestSupport
import Testing

/// How manifests come to lie in the inbox, and what else lies there.
@Suite(.fewAtATime) struct InboxTests {
    @Test(arguments: ["json", "yaml"])
    func waitsForASlowWriter(ending: String) async throws {
        let bench = try Bench()
        // JSON is taken once it is whole, YAML once it is left alone.
        let daemon = try await bench.run(["inbox.settle": ending == "yaml" ? "8s" : "1h"])
        try await bench.spool.writeInPlace(
            "slow.\(ending)", parts: Self.parts(ending, (0..<6).map { bench.url("\($0).png") }),
            pause: .milliseconds(100))
        let status = try await bench.spool.finish("slow", daemon)

        try bench.checkCompleted(status)
        #expect(status.images.map(\.name) == (0..<6).map { "\($0)" })
        #expect(bench.spool.list("outbox") == ["slow"])
    }

    /// A manifest in parts as a slow writer may write them. Every part of the YAML is the end of a whole
    /// manifest, so that only the writer's coming back within the settle time tells that it is not.
    private static func parts(_ ending: String, _ urls: [String]) -> [String] {
        if ending == "yaml" { return ["images:\n"] + urls.map { "  - \($0)\n" } }
        let rest = urls.dropFirst().map { ", \"\($0)\"" }
        return ["{\"images\": [", "\"\(urls[0])\""] + rest + ["]}"]
    }

    @Test func judgesABrokenManifestOnceItIsLeftAlone() async throws {
        let bench = try Bench()
        let daemon = try await bench.run(["inbox.settle": "0.2s"])
        try await bench.spool.writeInPlace(
            "cut.json", parts: ["{\"images\": ["], pause: .zero)
        let status = try await bench.spool.finish("cut", daemon)

        #expect(status.state == .rejected)
        #expect(status.errors?.map(\.code) == ["syntax"])
        try bench.checkOutcome(status)
    }

    @Test func takesWhatLayThereBefore() async throws {
        let bench = try Bench()
        try bench.spool.makeFolders()
        try bench.drop("early", images: [("a", bench.url("0.png"))])
        let daemon = try await bench.run()
        try bench.checkCompleted(try await bench.spool.finish("early", daemon))
    }

    @Test func leavesOtherFilesAlone() async throws {
        let bench = try Bench()
        let daemon = try await bench.run(["inbox.settle": "0s"])
        let names = [
            ".hidden.json", "half.json.tmp", "half.json.part", "backup.json~", "notes.txt",
            "without-ending",
        ]
        let manifest = try Bench.json(["images": [bench.url("0.png")]])
        for name in names { try bench.spool.drop(name, manifest) }
        let folder = bench.spool.root.appending(path: "inbox/folder.json")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            at: bench.spool.root.appending(path: "inbox/link.json"),
            withDestinationURL: URL(filePath: "/etc/hostname"))
        #expect(mkfifo(bench.spool.root.appending(path: "inbox/fifo.json").path, 0o644) == 0)

        // Whatever is dropped after them is looked at after them.
        try bench.spool.drop("last.json", manifest)
        try bench.checkCompleted(try await bench.spool.finish("last", daemon))

        let left = names + ["folder.json", "link.json", "fifo.json"]
        #expect(bench.spool.list("inbox") == left.sorted())
        #expect(bench.spool.list("outbox") == ["last"])
        // Each has a visible reason, except those whose names ask not to be looked at.
        for name in ["notes.txt", "without-ending", "folder.json", "link.json", "fifo.json"] {
            try await daemon.says("inbox/\(name) is not taken")
        }
    }

    /// link(2) tells of no closing and no rename.
    @Test func takesAManifestThatWasLinkedIntoTheInbox() async throws {
        let bench = try Bench()
        let daemon = try await bench.run(["inbox.settle": "0.2s"])
        let manifest = try Bench.json(["images": ["a": bench.url("0.png")]])
        let draft = bench.spool.root.appending(path: "tmp/draft.json")
        try manifest.write(to: draft, atomically: false, encoding: .utf8)
        try FileManager.default.linkItem(
            at: draft, to: bench.spool.root.appending(path: "inbox/linked.json"))
        try bench.checkCompleted(try await bench.spool.finish("linked", daemon))
        #expect(FileManager.default.fileExists(atPath: draft.path))
    }

    @Test func neverOverwritesABatchOfTheSameName() async throws {
        let bench = try Bench()
        let daemon = try await bench.run()
        var identities: [SpoolFixture.FileIdentity] = []
        for (index, id) in ["trip", "trip-2", "trip-3"].enumerated() {
            try bench.spool.drop(
                "trip.json", try Bench.json(["images": ["p": bench.url("\(index).png")]]))
            let status = try await bench.spool.finish(id, daemon)
            try bench.checkCompleted(status)
            #expect(status.manifest.name == "trip.json")
            identities.append(try bench.spool.identity("outbox/\(id)/p.png"))
        }
        // Another ending, the same ID.
        try bench.spool.drop("trip.yaml", "images: {p: \(bench.url("3.png"))}")
        try bench.checkCompleted(try await bench.spool.finish("trip-4", daemon))
        for (id, identity) in zip(["trip", "trip-2", "trip-3"], identities) {
            #expect(try bench.spool.identity("outbox/\(id)/p.png") == identity)
        }
    }

    /// Names that are no words.
    static let names: [(name: [UInt8], id: String)] = [
        (Array("with space.json".utf8), "with space"),
        (Array("line\nbreak.json".utf8), "line\u{fffd}break"),
        (Array("Österreich 🏔.json".utf8), "Österreich 🏔"),
        (Array("e\u{301}.json".utf8), "e\u{301}"),
        (Array("quote\"back\\slash.json".utf8), "quote\"back\\slash"),
        (Array("-rf.json".utf8), "-rf"),
        (Array("a.b.c.json".utf8), "a.b.c"),
        (Array("$(id) `id` %s.json".utf8), "$(id) `id` %s"),
        ([0x66, 0xfc, 0x72] + Array(".json".utf8), "f\u{fffd}r"),
        (
            Array(String(repeating: "n", count: 250).utf8) + Array(".json".utf8),
            String(repeating: "n", count: 200)
        ),
    ]

    @Test(arguments: names) func takesAnyName(name: [UInt8], id: String) async throws {
        let bench = try Bench()
        let daemon = try await bench.run()
        let manifest = try Bench.json(["images": ["p": bench.url("0.png")]])
        try bench.spool.drop(name, Array(manifest.utf8))
        let status = try await bench.spool.finish(id, daemon)
        #expect(status.state == .completed)
        #expect(status.id == id)
        #expect(bench.spool.exists("outbox/\(id)/p.png"))
        #expect(bench.spool.list("inbox") == [])
        // A line of the log stays a line.
        #expect(daemon.outputText.split(separator: "\n").allSatisfy { !$0.hasPrefix("break") })
    }

    enum Removal: CaseIterable, Sendable { case removed, renamed }

    @Test(arguments: Removal.allCases)
    func putsTheInboxBack(removal: Removal) async throws {
        let bench = try Bench()
        let daemon = try await bench.run()
        let inbox = bench.spool.root.appending(path: "inbox")
        switch removal {
        case .removed: try FileManager.default.removeItem(at: inbox)
        case .renamed:
            try FileManager.default.moveItem(
                at: inbox, to: bench.spool.root.appending(path: "elsewhere"))
        }
        try await daemon.waitUntil("the inbox's return") { _ in bench.spool.exists("inbox") }
        try bench.drop("after", images: [("a", bench.url("0.png"))])
        try bench.checkCompleted(try await bench.spool.finish("after", daemon))
        // And the new watch is a watch: events come, not only a scan.
        try bench.drop("later", images: [("a", bench.url("0.png"))])
        try bench.checkCompleted(try await bench.spool.finish("later", daemon))
    }
}
