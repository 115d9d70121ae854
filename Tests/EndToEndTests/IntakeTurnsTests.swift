import Foundation
import TestSupport
import Testing

/// Owners take turns in the intake: whoever has it busy keeps nobody else waiting.
@Suite(.fewAtATime, .enabled(if: geteuid() == 0, "only root can give a file to another user"))
struct IntakeTurnsTests {
    /// Legal for its size, and long to read.
    private static let long =
        "{" + repeatElement(#""a": 1"#, count: 30_000).joined(separator: ",") + "}"

    /// Many that are answered at once, and fewer that take long to read.
    @Test(arguments: [(6000, "{}"), (240, long)])
    func manyManifestsOfOneHoldUpNobody(count: Int, text: String) async throws {
        let bench = try Bench()
        let daemon = try await bench.run()
        try await bench.withstands(daemon) {
            for number in 0..<count { try bench.spool.drop("flood\(number).json", text) }
        }
    }

    /// Controls beside a manifest that may not be complete do not have it read again and again.
    @Test func manyControlsOfOneManifestHoldUpNobody() async throws {
        let bench = try Bench()
        let daemon = try await bench.run(["inbox.settle": "10min"])
        let names = ["cancel", "hold", "release", "retry"].flatMap(Self.spellings)
        try await bench.withstands(daemon) {
            try await bench.spool.writeInPlace("job.json", parts: [Self.long], pause: .zero)
            for name in names { try bench.spool.drop("job.\(name)", "") }
        }
        // Those that came to nothing are gone; the others wait for the manifest.
        #expect(bench.spool.exists("inbox/job.json"))
        #expect(bench.spool.exists("inbox/job.hold"))
    }

    /// Who has few batches waiting is not kept out by one who has as many as may wait.
    @Test func aFullRoomIsNobodyElses() async throws {
        let bench = try Bench()
        let daemon = try await bench.run(["batches.maxWaiting": "4", "batches.window": "1"])
        let sources = bench.slowImages(0..<2).map { ["name": $0.name, "source": $0.source] }
        let text = try Bench.json(["images": sources])
        // Those in work, those that wait, and some that stay in the inbox.
        for number in 0..<1100 { try bench.spool.drop("many\(number).json", text) }
        _ = try await bench.waitForReport(daemon, "too many batches") {
            $0.why?.code == "over-limit"
        }
        let staged = bench.spool.root.appending(path: "tmp/other.json").path
        try Data(text.utf8).write(to: URL(filePath: staged))
        try #require(chown(staged, 2000, 2000) == 0 && chmod(staged, 0o644) == 0)
        try #require(rename(staged, bench.spool.root.appending(path: "inbox/other.json").path) == 0)
        try await daemon.waitUntil("other.json to be claimed") { _ in
            bench.spool.exists("outbox/other/status.json")
        }
        #expect(try bench.report()?.why?.code == "over-limit")
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A word with each of its letters in either case.
    private static func spellings(of word: String) -> [String] {
        word.reduce([""]) { beginnings, letter in
            beginnings.flatMap { ["\($0)\(letter)", "\($0)\(letter.uppercased())"] }
        }
    }
}
