import Foundation
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomRun
@testable import DarkroomSpool

/// What `darkroom verify` finds. Its repetition of the work is tested end to end.
struct FolderCheckTests {
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
        #expect(check.summary.findings + check.summary.deliveredFindings == found.count)
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

    @Test(arguments: ["../outside.png", "/etc/passwd", ".."])
    func refusesAStatusThatLeadsOut(name: String) throws {
        let text = String(decoding: try folder.read("status.json"), as: UTF8.self)
        let altered = text.replacingOccurrences(
            of: "\"file\" : \"3.png\"", with: "\"file\" : \"\(name)\"")
        #expect(altered != text)
        try folder.put(Array(altered.utf8), to: "status.json")
        let error = #expect(throws: RunError.self) { try findings(path) }
        guard case .unreadable = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func findsEachDifference() throws {
        try folder.remove("1.png")
        try folder.put([1], to: "2.png")
        var content = try folder.read("3.png")
        content[3] ^= 1
        try folder.put(content, to: "3.png")
        try folder.remove("4.png")
        try folder.makeDirectory("4.png")
        try folder.write([1], to: "7.png", durably: false)
        try folder.write([1], to: "notes.txt", durably: false)
        try folder.makeDirectory("folder")
        try folder.put([1], to: "manifest.json")
        #expect(
            try findings(path).found == [
                "differs - manifest.json", "missing 1 1.png", "differs 2 2.png", "differs 3 3.png",
                "differs 4 4.png", "extra - 7.png", "extra - folder", "extra - notes.txt",
            ])
    }

