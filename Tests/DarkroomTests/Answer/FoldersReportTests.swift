import TestSupport
import Testing

@testable import DarkroomAnswer

struct FoldersReportTests {
    /// Every key that a report can have is described in the schema, the schema has no other, and it knows every word.
    @Test func agreesWithItsSchema() throws {
        var counts: [String: Int] = [:]
        for reason in HotFileReason.allCases { counts[reason.rawValue] = 1 }
        let file = FoldersReport.File(
            path: .root.appending("a"), reason: .queued, message: "m")
        let report = FoldersReport(
            written: "w",
            folders: [
                .init(
                    path: "/a", recipe: "web", originals: .move, originalsTo: "/b", state: .missing,
                    message: "m", since: "s", remembered: 1, batches: 2, counts: counts,
                    files: [file])
            ])
        #expect(FoldersReport(decoding: report.encoded()) == report)
        let members = try JSONSchema(file: "folders.schema.json").members
        #expect(try JSONSchema.paths(of: report.encoded()) == Set(members.keys))
        for (path, words) in [
            ("folders.files.reason", HotFileReason.allCases.map(\.rawValue)),
            ("folders.state", FoldersReport.State.allCases.map(\.rawValue)),
            ("folders.originals", HotFolder.Originals.words.map(\.rawValue)),
        ] {
            #expect(members[path]?["enum"] as? [String] == words)
        }
        #expect(members["folders.files"]?["maxItems"] as? Int == FoldersReport.capacity)
    }

    /// On a full disk.
    @Test func isShortenedAcrossItsFolders() {
        let files = (0..<5).map {
            FoldersReport.File(path: .root.appending("\($0)"), reason: .empty, message: "m")
        }
        func folder(_ path: String) -> FoldersReport.Folder {
            .init(
                path: path, recipe: "web", originals: .keep, state: .watching, message: nil,
                since: "s", remembered: 0, batches: 0, counts: [:], files: files)
        }
        let report = FoldersReport(written: "w", folders: [folder("/a"), folder("/b")])
        #expect(report.listCount == 10)
        #expect(report.shortened(to: 8).folders.map(\.files.count) == [5, 3])
    }
}
