import Foundation
import Glibc
import TestSupport
import Testing

/// Places of originals and outputs that refuse everything for a while, and what ends that.
@Suite(.fewAtATime) struct OutageTests {
    /// What somebody has taken away, or replaced, does not stay.
    @Test func whatIsNotThereDoesNotStay() async throws {
        let fixture = try HotFolderFixture(originals: "{move: DONE}", options: ", within: 1s")
        try FileManager.default.removeItem(atPath: fixture.done)
        for (seed, name) in ["a.png", "b.png", "sub/c.png"].enumerated() {
            try fixture.put(name, seed)
        }
        let daemon = try await fixture.run()
        let id = try await fixture.waiting("originals", daemon).id
        #expect(rename(fixture.path("a.png"), "\(fixture.scratch.path)/a.png") == 0)
        #expect(rename(fixture.path("sub"), "\(fixture.scratch.path)/sub") == 0)
        try fixture.spool.drop("\(id).cancel", "")
        let status = try await fixture.spool.finish(id, daemon)
        #expect(Set(status.images.map(\.name)) == ["a", "b", "sub-c"])
        for image in status.images {
            let words =
                "its original stays: \(fixture.done): cannot open: No such file or directory"
            #expect(image.warnings == (image.name == "b" ? [words] : nil))
        }
        #expect(status.images.allSatisfy { $0.originalAt == nil })
        #expect(try await daemon.stop() == .exited(0))
    }

    /// The outage of a folder for originals ends, also if nothing moves; the next one is told again.
    @Test func anOutageEndsWithoutAMove() async throws {
        let fixture = try HotFolderFixture(originals: "{move: DONE}", options: ", within: 200ms")
        try FileManager.default.removeItem(atPath: fixture.done)
        try fixture.put("a.png", 1)
        let daemon = try await fixture.run()
        let id = try await fixture.waiting("originals", daemon).id
        try await daemon.says("originals of \(fixture.folder) cannot be moved there")
        #expect(rename(fixture.path("a.png"), "\(fixture.scratch.path)/a.png") == 0)
        try FileManager.default.makeFolder(atPath: fixture.done)
        let status = try await fixture.spool.finish(id, daemon)
        #expect(status.images[0].originalAt == nil && status.images[0].warnings == nil)
        try await daemon.says("can be moved there again")
        #expect(fixture.scratch.list("done") == [])
        #expect(try await daemon.stop() == .exited(0))
    }

    /// The same of a folder for outputs.
    @Test func anOutageEndsWithoutADelivery() async throws {
        let fixture = try HotFolderFixture(
            options: ", within: 200ms, deliver: {to: DONE, ifExists: fail}")
        try FileManager.default.removeItem(atPath: fixture.done)
        try fixture.put("a.png", 1)
        let daemon = try await fixture.run()
        let id = try await fixture.waiting("delivery", daemon).id
        try await daemon.says("\(fixture.done): outputs cannot be delivered there")
        let new = "\(fixture.scratch.path)/new"
        try FileManager.default.makeFolder(atPath: new)
        try Data().write(to: URL(filePath: "\(new)/a.png"))
        #expect(rename(new, fixture.done) == 0)
        let status = try await fixture.spool.finish(id, daemon)
        #expect(status.images[0].error?.code == "delivery-exists")
        try await daemon.says("outputs can be delivered there again")
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func aPictureComesAgainUnderItsName() async throws {
        let fixture = try HotFolderFixture(
            options: ", within: 100ms, deliver: {to: DONE, ifExists: fail}")
        try Data().write(to: URL(filePath: "\(fixture.done)/a.png"))
        try fixture.put("a.png", 1)
        let daemon = try await fixture.run()
        let first = try await fixture.expectAnswers(["a.png"], daemon)
        #expect(first[0].image.error?.code == "delivery-exists")
        try FileManager.default.removeItem(atPath: "\(fixture.done)/a.png")
        // Its copies are gone, so that a retry has no effect.
        try fixture.spool.drop("\(first[0].id).retry", "")
        try await daemon.says("\(first[0].id).retry has no effect")
        try fixture.write(HotFolderFixture.picture(1), to: "a.png.tmp")
        #expect(rename(fixture.path("a.png.tmp"), fixture.path("a.png")) == 0)
        let all = try await fixture.expectAnswers(["a.png", "a.png"], daemon)
        #expect(all.compactMap(\.image.deliveredTo) == ["\(fixture.done)/a.png"])
        #expect(fixture.scratch.list("done") == ["a.png"])
        #expect(try await daemon.stop() == .exited(0))
    }
}
