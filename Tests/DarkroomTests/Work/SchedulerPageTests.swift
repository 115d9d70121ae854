import Foundation
import TestPictures
import Testing

@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomSpool

/// Pages that the scheduler makes between the last image and the last status.
struct SchedulerPageTests {
    private static func manifest(_ wantsPage: Bool?) -> Manifest {
        Manifest(
            images: [
                Manifest.Image(name: "a", origin: .source("s")),
                Manifest.Image(name: "<b>", origin: .source("none")),
            ], wantsPage: wantsPage)
    }

    private static func page(_ fixture: SchedulerFixture) -> String? {
        let path = fixture.spool.outbox.path(of: "x") + "/page/index.html"
        return try? String(contentsOfFile: path, encoding: .utf8)
    }

    @Test(
        arguments: [
            (nil, false, false), (nil, true, true), (true, false, true), (false, true, false),
        ] as [(Bool?, Bool, Bool)])
    func theManifestDecidesBeforeTheConfiguration(
        wish: Bool?, configured: Bool, isMade: Bool
    ) async throws {
        let fixture = try SchedulerFixture { $0.makesPages = configured }
        #expect(
            try await fixture.complete("x", Self.manifest(wish), missing: ["none"]).state
                == .completedWithErrors)
        let page = Self.page(fixture)
        #expect((page != nil) == isMade)
        guard let page else { return }
        #expect(page.hasSuffix("</html>\n"))
        #expect(page.contains("completed with errors"))
        #expect(page.contains("<img class=\"tiny\" src=\"../a.png\" width=\"64\" height=\"48\""))
        #expect(page.contains("&lt;b&gt;") && !page.contains("<b>"))
        #expect(try fixture.spool.active.names() == [])
    }

    @Test func aLargePictureHasASmallCopy() async throws {
        let fixture = try SchedulerFixture()
        try fixture.setSource("s", Starfield.png(width: 1000, height: 700, seed: 3))
        try await fixture.complete("x", Self.manifest(true), missing: ["none"])
        let page = try #require(Self.page(fixture))
        #expect(page.contains("<img src=\"previews/1.jpg\" width=\"184\" height=\"128\""))
        #expect(page.contains("<img src=\"../a.png\" width=\"1000\" height=\"700\""))
        let folder = try Directory(path: fixture.spool.outbox.path(of: "x") + "/page/previews")
        let names = try folder.names().map(\.text).sorted()
        #expect(names.count == 2 && names[0] == "1.jpg")
        let sheet = try #require(names.last)
        #expect(sheet.hasPrefix("sheet-") && sheet.hasSuffix(".svg"))
        for view in ["before", "difference"] {
            #expect(
                page.contains(
                    "<img src=\"previews/\(sheet)#\(view)-1\" width=\"1000\" height=\"700\""))
        }
        #expect(try folder.read("1.jpg").starts(with: [0xFF, 0xD8, 0xFF]))
    }

    @Test func aBatchEndsWithoutAPageThatCannotBeMade() async throws {
        let fixture = try SchedulerFixture()
        fixture.holdOperations()
        try fixture.accept("x", Self.manifest(true), missing: ["none"])
        let answer = try BatchFolders(spool: fixture.spool, id: "x").outbox()
        try answer.write([1], to: "page", durably: false)
        fixture.releaseOperations()
        try await fixture.finish()
        #expect(try fixture.finished == ["x": .completedWithErrors])
        #expect(try answer.read("page") == [1])
        let record = try #require(fixture.journal.all(.pageFailed).first)
        #expect(record[.error] == "file-exists")
        #expect(record[.batch] == "x")
    }
}
