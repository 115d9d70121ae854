import Foundation
import Testing

@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomFixtures
@testable import DarkroomManifest

/// What the intake takes out of the inbox, when, and what it leaves there.
struct IntakeTests {
    // MARK: Arrivals

    @Test func takesWhatIsRenamedIntoTheInbox() async throws {
        let fixture = try IntakeFixture().started()
        try fixture.drop("a.json")
        try await fixture.wait(for: .batchClaimed)
        try await fixture.finish()
        #expect(try fixture.base.finished == ["a": .completed])
        #expect(try fixture.names == [])
        #expect(try fixture.report().files == [])
    }

    /// What lies there before the watch stands, and what a former daemon has left.
    @Test func takesWhatIsThereAtTheStart() async throws {
        let fixture = try IntakeFixture()
        for (name, age) in [("new", 10), ("old", 30), ("middle", 20)] {
            try fixture.drop(FileName("\(name).json"))
            try fixture.age(FileName("\(name).json"), by: age)
        }
        let images = [Manifest.Image(name: "i", origin: .source("s"))]
        _ = try fixture.base.prepare("left", Manifest(images: images))
        var found: [String] = []
        try fixture.intake.start { found = (try? fixture.names.sorted()) ?? [] }
        // Nothing is taken before the watch stands.
        #expect(found == ["middle.json", "new.json", "old.json"])
        try await fixture.wait(for: .batchClaimed, count: 4)
        #expect(fixture.claimed.dropFirst() == ["old.json", "middle.json", "new.json"])
        #expect(fixture.journal.all(.batchResumed).map { $0[.batch] } == ["left"])
        try await fixture.finish()
        #expect(try fixture.base.finished.count == 4)
    }

    /// It is complete when it reads well; only time tells that it will not.
    @Test func waitsForAFileThatIsWrittenInPlace() async throws {
        let fixture = try IntakeFixture().started()
        try fixture.writeInPlace("a.json", IntakeFixture.half)
        try await fixture.catchUp()
        #expect(try fixture.reason("a.json") == .settling)
        try fixture.writeInPlace("a.json", #", "source": "s"}]}"#)
        try await fixture.wait(for: "its claim") { fixture.claimed.contains("a.json") }
        #expect(fixture.journal.all(.batchRejected).isEmpty)
    }

    @Test func rejectsWhatStaysBroken() async throws {
        let fixture = try IntakeFixture(settle: 6000).started()
        try fixture.writeInPlace("a.json", IntakeFixture.half)
        try await fixture.catchUp()
        fixture.time.advance(by: 5900)
        #expect(fixture.journal.all(.batchRejected).isEmpty)
        fixture.time.advance(by: 200)
        try await fixture.wait(for: .batchRejected)
        #expect(try fixture.base.status("a")?.state == .rejected)
        #expect(try fixture.names == [])
    }

    /// The beginning of one of this format may be a whole one, so that only time tells.
    @Test func takesAFormatWithoutAnEndWhenItHasSettled() async throws {
        let fixture = try IntakeFixture(settle: 6000).started()
        try fixture.writeInPlace("a.yaml", "images:\n- name: i\n  source: s\n")
        try await fixture.catchUp()
        #expect(try fixture.reason("a.yaml") == .settling)
        fixture.time.advance(by: 3000)
        // Its time begins anew.
        try fixture.writeInPlace("a.yaml", "- name: j\n  source: s\n")
        try await fixture.catchUp()
        fixture.time.advance(by: 5900)
        #expect(!fixture.claimed.contains("a.yaml"))
        fixture.time.advance(by: 200)
        try await fixture.wait(for: "its claim") { fixture.claimed.contains("a.yaml") }
        #expect(try fixture.base.status("a")?.counts.total == 2)
    }

    /// Nobody closes it.
    @Test func takesAFileThatWasLinkedIntoTheInbox() async throws {
        let fixture = try IntakeFixture(settle: 60).started()
        let tmp = fixture.spool.tmp
        try tmp.write(Array(IntakeFixture.manifest.utf8), to: "draft", durably: false)
        // When the event is read its first name is gone, as that of a file that is being written never was.
        fixture.intake.queue.suspend()
        let isLinked = link(tmp.path + "/draft", fixture.spool.root.path + "/inbox/a.json") == 0
        try tmp.remove("draft")
        fixture.intake.queue.resume()
        try #require(isLinked)
        try await fixture.catchUp()
        #expect(!fixture.claimed.contains("a.json"))
        fixture.time.advance(by: 1)
        try await fixture.wait(for: "its claim") { fixture.claimed.contains("a.json") }
    }

    @Test func scansWhereEventsAreLost() async throws {
        let fixture = try IntakeFixture().started()
        try fixture.loseEvents { try fixture.drop("a.json") }
        try await fixture.catchUp()
        #expect(!fixture.claimed.contains("a.json"))
        fixture.intake.queue.sync { fixture.intake.handle([.overflow]) }
        try await fixture.wait(for: "its claim") { fixture.claimed.contains("a.json") }
        #expect(fixture.journal.all(.eventsLost).count == 1)
    }

    @Test func scansNowAndThen() async throws {
        let fixture = try IntakeFixture(rescanInterval: 300).started()
        try fixture.loseEvents { try fixture.drop("a.json") }
        try await fixture.catchUp()
        #expect(!fixture.claimed.contains("a.json"))
        fixture.time.advance(by: 300)
        try await fixture.wait(for: "its claim") { fixture.claimed.contains("a.json") }
    }

    // MARK: What is not taken

    @Test func tellsOnceWhatItDoesNotTake() async throws {
        let fixture = try IntakeFixture().started()
        let inbox = try fixture.spool.openInbox()
        try inbox.makeDirectory("folder.json")
        // It has not changed for long.
        let past = [timespec](repeating: timespec(tv_sec: 1_000_000_000, tv_nsec: 0), count: 2)
        #expect(utimensat(AT_FDCWD, inbox.path + "/folder.json", past, 0) == 0)
        #expect(symlink("/etc/hostname", inbox.path + "/link.json") == 0)
        try fixture.drop("picture.png", "x")
        try fixture.drop(".hidden.json")
        try fixture.drop("a.json.part")
        try await fixture.catchUp()
        for _ in 0..<3 {
            fixture.intake.rescan()
            fixture.intake.queue.sync {}
        }
        let told = fixture.journal.all(.notTaken).compactMap { $0[.file] }.sorted()
        #expect(told == ["folder.json", "link.json", "picture.png"])
        let report = try fixture.report()
        let reasons = report.files.map { "\($0.name): \($0.reason.rawValue)" }
        #expect(
            reasons == [
                "link.json: not-a-file", "folder.json: folder", "picture.png: picture",
                ".hidden.json: ignored-name", "a.json.part: ignored-name",
            ])
        // What takes its place is another file.
        try inbox.removeDirectory("folder.json")
        try fixture.drop("folder.json")
        try await fixture.wait(for: "its claim") { fixture.claimed.contains("folder.json") }
    }

