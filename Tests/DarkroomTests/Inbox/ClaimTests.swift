import Foundation
import TestSupport
import Testing

@testable import Darkroom

@Suite struct ClaimTests {
    let scratch: ScratchDirectory
    let spool: Spool
    let inbox: Directory
    let examination = Examination(limits: ManifestLimits(), defaultFilters: [], settle: 0)

    init() throws {
        scratch = try ScratchDirectory()
        spool = try Spool(path: scratch.path)
        inbox = try spool.openInbox()
    }

    private func drop(_ name: FileName, _ text: String = #"{"images": ["a.png"]}"#) throws {
        try inbox.write(Array(text.utf8), to: name, durably: false)
    }

    private func candidate(_ name: FileName) throws -> Candidate {
        guard case .ready(let candidate) = examination.examine(name, in: inbox, isWhole: true)
        else { throw Unexpected() }
        return candidate
    }

    private struct Unexpected: Error {}

    private func take(_ names: FileName...) throws -> [ClaimedManifest] {
        let claim = Claim(spool: spool, inbox: inbox, examination: examination, durably: true)
        let outcome = claim.take(try names.map { try candidate($0) })
        if let failure = outcome.failure { throw failure }
        #expect(outcome.refused.isEmpty)
        return outcome.claimed
    }

    @Test func movesTheManifestOutOfTheInbox() throws {
        try drop("a.json")
        let claimed = try #require(try take("a.json").first)
        #expect(claimed.id == "a")
        #expect(try inbox.names().isEmpty)
        #expect(try claimed.folders.active().exists("manifest.json"))
        #expect(try !spool.outbox.exists("a"))
    }

    @Test func givesEachManifestOfANameAnIDOfItsOwn() throws {
        var ids: [String] = []
        for _ in 0..<3 {
            try drop("a.json")
            let claimed = try #require(try take("a.json").first)
            ids.append(try Receipt.issue(for: claimed, durably: true).1.id)
        }
        try drop("a.yaml", "images: [a.png]")
        ids += try take("a.yaml").map(\.id)
        #expect(ids == ["a", "a-2", "a-3", "a-4"])
    }

    @Test func answersUnderAnotherIDWhenAStrangerTookTheFirst() throws {
        try drop("a.json")
        let claimed = try #require(try take("a.json").first)
        try spool.outbox.makeDirectory("a")
        let (moved, status) = try Receipt.issue(for: claimed, durably: true)
        #expect(status.id == "a-2")
        #expect(moved.id == "a-2")
        #expect(try spool.outbox.names().count == 2)
        #expect(try Directory("a", in: spool.outbox).names().isEmpty)
        #expect(try !spool.active.exists("a"))
    }

