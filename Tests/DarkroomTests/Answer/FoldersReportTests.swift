import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer

@Suite struct FoldersReportTests {
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
                    path: "/a", recipe: "web", originals: .keep, state: .missing, message: "m",
                    since: "s", remembered: 1, batches: 2, counts: counts, files: [file])
            ])
        #expect(FoldersReport(decoding: report.encoded()) == report)
        let url = Repository.root.appending(path: "etc/folders.schema.json")
        let schema = try JSONSerialization.jsonObject(with: Data(contentsOf: url))
        let object = try JSONSerialization.jsonObject(with: Data(report.encoded()))
        func within(_ value: Any?, _ keys: String...) -> [String: Any] {
            keys.reduce(value as? [String: Any] ?? [:]) { $0[$1] as? [String: Any] ?? [:] }
        }
        func first(_ value: Any?) -> [String: Any] {
            (value as? [Any])?.first as? [String: Any] ?? [:]
        }
        let top = within(schema, "properties")
        #expect(Set(within(object).keys) == Set(top.keys))
        let folder = within(top, "folders", "items", "properties")
        let found = first(within(object)["folders"])
        #expect(Set(found.keys) == Set(folder.keys))
        #expect(
            Set(within(found, "counts").keys) == Set(within(folder, "counts", "properties").keys))
        let item = within(folder, "files", "items", "properties")
        #expect(Set(first(found["files"]).keys) == Set(item.keys))
        #expect(
            within(item, "reason")["enum"] as? [String] == HotFileReason.allCases.map(\.rawValue))
        #expect(
            within(folder, "state")["enum"] as? [String]
                == FoldersReport.State.allCases.map(\.rawValue))
        #expect(
            within(folder, "originals")["enum"] as? [String]
                == HotFolder.Originals.allCases.map(\.rawValue))
        #expect(within(folder, "files")["maxItems"] as? Int == FoldersReport.capacity)
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
