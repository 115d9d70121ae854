import Foundation
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomSpool

@Suite(.tags(.concurrency)) final class ClaimTests: SpoolSuite {
    private func drop(_ name: FileName, _ text: String = #"{"images": ["a.png"]}"#) throws {
        try inbox.write(Array(text.utf8), to: name, durably: false)
    }

    @Test func movesTheManifestOutOfTheInbox() throws {
        try drop("a.json")
        let claimed = try take("a.json")
        #expect(claimed.id == "a")
        #expect(try inbox.names().isEmpty)
        let active = try claimed.folders.active()
        #expect(try active.exists("manifest.json"))
        #expect(try SubmittedFile(in: active)?.name == "a.json")
        #expect(try active.names().contains("submitted-a.json"))
        #expect(try !spool.outbox.exists("a"))
    }

    /// With what is put before it, a name may be too long for a file. (Of 255 bytes, ten are for that.)
    @Test(arguments: [(245, false), (246, true), (255, true)])
    func givesALongNameAFolder(length: Int, hasFolder: Bool) throws {
        let name = FileName(String(repeating: "n", count: length - 5) + ".json")
        try drop(name)
        let claimed = try take(name)
        let active = try claimed.folders.active()
        #expect(try active.exists(SubmittedFile.folderName) == hasFolder)
        #expect(try SubmittedFile(in: active)?.name == name)
        let (answered, _) = try Receipt.issue(for: claimed, durably: true)
        try answered.removeSubmitted()
        #expect(try active.names() == ["manifest.json"])
    }

    /// The submitter may have the file open for writing, or linked elsewhere.
    @Test(arguments: [#"{"images": ["a.png"]}"#, #"{"imagse": []}"#])
    func goesOnWithACopyOfItsOwn(text: String) throws {
        try drop("a.json", text)
        let path = inbox.path + "/a.json"
        #expect(link(path, scratch.path + "/mine") == 0)
        let open = try Directory(path: scratch.path).append(to: "mine")
        let claimed = try take("a.json")
        try open.write(Array("more".utf8), path: "mine")
        let (_, status) = try Receipt.issue(for: claimed, durably: true)
        let outbox = try claimed.folders.outbox()
        #expect(try outbox.read("manifest.json") == Array(text.utf8))
        #expect(status.manifest.sha256 == SHA256Digest.hex(of: Array(text.utf8)))
        let information = try #require(try outbox.information(of: "manifest.json"))
        let own = try #require(try Directory(path: scratch.path).information(of: "mine"))
        #expect(information.st_ino != own.st_ino && information.st_nlink == 1)
        #expect(information.st_uid == geteuid())
        if status.state == .pending {
            let kept = try #require(try claimed.folders.active().information(of: "manifest.json"))
            // What people do to theirs does not reach the one which a restart reads.
            #expect(![own.st_ino, information.st_ino].contains(kept.st_ino))
        }
    }

    /// A file of nothing takes no room in the outbox either.
    @Test func copiesHolesAsHoles() throws {
        try drop("a.json", "{}")
        #expect(truncate(inbox.path + "/a.json", 8 << 20) == 0)
        let claimed = try take("a.json")
        _ = try Receipt.issue(for: claimed, durably: true)
        let outbox = try claimed.folders.outbox()
        let copy = try #require(try outbox.information(of: "manifest.json"))
        #expect(copy.st_size == 8 << 20)
        #expect(copy.bytesOnDisk < 1 << 20)
        let expected = Array("{}".utf8) + [UInt8](repeating: 0, count: (8 << 20) - 2)
        #expect(try outbox.read("manifest.json") == expected)
    }

    /// A stop while the manifest is read anew, for it was another one when it was looked at.
    @Test func putsBackWhatAStopInterrupts() throws {
        try drop("a.json")
        let seen = try candidate("a.json")
        try inbox.remove("a.json")
        try drop("a.json", #"{"images": ["b.png"]}"#)
        var stopping = examination
        stopping.stop = CancellationFlag()
        stopping.stop.set()
        #expect(Self.word(stopping.examine("a.json", in: inbox, isWhole: true)) == "interrupted")
        let outcome = claim(by: stopping).take([seen])
        #expect(outcome.claimed.isEmpty && outcome.refused.isEmpty && outcome.failure == nil)
        #expect(outcome.stranded.isEmpty)
        #expect(try inbox.names() == ["a.json"])
        #expect(try spool.active.names().isEmpty)
    }

    @Test func givesEachManifestOfANameAnIDOfItsOwn() throws {
        var ids: [String] = []
        for _ in 0..<3 {
            try drop("a.json")
            ids.append(try Receipt.issue(for: take("a.json"), durably: true).1.id)
        }
        try drop("a.yaml", "images: [a.png]")
        ids.append(try take("a.yaml").id)
        #expect(ids == ["a", "a-2", "a-3", "a-4"])
    }

    @Test func answersUnderAnotherIDWhenAStrangerTookTheFirst() throws {
        try drop("a.json")
        let claimed = try take("a.json")
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
        let claimed = try #require(claim().take([seen]).claimed.first)
        #expect(try claimed.reading.outcome.get().images.map(\.name) == ["b", "c"])
    }

    @Test func passesOverWhatItsOwnerTookBack() throws {
        try drop("a.json")
        let seen = try candidate("a.json")
        try inbox.remove("a.json")
        let outcome = claim().take([seen])
        #expect(outcome.claimed.isEmpty && outcome.refused.isEmpty && outcome.failure == nil)
        #expect(try spool.active.names().isEmpty)
    }

    /// What cannot be taken stays, and does not keep the others from being taken.
    @Test(arguments: things.indices) func putsBackWhatBecameSomethingElse(thing: Int) throws {
        for name: FileName in ["a.json", "b.json"] { try drop(name) }
        let seen = [try candidate("a.json"), try candidate("b.json")]
        try inbox.remove("a.json")
        #expect(Self.things[thing].1(inbox.path + "/a.json") == 0, "\(Self.things[thing].0)")
        let outcome = claim().take(seen)
        #expect(outcome.claimed.map(\.id) == ["b"])
        #expect(outcome.refused.map(\.name) == ["a.json"])
        #expect(outcome.refused.map(\.error.errno) == [.notSupported])
        #expect(outcome.failure == nil)
        #expect(try inbox.names() == ["a.json"])
        #expect(try spool.active.names() == ["b"])
    }

    /// One is one letter to people, with marks over it, and longer than any ID may be.
    @Test(arguments: [
        ("a.json", "a"), ("a.b.json", "a.b"), (" .json", " "),
        (String(repeating: "x", count: 250) + ".json", String(repeating: "x", count: 200)),
        (
            "a" + String(repeating: "\u{301}", count: 124) + ".json",
            "a" + String(repeating: "\u{301}", count: 99)
        ),
        ("ä ö.plist", "ä ö"),
        (String(repeating: "ü", count: 120) + ".json", String(repeating: "ü", count: 100)),
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

    private let patient = Examination(
        limits: ManifestLimits(), defaultFilters: [], settle: 3600)

    @Test(arguments: verdicts)
    func judges(name: FileName, text: String, expected: String) throws {
        try drop(name, text)
        #expect(Self.word(patient.examine(name, in: inbox, isWhole: false)) == expected)
    }

    /// What is large is not read, whatever is in it; YAML only when it is whole.
    @Test(arguments: [
        ("a.json", true, "large"), ("a.json", false, "large"), ("a.yml", false, "settling"),
    ])
    func leavesWhatIsLarge(name: String, isWhole: Bool, expected: String) throws {
        try drop(FileName(name), "images: [a.png]")
        let verdict = patient.examine(
            FileName(name), in: inbox, isWhole: isWhole, effort: .quick(14))
        #expect(Self.word(verdict) == expected)
        let other = patient.examine(FileName(name), in: inbox, isWhole: true, effort: .quick(15))
        #expect(Self.word(other) == "ready")
    }

    @Test func judgesWhatIsNoFile() throws {
        try inbox.makeDirectory("folder.json")
        mkfifo(inbox.path + "/fifo.json", 0o600)
        symlink("/etc/passwd", inbox.path + "/link.json")
        for name: FileName in ["folder.json", "fifo.json", "link.json"] {
            #expect(Self.word(examination.examine(name, in: inbox, isWhole: true)) == "ignored")
        }
        for name: FileName in ["none.json", "none", "#16426083"] {
            #expect(Self.word(examination.examine(name, in: inbox, isWhole: true)) == "gone")
        }
    }

    @Test func readsNothingOfWhatIsTooLarge() throws {
        try drop("a.json", "")
        #expect(truncate(inbox.path + "/a.json", 1 << 40) == 0)
        let small = Examination(
            limits: ManifestLimits(bytes: 100), defaultFilters: [], settle: 0)
        let reading = try small.read(OpenManifest("a.json", .json, in: inbox))
        #expect(reading.bytes == nil)
        #expect(reading.byteCount == 1 << 40)
        #expect(reading.sha256 == nil)
        guard case .failure(let rejection) = reading.outcome else { throw Unexpected() }
        #expect(rejection.problems.map(\.code) == ["too-large"])
        // Nor does it wait for those that take long to be read.
        let verdict = small.examine("a.json", in: inbox, isWhole: true, effort: .quick(10))
        #expect(Self.word(verdict) == "ready")
    }

    /// It goes back to where its submitter can fetch it, for there is no copy of it.
    @Test(arguments: [false, true]) func givesBackWhatIsTooLarge(isNameTaken: Bool) throws {
        try drop("long.json", String(repeating: " ", count: 1000))
        if isNameTaken { try spool.tmp.write([1], to: "long.json", durably: false) }
        let inode = try #require(try inbox.information(of: "long.json")).st_ino
        let small = Examination(limits: ManifestLimits(bytes: 100), defaultFilters: [], settle: 0)
        let claimed = try take("long.json", by: small)
        let (_, status) = try Receipt.issue(for: claimed, durably: true)
        #expect(status.manifest.file == nil && status.manifest.sha256 == nil)
        #expect(status.manifest.bytes == 1000 && status.manifest.name == "long.json")
        #expect(try entries(of: claimed.folders.outbox()) == ["progress.json", "status.json"])
        let name = try Receipt.finish(claimed.folders, format: .json, durably: true)
        #expect((name == "long.json") == !isNameTaken)
        #expect(try spool.tmp.names().count == (isNameTaken ? 2 : 1))
        #expect(try spool.tmp.information(of: try #require(name))?.st_ino == inode)
        #expect(try spool.active.names().isEmpty)
    }

    private static func word(_ verdict: Verdict) -> String {
        switch verdict {
        case .gone: "gone"
        case .ignored: "ignored"
        case .settling: "settling"
        case .unreadable: "unreadable"
        case .control: "control"
        case .interrupted: "interrupted"
        case .large: "large"
        case .ready: "ready"
        }
    }
}