    /// Of a folder that was moved there by mistake not each file is told of.
    @Test func tellsOfManyTogether() async throws {
        let fixture = try IntakeFixture().started()
        for index in 0..<120 { try fixture.drop(FileName("\(index).png"), "x") }
        try await fixture.catchUp()
        #expect(fixture.journal.all(.notTaken).count == NoticeLimit.limit)
        fixture.time.advance(by: 60)
        try await fixture.wait(for: "the rest") {
            fixture.journal.all(.notTaken).last?[.count] == "20"
        }
    }

    // MARK: The folder

    @Test(arguments: [true, false])
    func makesTheInboxAgainWhereItIsGone(isRenamed: Bool) async throws {
        let fixture = try IntakeFixture().started()
        let root = fixture.spool.root
        if isRenamed {
            try root.rename("inbox", to: root, as: "elsewhere")
        } else {
            try root.removeDirectory("inbox")
        }
        try await fixture.wait(for: .watching, count: 2)
        #expect(fixture.journal.all(.inboxLost).count == 1)
        let inbox = try fixture.spool.openInbox()
        try fixture.spool.tmp.write(
            Array(IntakeFixture.manifest.utf8), to: "a.json", durably: false)
        try fixture.spool.tmp.rename("a.json", to: inbox, as: "a.json")
        try await fixture.wait(for: .batchClaimed)
        #expect(fixture.losses.errors.isEmpty)
    }

    @Test func cannotGoOnWithoutItsOtherFolders() async throws {
        let fixture = try IntakeFixture().started()
        let root = fixture.spool.root
        try root.rename("outbox", to: root, as: "elsewhere")
        try await fixture.wait(for: "the loss") { fixture.losses.errors.count == 1 }
        #expect(fixture.losses.errors.first?.path == root.path(of: "outbox"))
    }

    // MARK: Many