    /// What counts is what was moved, not what was read before.
    @Test func readsAgainWhatChangedBetweenLookingAndTaking() throws {
        try drop("a.json")
        let seen = try candidate("a.json")
        try inbox.remove("a.json")
        try drop("a.json", #"{"images": ["b.png", "c.png"]}"#)
        let claim = Claim(spool: spool, inbox: inbox, examination: examination, durably: false)
        let claimed = try #require(claim.take([seen]).claimed.first)
        #expect(try claimed.reading.outcome.get().images.map(\.name) == ["b", "c"])
    }

    @Test func passesOverWhatItsOwnerTookBack() throws {
        try drop("a.json")
        let seen = try candidate("a.json")
        try inbox.remove("a.json")
        let claim = Claim(spool: spool, inbox: inbox, examination: examination, durably: true)
        let outcome = claim.take([seen])
        #expect(outcome.claimed.isEmpty && outcome.refused.isEmpty && outcome.failure == nil)
        #expect(try spool.active.names().isEmpty)
    }

    /// What cannot be taken stays, and does not keep the others from being taken.
    @Test func putsBackWhatBecameSomethingElse() throws {
        for name: FileName in ["a.json", "b.json"] { try drop(name) }
        let seen = [try candidate("a.json"), try candidate("b.json")]
        try inbox.remove("a.json")
        try inbox.makeDirectory("a.json")
        let claim = Claim(spool: spool, inbox: inbox, examination: examination, durably: true)
        let outcome = claim.take(seen)
        #expect(outcome.claimed.map(\.id) == ["b"])
        #expect(outcome.refused.map(\.name) == ["a.json"])
        #expect(outcome.refused.map(\.error.errno) == [.isDirectory])
        #expect(outcome.failure == nil)
        #expect(try inbox.names() == ["a.json"])
        #expect(try spool.active.names() == ["b"])
    }

    /// The last is one letter to people, with marks over it, and longer than any ID may be.
    @Test(arguments: [
        ("a.json", "a"), ("a.b.json", "a.b"), (" .json", " "),
        (String(repeating: "x", count: 250) + ".json", String(repeating: "x", count: 200)),
        (
            "a" + String(repeating: "\u{301}", count: 124) + ".json",
            "a" + String(repeating: "\u{301}", count: 99)
        ),
    ])
    func givesAnIDOfAtMost200Bytes(name: String, expected: String) {
        #expect(Array(Claim.id(fromFileName: name).utf8) == Array(expected.utf8))
    }

    static let verdicts: [(FileName, String, String)] = [
        (".hidden.json", "{}", "ignored"), ("a.json.tmp", "{}", "ignored"),
        ("a.part", "{}", "ignored"), ("a.json~", "{}", "ignored"), ("a.txt", "{}", "ignored"),
        ("json", "{}", "ignored"), ("a.cancel", "", "control"), ("a.Hold", "", "control"),
        (".cancel", "", "ignored"), ("a.retry~", "", "ignored"),
        ("a.JSON", #"{"images": ["a.png"]}"#, "ready"),
        ("a.yml", "images: [a.png]", "settling"), ("a.json", "{", "settling"),
        (FileName(bytes: [0x61, 0xE9, 0x2E] + Array("json".utf8)), #"{"images": ["a"]}"#, "ready"),
    ]

    @Test(arguments: verdicts)
    func judges(name: FileName, text: String, expected: String) throws {
        try drop(name, text)
        let patient = Examination(limits: ManifestLimits(), defaultFilters: [], settle: 3600)
        #expect(Self.word(patient.examine(name, in: inbox, isWhole: false)) == expected)
    }

    /// What is large is not read, whatever is in it; YAML only when it is whole.
    @Test(arguments: [
        ("a.json", true, "large"), ("a.json", false, "large"), ("a.yml", false, "settling"),
    ])
    func leavesWhatIsLarge(name: String, isWhole: Bool, expected: String) throws {
        try drop(FileName(name), "images: [a.png]")
        let patient = Examination(limits: ManifestLimits(), defaultFilters: [], settle: 3600)
        let verdict = patient.examine(FileName(name), in: inbox, isWhole: isWhole, largest: 14)
        #expect(Self.word(verdict) == expected)
        let other = patient.examine(FileName(name), in: inbox, isWhole: true, largest: 15)
        #expect(Self.word(other) == "ready")
    }

    @Test func judgesWhatIsNoFile() throws {
        try inbox.makeDirectory("folder.json")
        mkfifo(inbox.path + "/fifo.json", 0o600)
        symlink("/etc/passwd", inbox.path + "/link.json")
        for name: FileName in ["folder.json", "fifo.json", "link.json"] {
            #expect(Self.word(examination.examine(name, in: inbox, isWhole: true)) == "ignored")
        }
        #expect(Self.word(examination.examine("none.json", in: inbox, isWhole: true)) == "gone")
    }

    @Test func rejectsWhatIsTooLargeWithoutKeepingIt() throws {
        try drop("a.json", String(repeating: " ", count: 1000))
        let small = Examination(
            limits: ManifestLimits(bytes: 100), defaultFilters: [], settle: 0)
        let reading = try small.read("a.json", .json, in: inbox)
        #expect(reading.bytes == nil)
        #expect(reading.byteCount == 1000)
        #expect(reading.sha256 == SHA256Digest.hex(of: [UInt8](repeating: 32, count: 1000)))
        guard case .failure(let rejection) = reading.outcome else { throw Unexpected() }
        #expect(rejection.problems.map(\.code) == ["too-large"])
    }

    private static func word(_ verdict: Verdict) -> String {
        switch verdict {
        case .gone: "gone"
        case .ignored: "ignored"
        case .settling: "settling"
        case .unreadable: "unreadable"
        case .control: "control"
        case .large: "large"
        case .ready: "ready"
        }
    }
}
