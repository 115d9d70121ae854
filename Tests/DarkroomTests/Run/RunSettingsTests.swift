import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import DarkroomConfiguration
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomPicture
@testable import DarkroomWork

/// What a run takes from the configuration, and what is different from a daemon.
struct RunSettingsTests {
    private func load(
        _ settings: [(key: String, text: String)] = [], file: String? = nil,
        environment: [String: String] = [:]
    ) throws -> ConfigurationLoader.Loaded {
        try ConfigurationLoader(
            path: file, readsStandardFile: false, overrides: settings, environment: environment
        ).loadAll()
    }

    @Test func readsAnyFileUnlessThereAreRoots() throws {
        let scratch = try ScratchDirectory()
        try scratch.write("a", to: "a.png")
        let free = try load().runSettings(base: scratch.path).localSources
        let relative = try free.open("a.png").path
        let absolute = try free.open("\(scratch.path)/a.png").path
        #expect(relative == "\(scratch.path)/a.png" && absolute == relative)
        let bound = try load([("sources.roots", "[/nowhere]")]).runSettings(base: scratch.path)
        #expect(bound.localSources == LocalSources(roots: ["/nowhere"], maximumBytes: 256 << 20))
        // Nothing is allowed if somebody says so.
        let closed = try load([("sources.roots", "[]")]).runSettings(base: scratch.path)
        #expect(closed.localSources == LocalSources(roots: [], maximumBytes: 256 << 20))
    }

    @Test func leavesAloneWhatIsConfigured() throws {
        for settings in [[], [("sources.roots", "[/a]")]] {
            let sources = try load(settings + [("sources.ignore", "[\"*-draft.jpg\", old]")])
                .runSettings(base: "/").localSources
            #expect(sources.ignored == IgnoredNames(adding: ["*-draft.jpg", "old"]))
            #expect(try load(settings).runSettings(base: "/").localSources.ignored == .standard)
        }
        #expect(
            try load([("sources.ignore", "*.tmp.jpg")]).configuration.ignoredNames
                == IgnoredNames(adding: ["*.tmp.jpg"]))
        #expect(throws: (any Error).self) { try load([("sources.ignore", "[a/b]")]) }
        #expect(throws: (any Error).self) { try load([("sources.ignore", "[a, \"\"]")]) }
    }

    @Test func syncsOnRequest() throws {
        #expect(try !load().runSettings(base: "/").isDurable)
        #expect(try load([("durability", "full")]).runSettings(base: "/").isDurable)
        #expect(try !load([("durability", "process")]).runSettings(base: "/").isDurable)
        #expect(
            try load(environment: ["DARKROOM_DURABILITY": "full"]).runSettings(base: "/").isDurable)
    }

    @Test func coresCanBeRestricted() {
        let cores = Cores(count: 4)
        cores.restrict(to: 2)
        #expect(cores.most == 1)
        cores.enter()
        #expect(cores.tryBorrow() && !cores.tryBorrow())
        cores.restrict(to: 8)
        #expect(cores.most == 1)
        cores.restrict(to: 0)
        #expect(cores.most == 0)
    }

    /// A daemon waits for these; a run ends.
    @Test func anObstacleIsTold() {
        let told = Mutex<[String]>([])
        let storage = StorageGuard(
            log: EventLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        ) { failure in
            told.withLock { $0.append(failure.code) }
        }
        storage.writeRefused(FileError(.write, "f", .noSpace))
        storage.writeRefused(FileError(.open, "f", .tooManyOpenFiles))
        storage.writeRefused(FileError(.sync, "f", .ioError))
        storage.singleWriteRefused(FileError(.rename, "f", .permissionDenied))
        #expect(told.withLock { $0 } == ["disk-full", "io-error", "permission-denied"])
        storage.stop()
    }

    @Test(arguments: [
        (
            "none.png", "source-missing",
            "none.png: no such file in BASE, where relative paths begin"
        ),
        ("/nowhere/a.png", "source-missing", "/nowhere/a.png: no such file"),
        (".", "not-a-file", ".: a folder, not a file"),
        ("/dev/null", "not-a-file", "/dev/null: a device, not a file"),
        ("loop", "source-unreadable", "loop: cannot be opened: Too many levels of symbolic links"),
        (
            "large.png", "too-large",
            "large.png: the file has 11 bytes, more than the limit of 10 bytes"
        ),
    ]) func saysWhyAFileCannotBeOpened(path: String, code: String, message: String) throws {
        let scratch = try ScratchDirectory()
        try scratch.link("loop", to: "loop")
        try scratch.write("12345678901", to: "large.png")
        let sources = LocalSources(relativeTo: scratch.path, maximumBytes: 10)
        do throws(FetchError) {
            _ = try sources.open(path)
            Issue.record("it was opened")
        } catch {
            #expect(error.code == code)
            #expect(error.message.replacing(scratch.path, with: "BASE") == message)
        }
    }
}