    /// What waits beyond `batches.maxWaiting` stays in the inbox, and is taken when there is room.
    @Test func leavesInTheInboxWhatMayNotWait() async throws {
        let fixture = try IntakeFixture(maximumWaiting: 2)
        fixture.base.scheduler.suspend()
        try fixture.start()
        for index in 0..<2 {
            try fixture.drop(FileName("\(index).json"))
            try await fixture.wait(for: .batchClaimed, count: index + 1)
        }
        for index in 2..<6 { try fixture.drop(FileName("\(index).json")) }
        try await fixture.wait(for: "the rest") {
            try fixture.report().counts["over-limit"] == 4
        }
        #expect(fixture.claimed.count == 2)
        #expect(try fixture.report().why?.code == "over-limit")
        #expect(fixture.intake.backlog.overLimit == 4)
        fixture.base.scheduler.resume()
        try await fixture.wait(for: .batchClaimed, count: 6)
        #expect(fixture.claimed.sorted() == (0..<6).map { "\($0).json" })
        try await fixture.finish()
        #expect(try fixture.base.finished.count == 6)
        #expect(try fixture.report().why == nil)
    }

    /// One that takes long to read keeps nobody else's waiting.
    @Test func readsLargeManifestsBesideTheOthers() async throws {
        let fixture = try IntakeFixture().started()
        fixture.intake.largeManifests.suspend()
        try fixture.drop("large.json", Self.large("i"))
        try fixture.drop("second.json", Self.large("j"))
        try fixture.drop("small.json")
        try await fixture.wait(for: .batchClaimed)
        #expect(fixture.claimed == ["small.json"])
        let report = try fixture.report()
        #expect(report.counts["queued"] == 2)
        fixture.intake.largeManifests.resume()
        try await fixture.wait(for: .batchClaimed, count: 3)
        // One after the other.
        #expect(fixture.claimed == ["small.json", "large.json", "second.json"])
    }

    /// Where somebody's batches are as many as may wait, an owner without one is not over the limit.
    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func theLimitOfOneIsNotThatOfOthers() async throws {
        let fixture = try IntakeFixture(maximumWaiting: 1)
        fixture.base.scheduler.suspend()
        try fixture.start()
        try fixture.drop("small.json")
        try await fixture.wait(for: .batchClaimed)
        fixture.intake.largeManifests.suspend()
        defer { fixture.intake.largeManifests.resume() }
        let owners: [(String, UInt32)] = [("first", 1000), ("second", 2000), ("third", 0)]
        for (name, owner) in owners {
            try fixture.drop(FileName("\(name).json"), Self.large(name), owner: owner)
        }
        #expect(try fixture.report().why?.code == "over-limit")
        // The first is in hand.
        try await fixture.wait(for: "their reasons") {
            try owners.map { try fixture.reason("\($0.0).json") }
                == [.queued, .queued, .overLimit]
        }
        #expect(fixture.claimed == ["small.json"])
    }

    /// What was submitted may be moved back and come again before its end is noted.
    @Test func takesWhatComesAgainWhileItsNameIsInHand() throws {
        let fixture = try IntakeFixture().started()
        let intake = fixture.intake
        intake.queue.sync {
            intake.largeInHand = "again.json"
            intake.arrived("again.json", isWhole: false)
            intake.arrived("again.json", isWhole: true)
            #expect(!intake.arrivals.contains("again.json"))
            intake.putDownLarge()
            #expect(intake.largeInHand == nil && intake.arrivals.isWhole("again.json"))
            intake.largeInHand = "other.json"
            intake.putDownLarge()
            #expect(!intake.isQueued("other.json"))
        }
    }

    /// A manifest of more than a quarter of a megabyte, most of it space.
    private static func large(_ name: String) -> String {
        #"{"images": [{"name": "\#(name)", "source": "s"}]}"#
            + String(repeating: " ", count: 300_000)
    }

    // MARK: Stopping

    @Test func takesNothingAfterAStop() async throws {
        let fixture = try IntakeFixture().started()
        try await fixture.catchUp()
        fixture.intake.stop()
        #expect(try fixture.report().why?.code == "stopping")
        try fixture.drop("late.json")
        fixture.intake.end()
        let report = try fixture.report()
        #expect(report.why?.code == "stopped" && report.files.map(\.name) == ["late.json"])
        #expect(try fixture.names == ["late.json"])
    }

    /// A report that could not be written is written as soon as it can be, although nothing has changed.
    @Test func writesARefusedReportLater() throws {
        let fixture = try IntakeFixture()
        let root = fixture.spool.root
        try root.makeDirectory("inbox.json")
        try fixture.start()
        #expect(fixture.journal.all(.reportFailed).count == 1)
        try root.removeDirectory("inbox.json")
        fixture.time.advance(by: 5)
        fixture.intake.queue.sync {}
        #expect(try root.information(of: "inbox.json")?.isRegularFile == true)
        #expect(fixture.journal.all(.reportFailed).count == 1)
    }
}