    /// Copies that were delivered are told apart: nothing of the folder is lost with them.
    @Test func looksAtDeliveredCopies() throws {
        let web = "\(fixture.scratch.path)/web"
        try FileManager.default.createDirectory(atPath: web, withIntermediateDirectories: false)
        var text = String(decoding: try folder.read("status.json"), as: UTF8.self)
        for name in ["1", "2", "3", "4"] {
            let output = "\"name\" : \"\(name)\""
            #expect(text.contains(output))
            text = text.replacingOccurrences(
                of: output, with: "\"deliveredTo\" : \"\(web)/\(name)-x.png\", \(output)")
            try FileManager.default.copyItem(
                atPath: "\(path)/\(name).png", toPath: "\(web)/\(name)-x.png")
        }
        try folder.put(Array(text.utf8), to: "status.json")
        var found = try findings(path)
        #expect(found.found == [] && found.summary.delivered == 4)
        #expect(found.summary.deliveredFindings == 0)
        try FileManager.default.removeItem(atPath: "\(web)/2-x.png")
        var content = try Data(contentsOf: URL(filePath: "\(web)/3-x.png"))
        content[5] ^= 1
        try content.write(to: URL(filePath: "\(web)/3-x.png"))
        try FileManager.default.removeItem(atPath: "\(web)/4-x.png")
        try FileManager.default.createSymbolicLink(
            atPath: "\(web)/4-x.png", withDestinationPath: "\(path)/4.png")
        found = try findings(path)
        #expect(
            found.found == [
                "delivered-missing 2 \(web)/2-x.png", "delivered-differs 3 \(web)/3-x.png",
                "delivered-differs 4 \(web)/4-x.png",
            ])
        #expect(found.summary.findings == 0 && found.summary.deliveredFindings == 3)
        #expect(found.summary.missing == 0 && found.summary.changed == 0)
        try FileManager.default.removeItem(atPath: web)
        #expect(try findings(path).summary.deliveredFindings == 4)
    }

    /// What NFS and desktops leave in a folder is no surplus output.
    @Test func whatMachinesMakeIsNotExtra() throws {
        for name in [".nfs0000000000abcdef00000001", "Thumbs.db", ".DS_Store"] {
            try folder.write([], to: FileName(name), durably: false)
        }
        try folder.makeDirectory("@eaDir")
        #expect(try findings(path).found == [])
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
        try folder.put(status.encoded(), to: BatchFile.status)
        #expect(throws: RunError.unfinished(path)) { try findings(path) }
        try folder.put([1], to: BatchFile.status)
        #expect(throws: RunError.unreadable("\(path)/status.json")) { try findings(path) }
    }

    // MARK: The status, the manifest and the other files of the answer

    private func messages() throws -> [String] {
        var found: [String] = []
        let check = try FolderCheck(path) { finding in
            found.append(
                "\(finding.kind.rawValue) \(finding.image ?? "-") \(finding.file): \(finding.message)"
            )
        }
        try check.run { _, _ in }
        return found
    }

    private func edit(_ change: (inout Status) -> Void) throws {
        var status = try #require(try Status(in: folder))
        change(&status)
        try folder.put(status.encoded(), to: BatchFile.status)
    }

    struct Edit: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let messages: [String]
        let change: @Sendable (inout Status) -> Void

        init(
            _ name: String, _ messages: [String],
            _ change: @escaping @Sendable (inout Status) -> Void
        ) {
            testDescription = name
            self.messages = messages
            self.change = change
        }
    }

    private static let stale = "differs - progress.json: it does not say what status.json says"

    @Test(arguments: [
        Edit(
            "an image less",
            [
                "differs - status.json: its counts say 20 images, and it has 19",
                "differs - status.json: it has 19 images, and the manifest 20",
                stale, "extra - 19.png: no image has this file",
            ], { $0.images.removeLast() }),
        Edit(
            "an image less, also in the counts",
            [
                "differs - status.json: it has 19 images, and the manifest 20", stale,
                "extra - 19.png: no image has this file",
            ],
            {
                $0.images.removeLast()
                $0.counts = Status.Counts(of: $0.images)
            }),
        Edit(
            "an image twice",
            [
                "differs 3 status.json: the manifest has ‘4’ in its place", stale,
            ],
            {
                $0.images.insert($0.images[3], at: 4)
                $0.counts = Status.Counts(of: $0.images)
            }),
        Edit(
            "an image too many",
            ["differs 19 status.json: the manifest has no such image", stale],
            {
                $0.images.append($0.images[19])
                $0.counts = Status.Counts(of: $0.images)
            }),
        Edit(
            "others' names", ["differs 4 status.json: the manifest has ‘3’ in its place"],
            { $0.images.swapAt(3, 4) }),
        Edit(
            "a failed image that is filtered",
            ["differs - status.json: its counts are not those of its images"],
            {
                $0.images[7].state = .filtered
                $0.images[7].output = $0.images[6].output
            }),
        Edit(
            "the output of another image",
            [
                "differs 5 status.json: its output must be 5.png, and is 6.png",
                // As if it had a template.
                "missing - sizes.json: there is no such file",
                "extra - 5.png: no image has this file",
            ], { $0.images[5].output = $0.images[6].output }),
        Edit(
            "no output",
            [
                "differs 5 status.json: its output must be 5.png, and is none", stale,
                "extra - 5.png: no image has this file",
            ],
            { $0.images[5].output = nil }),
        Edit(
            "another state",
            [
                "differs - status.json: its state must be completedWithErrors, and is completed",
                stale,
            ], { $0.state = .completed }),
        Edit(
            "another ID", ["differs - status.json: its ID must be x, and is y", stale],
            { $0.id = "y" }),
        Edit(
            "another priority", ["differs - status.json: its priority must be normal, and is high"],
            { $0.priority = .high }),
        Edit(
            "another source",
            ["differs 5 status.json: its source must be 5.png, and is 6.png"],
            { $0.images[5].source = "6.png" }),
        Edit(
            "no source",
            ["differs 7 status.json: its source must be 7.png, and is none"],
            { $0.images[7].source = nil }),
        Edit(
            "another format",
            ["differs 5 status.json: the format of its output must be png, and is jpeg"],
            { $0.images[5].output?.format = .jpeg }),
    ]) func comparesTheStatusWithTheManifest(edit: Edit) throws {
        #expect(try messages() == [])
        try self.edit(edit.change)
        var expected = edit.messages
        if edit.testDescription == "a failed image that is filtered" {
            // Its output has another name, and its size is counted twice.
            expected.insert(
                "differs 7 status.json: its output must be 7.png, and is 6.png", at: 0)
            expected += [Self.stale, "missing - sizes.json: there is no such file"]
        }
        let found = try messages()
        #expect(found == expected)
    }

    /// Nobody relies on it, so it may be missing.
    @Test(
        arguments: [
            (nil, []), ("garbage", ["differs - progress.json: it is not what darkroom writes"]),
            ("{}", ["differs - progress.json: it is not what darkroom writes"]),
        ] as [(String?, [String])])
    func looksAtTheProgress(text: String?, expected: [String]) throws {
        try folder.remove(BatchFile.progress)
        if let text { try folder.write(Array(text.utf8), to: BatchFile.progress, durably: false) }
        #expect(try messages() == expected)
    }

    /// The manifest has no patterns.
    @Test func aPlantedListOfSourcesIsExtra() throws {
        try folder.write(
            SourceRecord([FoundSources(pattern: "*.png", files: ["a.png"])]).encoded(),
            to: BatchFile.sources, durably: false)
        #expect(
            try messages() == [
                "extra - sources.json: the manifest has no pattern and no folder"
            ])
    }

    /// A manifest with a pattern, and what `sources.json` says that it meant.
    @Test(
        arguments: [
            (["photos/1.png", "photos/2.png"], []),
            // A folder of sources.roots.
            (["/srv/photos/1.png", "/srv/photos/2.png"], []),
            (
                ["photos/1.png", "/etc/passwd"],
                ["differs - sources.json: ‘/etc/passwd’ is not a file of ‘photos/*.png’"]
            ),
            (
                ["photos/1.png", "photos/2.jpg"],
                ["differs - sources.json: ‘photos/2.jpg’ is not a file of ‘photos/*.png’"]
            ),
            (
                ["photos/1.png", "photos/9.png"],
                ["differs 2 status.json: the manifest has ‘9’ in its place"]
            ),
            (["photos/1.png"], ["differs 2 status.json: the manifest has no such image"]),
            (nil, ["missing - sources.json: the manifest has patterns or folders"]),
            ([], ["differs - sources.json: it lacks what a pattern of the manifest means"]),
        ] as [([String]?, [String])])
    func comparesWhatPatternsMeant(files: [String]?, expected: [String]) throws {
        let text = Array(#"{"images": ["photos/*.png"], "filters": []}"#.utf8)
        try edit { status in
            status.images = [1, 2].map { status.images[$0] }
            for (index, file) in (files ?? []).prefix(2).enumerated() {
                status.images[index].source = file
            }
            status.counts = Status.Counts(of: status.images)
            status.manifest.sha256 = SHA256Digest.hex(of: text)
            status.manifest.bytes = text.count
            status.state = .completed
        }
        for name in try folder.names()
        where name.hasSuffix(".png") && !["1.png", "2.png"].contains(name) {
            try folder.remove(name)
        }
        try folder.remove(BatchFile.progress)
        try folder.put(text, to: "manifest.json")
        if let files {
            let found =
                files.isEmpty
                ? [] : [FoundSources(pattern: "photos/*.png", files: files.map { ByteString($0) })]
            try folder.write(SourceRecord(found).encoded(), to: BatchFile.sources, durably: false)
        }
        let found = try messages()
        #expect(found.count == expected.count)
        for (message, start) in zip(found, expected) { #expect(message.hasPrefix(start)) }
    }

    @Test func aDamagedListOfSourcesDiffers() throws {
        let text = Array(#"{"images": ["photos/*.png"], "filters": []}"#.utf8)
        try edit {
            $0.manifest.sha256 = SHA256Digest.hex(of: text)
            $0.manifest.bytes = text.count
        }
        try folder.put(text, to: "manifest.json")
        try folder.write([1], to: BatchFile.sources, durably: false)
        #expect(
            try messages() == ["differs - sources.json: it is not what darkroom writes"])
    }
}
