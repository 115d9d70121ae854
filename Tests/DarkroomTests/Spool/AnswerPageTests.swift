import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomSpool

/// The states of a page: each is made by hand, as a kill leaves it, and then the page is made.
final class AnswerPageTests: SpoolSuite {
    override init() throws {
        try super.init()
        try makeFolders()
    }

    private func list(_ path: String) throws -> [String] {
        try Directory(path: scratch.url.appending(path: path).path).names().map(\.text).sorted()
    }

    /// A whole page, with previews.
    private func writePage(_ folder: String, _ text: String, previews: [Int]) throws {
        try scratch.write(text, "\(folder)/index.html")
        try scratch.write("{}", "\(folder)/page.json")
        for index in previews {
            try scratch.write("\(text) \(index)", "\(folder)/previews/\(index).jpg")
        }
    }

    enum State: CaseIterable, Sendable {
        case nothing, collecting, writing, made, retried, withdrawn, moved, movedOver
    }

    /// - Returns: the folders of earlier pages, in which previews are looked for.
    private func bring(about state: State) throws -> [String] {
        switch state {
        case .nothing:
            return []
        case .collecting:
            try scratch.write("new 1", "active/x/page/previews/1.jpg")
            return []
        case .writing:
            try scratch.write("new 1", "active/x/page/previews/1.jpg")
            try scratch.write("<ht", "active/x/page/index.html")
            return []
        case .made:
            try writePage("active/x/page", "new", previews: [1, 2])
            return []
        case .retried:
            try scratch.write("new 1", "active/x/page/previews/1.jpg")
            try writePage("outbox/x/page", "old", previews: [1, 2])
            return ["outbox/x/page"]
        case .withdrawn:
            try writePage("active/x/page", "new", previews: [1])
            try writePage("active/x/page.old", "old", previews: [1, 2])
            return ["active/x/page.old"]
        case .moved:
            try writePage("outbox/x/page", "new", previews: [1, 2])
            return ["outbox/x/page"]
        case .movedOver:
            try writePage("outbox/x/page", "new", previews: [1])
            try writePage("active/x/page.old", "old", previews: [2])
            return ["active/x/page.old", "outbox/x/page"]
        }
    }

    @Test(arguments: State.allCases) func isWholeAfterEachState(state: State) throws {
        let former = try bring(about: state)
        try AnswerPage(of: folders).make { page, previews in
            #expect(previews.active.path == spool.active.path(of: "x"))
            #expect(previews.new.path == page.path(of: "previews"))
            #expect(previews.former.map(\.path) == former.map { "\(scratch.path)/\($0)/previews" })
            try page.write(Array("last".utf8), to: "index.html", replacing: true, durably: false)
            try previews.new.write(Array("8".utf8), to: "8.jpg", durably: false)
        }
        #expect(try list("outbox/x") == ["page"])
        #expect(try list("outbox/x/page") == ["index.html", "page.json", "previews"])
        #expect(try scratch.text("outbox/x/page/index.html") == "last")
        #expect(try scratch.text("outbox/x/page/previews/8.jpg") == "8")
        #expect(try !list("active/x").contains("page"))
        #expect(AnswerPage.isThere(in: try folders.outbox()))
    }

    /// A repetition without a page does not leave that of the former end.
    @Test func aFormerOneIsWithdrawn() throws {
        try AnswerPage(of: folders).withdrawFormer()
        try writePage("outbox/x/page", "old", previews: [1])
        try AnswerPage(of: folders).withdrawFormer()
        #expect(try list("outbox/x") == [])
        #expect(try list("active/x") == ["page.old"])
        try scratch.write("mine", "outbox/x/page/mine.html")
        #expect(throws: FileError.self) { try AnswerPage(of: folders).withdrawFormer() }
        #expect(try list("outbox/x/page") == ["mine.html"])
    }

    /// Nothing can be made in a folder that was removed while it is open.
    @Test func aRemovedOutboxIsAFaultOfTheStorage() throws {
        try spool.root.removeTree("outbox")
        try spool.root.makeDirectory("outbox")
        let error = #expect(throws: FileError.self) { try folders.restoredOutputs() }
        #expect(error?.code == "folder-lost" && error?.storageFailure == .lasting)
        #expect(
            error?.message
                == "\(scratch.path)/outbox: cannot use it: it was removed or renamed while darkroomd runs: No such file or directory"
        )
    }

    @Test func aFailedOneLeavesTheFormerPage() throws {
        try writePage("outbox/x/page", "old", previews: [1])
        let page = AnswerPage(of: folders)
        #expect(throws: Unexpected.self) { try page.make { _, _ in throw Unexpected() } }
        page.discard()
        #expect(try scratch.text("outbox/x/page/index.html") == "old")
        #expect(try list("active/x") == [])
    }

    @Test(arguments: ["outbox/x/page", "outbox/x/page/index.html", "outbox/x/page/mine/a"])
    func replacesNothingOfSomebodyElse(path: String) throws {
        if path.hasSuffix("/a") { try scratch.write("{}", "outbox/x/page/page.json") }
        try scratch.write("mine", path)
        let error = #expect(throws: FileError.self) {
            try AnswerPage(of: folders).make { _, _ in }
        }
        #expect(error?.code == "file-exists")
        #expect(try scratch.text(path) == "mine")
    }

    @Test func isGivenUpWhenTheProcessEndsEachTime() throws {
        try scratch.write(".....", "active/x/page.attempts")
        // A failure is not an end of the process.
        #expect(throws: Unexpected.self) {
            try AnswerPage(of: folders).make { _, _ in throw Unexpected() }
        }
        try scratch.write("......", "active/x/page.attempts")
        let error = #expect(throws: Failure.self) {
            try AnswerPage(of: folders).make { _, _ in }
        }
        #expect(
            error?.message == "x: darkroomd has ended 6 times while it made the page")
    }

    @Test func itsFilesCountAndGoWithTheAnswer() throws {
        try writePage("outbox/x/page", String(repeating: "a", count: 50_000), previews: [1, 2])
        let outbox = try folders.outbox()
        #expect(try AnswerPage.isOwn(in: outbox) && outbox.bytesOnDisk(of: "page") >= 150_000)
        try spool.outbox.rename("x", to: spool.active, as: ".expired-x")
        try clear(".expired-x")
        #expect(try list("active") == ["x"])
    }

    /// The removal goes on, whichever file was the last.
    @Test func anInterruptedRemovalGoesOn() throws {
        for count in 1...4 {
            try writePage("active/.expired-x/page", "a", previews: [1, 2])
            let asked = Atomic(0)
            let first = Expired(spool: spool) {
                asked.add(1, ordering: .relaxed).newValue > count
            }
            try first.clear(".expired-x")
            try clear(".expired-x")
            #expect(try list("active") == ["x"])
        }
    }

    @Test func aFolderOfSomebodyElseInItStays() throws {
        try writePage("active/.expired-x/page", "a", previews: [])
        try scratch.write("mine", "active/.expired-x/page/mine/a")
        #expect(throws: FileError.self) { try clear(".expired-x") }
        #expect(try scratch.text("active/.expired-x/page/mine/a") == "mine")
    }
}
