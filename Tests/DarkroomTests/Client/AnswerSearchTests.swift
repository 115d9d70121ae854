import Foundation
import Testing

@testable import DarkroomClient
@testable import DarkroomCore
@testable import DarkroomSpool

/// Which batch a dropped manifest has become.
struct AnswerSearchTests {
    @Test(arguments: [
        ("x", "x", true), ("x", "x-2", true), ("x", "x-10", true), ("x", "x-1", false),
        ("x", "x-0", false), ("x", "x-02", false), ("x", "x-", false), ("x", "x-2a", false),
        ("x", "xy", false), ("x", "y", false), ("x-2", "x-2-3", true), ("x-2", "x-3", false),
    ]) func knowsTheNamesThatAreGiven(base: String, name: String, isCandidate: Bool) {
        #expect(AnswerSearch.isCandidate(FileName(name), of: Array(base.utf8)) == isCandidate)
    }

    @Test func findsTheBatchByTheIdentity() throws {
        let outbox = try ClientSpool()
        var search = try AnswerSearch(stem: "x", in: outbox.open())
        #expect(try search.find("x.json", identity: "7-1.5") == nil)
        // Another submitter was faster, and a third one has a similar name.
        try outbox.writeProgress("x", identity: "8-1.5")
        try outbox.writeProgress("x-y", identity: "7-1.5")
        #expect(try search.find("x.json", identity: "7-1.5") == nil)
        try outbox.writeProgress("x-2", identity: "7-1.5")
        #expect(try search.find("x.json", identity: "7-1.5") == "x-2")
    }

    /// A daemon of an older version writes no progress.
    @Test func readsTheStatusWhereThereIsNoProgress() throws {
        let outbox = try ClientSpool()
        var search = try AnswerSearch(stem: "x", in: outbox.open())
        try outbox.writeStatus("x", identity: "8-1.5")
        try outbox.writeStatus("x-2", identity: "7-1.5")
        #expect(try search.find("x.json", identity: "7-1.5") == "x-2")
    }

    /// Without times of birth, an earlier file may have had the same identity.
    @Test func neverTakesABatchThatWasThereBefore() throws {
        let outbox = try ClientSpool()
        try outbox.writeProgress("x", identity: "7-0.000000000")
        var search = try AnswerSearch(stem: "x", in: outbox.open())
        #expect(try search.find("x.json", identity: "7-0.000000000") == nil)
        try outbox.writeProgress("x-2", identity: "7-0.000000000")
        #expect(try search.find("x.json", identity: "7-0.000000000") == "x-2")
        // Nor under a name with a number.
        try outbox.writeProgress("y-2", identity: "7-0.000000000")
        search = try AnswerSearch(stem: "y", in: outbox.open())
        #expect(try search.find("y-2.json", identity: "7-0.000000000") == nil)
    }

    @Test func readsAgainWhatWasRemovedAndGiven() throws {
        let outbox = try ClientSpool()
        try outbox.writeProgress("x", identity: "8-1.5")
        var search = try AnswerSearch(stem: "x", in: outbox.open())
        try FileManager.default.removeItem(atPath: "\(outbox.path)/outbox/x")
        #expect(try search.find("x.json", identity: "7-1.5") == nil)
        try outbox.writeProgress("x", identity: "7-1.5")
        #expect(try search.find("x.json", identity: "7-1.5") == "x")
    }

    @Test func cutsLongNamesAsTheDaemonDoes() throws {
        let outbox = try ClientSpool()
        let name = String(repeating: "é", count: 110)
        var search = try AnswerSearch(stem: name, in: outbox.open())
        let id = Claim.id(fromFileName: name + ".json")
        try outbox.writeProgress(id + "-3", identity: "7-1.5")
        #expect(try search.find(FileName(name + ".json"), identity: "7-1.5") == id + "-3")
    }
}
