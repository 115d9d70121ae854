import Foundation
import TestSupport
import Testing

@testable import DarkroomBatch
@testable import DarkroomConfiguration
@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomRun
@testable import DarkroomSpool

/// What `darkroom verify` finds. Its repetition of the work is tested end to end.
@Suite struct FolderCheckTests {
    private let fixture: ShardFixture
    private var path: String { "\(fixture.scratch.path)/whole" }
    private var folder: Directory { get throws { try Directory(path: path) } }

    init() throws {
        fixture = try ShardFixture(images: 20, count: 3)
        _ = try fixture.runWhole { image in
            guard image.name == "7" else { return }
            image.state = .failed
            image.error = Failure(code: "source-missing", message: "m")
        }
    }

    private func findings(_ path: String) throws -> (found: [String], summary: FolderSummary) {
        var found: [String] = []
        let check = try FolderCheck(path) { finding in
            found.append("\(finding.kind.rawValue) \(finding.image ?? "-") \(finding.file)")
        }
        try check.run { _, _ in }
        #expect(check.summary.findings == found.count)
        return (found, check.summary)
    }

    @Test func findsNothingInAWholeFolder() throws {
        let (found, summary) = try findings(path)
        #expect(found == [])
        #expect(summary.id == "x" && summary.images == 20 && summary.outputs == 19)
        let bytes = try fixture.manifest.images.map(\.outputFile).filter { $0 != "7.png" }
            .map { try folder.read(FileName($0)).count }.reduce(0, +)
        #expect(summary.bytes == bytes)
    }

    @Test func findsEachDifference() throws {
        try folder.remove("1.png")
        try folder.write([1], to: "2.png", replacing: true, durably: false)
        var content = try folder.read("3.png")
        content[3] ^= 1
        try folder.write(content, to: "3.png", replacing: true, durably: false)
        try folder.remove("4.png")
        try folder.makeDirectory("4.png")
        try folder.write([1], to: "7.png", durably: false)
        try folder.write([1], to: "notes.txt", durably: false)
        try folder.makeDirectory("folder")
        try folder.write([1], to: "manifest.json", replacing: true, durably: false)
        #expect(
            try findings(path).found == [
                "differs - manifest.json", "missing 1 1.png", "differs 2 2.png", "differs 3 3.png",
                "differs 4 4.png", "extra - 7.png", "extra - folder", "extra - notes.txt",
            ])
    }

    /// The length is the same; a link is not followed.
    @Test func aLinkIsADifference() throws {
        try folder.rename("1.png", to: folder, as: "elsewhere")
        #expect(symlink("elsewhere", "\(path)/1.png") == 0)
        #expect(try findings(path).found == ["differs 1 1.png", "extra - elsewhere"])
    }

    @Test func aMergedFolderIsWhole() throws {
        for number in 1...3 { try fixture.run(number) }
        #expect(throws: RunError.notMerged(fixture.path)) { try findings(fixture.path) }
        _ = try fixture.merge()
        let (found, summary) = try findings(fixture.path)
        #expect(found == [])
        #expect(summary.outputs == 20)
    }

    @Test func otherFoldersAreRefused() throws {
        #expect(throws: RunError.noRun(fixture.scratch.path)) {
            try findings(fixture.scratch.path)
        }
        var status = try #require(try Status(in: folder))
        status.state = .processing
        try folder.write(status.encoded(), to: BatchFile.status, replacing: true, durably: false)
        #expect(throws: RunError.unfinished(path)) { try findings(path) }
        try folder.write([1], to: BatchFile.status, replacing: true, durably: false)
        #expect(throws: RunError.unreadable("\(path)/status.json")) { try findings(path) }
        status.state = .completedWithErrors
        status.images.removeLast()
        try folder.write(status.encoded(), to: BatchFile.status, replacing: true, durably: false)
        #expect(throws: RunError.unreadable("\(path)/status.json")) { try findings(path) }
    }
}
