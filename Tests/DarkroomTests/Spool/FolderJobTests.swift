import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomSpool

@Suite(.tags(.concurrency)) final class FolderJobTests: SpoolSuite {
    static let text = #"{"images": {"a": "a.png", "b": "b.png"}}"#

    override var examination: Examination {
        Examination(limits: ManifestLimits(), defaultFilters: [], settle: 3600)
    }

    private func make(_ files: [FileName], in folder: FileName = "job") throws {
        try inbox.makeDirectory(folder)
        let folder = try Directory(folder, in: inbox)
        for name in files {
            try folder.write(Array(Self.text.utf8), to: name, durably: false)
        }
    }

    private func examine(isWhole: Bool = false) -> Verdict {
        examination.examine("job", in: inbox, isWhole: isWhole)
    }

    static let contents: [(files: [FileName], problem: FolderJob.Problem?)] = [
        (["manifest.json", "a.png"], nil), (["manifest.PLIST"], nil),
        (["a.png"], .noManifest), ([], .noManifest), (["Manifest.json"], .noManifest),
        (["manifest"], .noManifest), (["manifest.txt"], .noManifest),
        (["manifest.json", "manifest.yml"], .severalManifests),
    ]

    @Test(arguments: contents)
    func hasOneManifest(files: [FileName], problem: FolderJob.Problem?) throws {
        try make(files)
        switch examine(isWhole: true) {
        case .ready(let candidate): #expect(problem == nil && candidate.isFolder)
        case .ignored(let reason): #expect(problem.map { .folder($0) } == reason)
        default: throw Unexpected()
        }
    }

    @Test(
        arguments: [
            ("job", nil), ("a.png", nil), ("a.json", nil), (".job", .notYet(.dot)),
            ("job~", .notYet(.backup)), ("job.part", .notYet(.part)), ("x.cancel", .notAFile),
        ] as [(FileName, SkipReason?)]) func needsNoEnding(name: FileName, why: SkipReason?)
    {
        #expect(Examination.reasonToIgnore(name, isFolder: true) == why)
    }

    /// A manifest in a folder is read only if it is a file of the folder's owner.
    @Test func theManifestIsAFile() throws {
        try make([])
        let path = inbox.path + "/job/manifest.json"
        for make in [{ mkfifo($0, 0o600) }, { mkdir($0, 0o700) }, { symlink("/etc/passwd", $0) }] {
            #expect(make(path) == 0)
            guard case .ignored(.folder(.noManifest)) = examine(isWhole: true) else {
                throw Unexpected()
            }
            #expect(remove(path) == 0)
        }
    }

    /// The newest file decides, however deep it is.
    @Test func settlesWithItsNewestFile() throws {
        try make(["manifest.json"])
        let folder = try Directory("job", in: inbox)
        try folder.makeDirectory("sub")
        try Directory("sub", in: folder).write([1], to: "a.png", durably: false)
        let path = inbox.path + "/job"
        for name in ["/manifest.json", "/sub", ""] { setTimes(of: path + name, to: 1_000_000_000) }
        guard case .settling(let last) = examine() else { throw Unexpected() }
        let picture = try #require(try Directory("sub", in: folder).information(of: "a.png"))
        #expect(last == FileIdentity(picture))
        setTimes(of: path + "/sub/a.png", to: 1_000_000_000)
        guard case .ready = examine() else { throw Unexpected() }
    }

    @Test func isClaimedByOneRename() throws {
        try make(["manifest.json", "a.png"])
        let identity = try inbox.droppedIdentity(of: "job")
        let claimed = try take("job")
        #expect(claimed.id == "job" && claimed.name == "job" && claimed.isFolder)
        #expect(claimed.identity == identity && claimed.uid == geteuid())
        #expect(try inbox.names().isEmpty)
        let (_, status) = try Receipt.issue(for: claimed, durably: true)
        #expect(status.manifest.isFolder == true)
        let active = try claimed.folders.active()
        try SubmittedFile(in: active)?.remove(from: active)
        guard case .here(let pictures, let owner) = try claimed.folders.pictures() else {
            throw Unexpected()
        }
        #expect(Set(try pictures.names()) == ["manifest.json", "a.png"] && owner == geteuid())
        try Receipt.finish(claimed.folders, format: .json, durably: true)
        #expect(try spool.active.names().map { $0.text.hasPrefix(".ended-job.") } == [true])
        #expect(try ActiveFolder(of: spool).foreign.isEmpty)
        #expect(try spool.ended.clear { true } == 0)
        #expect(try spool.active.names().count == 1)
        #expect(try spool.ended.clear { false } == 1)
        #expect(try spool.active.names().isEmpty)
    }

    @Test func continuesAfterAnyCrash() throws {
        try make(["manifest.json", "a.png"])
        let claimed = try take("job")
        // Before the receipt, and after it.
        for _ in 0..<2 {
            let prepared = try resume("job")
            #expect(prepared.status.manifest.isFolder == true)
            #expect(prepared.status.manifest.name == "job")
            #expect(prepared.status.manifest.identity == claimed.identity)
            guard case .here = try claimed.folders.pictures() else { throw Unexpected() }
        }
    }

    /// Without a manifest it goes back.
    @Test func isPutBackIfItsManifestIsGone() throws {
        try make(["manifest.json", "a.png"])
        let folders = try take("job").folders
        let active = try folders.active()
        try active.remove("manifest.json")
        guard let submitted = try SubmittedFile(in: active) else { throw Unexpected() }
        try Directory("job", in: submitted.folder).remove("manifest.json")
        guard case .putBack(let name) = try recovery.recover("job") else { throw Unexpected() }
        #expect(name == "job")
        #expect(try Directory("job", in: inbox).names() == ["a.png"])
        #expect(try spool.active.names().isEmpty)
    }

    @Test func leftoversOfClientsAreRemovedWithoutTheirLock() throws {
        let names = (0..<3).map { _ in StagedFolders.newName() }
        for name in names { try spool.tmp.makeDirectory(name) }
        try spool.tmp.makeDirectory("other")
        // Names of people, however they begin, stay.
        let others: [FileName] = [
            "mine", ".darkroom-notes.txt", ".darkroom-1", ".darkroom-1-", ".darkroom-1-2-3",
        ]
        for name in [".darkroom-1-2", ".darkroom-1-3"] + others {
            try spool.tmp.write([], to: name, durably: false)
        }
        #expect(mkfifo(spool.tmp.path(of: ".darkroom-1-4"), 0o600) == 0)
        let held = try Directory(names[1], in: spool.tmp)
        #expect(try StagedFolders.lock(held))
        let heldFile = try spool.tmp.open(".darkroom-1-2")
        #expect(try StagedFolders.lock(heldFile, path: "the file"))
        #expect(try StagedFolders.removeLeftovers(in: spool.tmp, of: geteuid() + 1) == 0)
        #expect(try StagedFolders.removeLeftovers(in: spool.tmp) { true } == 0)
        #expect(try StagedFolders.removeLeftovers(in: spool.tmp) == 3)
        #expect(
            Set(try spool.tmp.names())
                == Set([names[1], "other", ".darkroom-1-2", ".darkroom-1-4"] + others))
        // Who comes too late to lock his folder has to make another one.
        let lost = try Directory("other", in: spool.tmp)
        try spool.tmp.removeDirectory("other")
        #expect(try !StagedFolders.lock(lost))
        #expect(try !StagedFolders.lock(Directory(names[1], in: spool.tmp)))
        #expect(try !StagedFolders.lock(spool.tmp.open(".darkroom-1-2"), path: "the file"))
    }

    /// The folder around one that was given back goes when its owner has taken that out.
    @Test func emptyWrappersAreRemoved() throws {
        for (name, mode) in [("a.12345678~", mode_t(0o1777)), ("full~", 0o1777), ("mine~", 0o755)] {
            try spool.tmp.makeDirectory(FileName(name))
            try #require(chmod(spool.tmp.path(of: FileName(name)), mode) == 0)
        }
        try Directory("full~", in: spool.tmp).write([1], to: "a.png", durably: false)
        try StagedFolders.removeEmptyWrappers(in: spool.tmp)
        #expect(Set(try spool.tmp.names()) == ["full~", "mine~"])
    }

    /// Very many entries are not all looked at, and what cannot be taken is not looked through at all.
    @Test func largeFoldersAreNotSearchedToTheirEnd() throws {
        try make(["manifest.json"])
        let folder = try Directory("job", in: inbox)
        for number in 0..<6000 {
            try folder.write([], to: FileName("\(number)"), durably: false)
        }
        var last = try #require(try FolderJob.lastChange(of: "job", in: inbox))
        #expect(last.age(at: Clock.steady) < 3600)
        try folder.remove("manifest.json")
        setTimes(of: inbox.path + "/job", to: 1_000_000_000)
        guard case .ignored(.folder(.noManifest)) = examine() else { throw Unexpected() }
        last = try #require(try FolderJob.lastChange(of: "job", in: inbox))
        #expect(last.age(at: Clock.steady) < 3600)
    }

    /// A crash of the removal itself leaves nothing that a start would take for somebody else's.
    @Test func isOutOfTheWayBeforeItIsRemoved() throws {
        try make(["manifest.json", "a.png"])
        let folder = try Directory("job", in: inbox)
        try folder.makeDirectory("sub")
        try Directory("sub", in: folder).write([1], to: "b.png", durably: false)
        let claimed = try take("job")
        _ = try Receipt.issue(for: claimed, durably: true)
        let moved = Mutex<[FileName]>([])
        spool.ended.onMove { name in moved.withLock { $0.append(name) } }
        try spool.removeEnded("job", .json, mayBeFolder: true, durably: true)
        let names = try spool.active.names()
        #expect(moved.withLock { $0 } == names && names.count == 1)
        // As far as a stop lets it come.
        var left = 1
        try spool.ended.clear(names[0]) {
            left -= 1
            return left < 0
        }
        let active = try ActiveFolder(of: spool)
        #expect(active.foreign.isEmpty && active.ids.isEmpty && active.empty.isEmpty)
        #expect(try spool.ended.clear { false } == 1)
        #expect(try spool.active.names().isEmpty)
    }
}
