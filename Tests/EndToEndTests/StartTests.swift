import Foundation
import TestSupport
import Testing

/// Signals that come before the daemon listens to them, and too few descriptors.
@Suite(.fewAtATime) struct StartTests {
    private static let signals = [SIGUSR1, SIGUSR2, SIGHUP, SIGTERM, SIGINT]

    /// Sent as soon as there is a process, and a little later each time; blocked by who starts it, for before its first
    /// instruction a process can do nothing for itself.
    @Test(arguments: [SIGUSR1, SIGUSR2, SIGHUP], 0..<6)
    func aSignalAtTheStartActsWhenTheDaemonStands(signal: CInt, turn: Int) async throws {
        let spool = try SpoolFixture()
        let daemon = try DaemonProcess(
            arguments: DaemonProcess.arguments(spool: spool.path), blocked: Self.signals)
        usleep(UInt32(turn) * 5000)
        daemon.send(signal)
        switch signal {
        case SIGUSR1:
            try await daemon.waitForStatusText("Paused")
            try await daemon.waitUntil("the mark of the pause") { _ in spool.exists("paused") }
        case SIGHUP: try await daemon.says("Configuration reloaded")
        default: try await daemon.waitForStatusText("Idle")
        }
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test(arguments: [SIGTERM, SIGINT], 0..<4)
    func aStopAtTheStartStops(signal: CInt, turn: Int) async throws {
        let spool = try SpoolFixture()
        let daemon = try DaemonProcess(
            arguments: DaemonProcess.arguments(spool: spool.path), blocked: Self.signals)
        usleep(UInt32(turn) * 5000)
        daemon.send(signal)
        #expect(try await daemon.waitForEnding() == .exited(0))
    }

    /// It does not print the stack and go on.
    @Test func quitEndsTheDaemonAtOnce() async throws {
        let spool = try SpoolFixture()
        let daemon = try DaemonProcess(arguments: DaemonProcess.arguments(spool: spool.path))
        try await daemon.waitForStatusText("Idle")
        daemon.send(SIGQUIT)
        #expect(try await daemon.waitForEnding() == .killed(signal: SIGQUIT))
        #expect(!daemon.outputText.contains("Signal 3"))
    }

    // MARK: libcurl

    /// Where the library is looked for first there is an empty file.
    @Test func onlyWhatDownloadsNeedsLibcurl() async throws {
        let folder = try ScratchDirectory()
        try folder.write("", to: "libcurl.so.4")
        try folder.write("images: [\"http://127.0.0.1:9/a.png\"]\n", to: "m.yaml")
        let spool = try SpoolFixture()
        let environment = ["LD_LIBRARY_PATH": folder.path]
        func darkroom(_ words: String...) async throws -> ClientProcess.Result {
            try await ClientProcess.end(
                words, spool: spool.path, folder: folder.path, environment: environment
            ).replacing(folder.path)
        }
        try await darkroom("check", "m.yaml").shows(exit: 0)
        let problem = "downloads cannot begin: ./libcurl.so.4: file too short"
        try await darkroom("check", "--sources", "m.yaml").shows(
            exit: 74, errors: .has(problem))
        let daemon = try DaemonProcess(
            arguments: DaemonProcess.arguments(spool: spool.path), environment: environment)
        #expect(try await daemon.waitForEnding() == .exited(71))
        #expect(
            daemon.outputText.replacing(folder.path, with: ".").contains(problem),
            "\(daemon.describe())")
    }

    // MARK: Descriptors

    @Test(arguments: 3...64) func worksOrSaysThatThereAreTooFewDescriptors(limit: Int) async throws
    {
        let spool = try SpoolFixture()
        let pictures = try ScratchDirectory()
        try pictures.write(DaemonFixture.picture, to: "a.png")
        let cache = try ScratchDirectory()
        let daemon = try DaemonProcess(
            arguments: DaemonProcess.arguments(
                spool: spool.path,
                settings: [
                    "sources.roots": "[\(pictures.path)]", "cache.folder": cache.path,
                    "cache.maxBytes": "64MiB",
                ]), limit: "-n \(limit)")
        guard limit >= 51 else {
            let ending = try await daemon.waitForEnding()
            // With three the loader does not find the libraries: what it says is its own.
            if limit == 3, ending == .exited(127) { return }
            #expect(ending == .exited(71))
            #expect(
                daemon.outputText.contains(
                    "the limit of open files (RLIMIT_NOFILE) is \(limit), and 3 are open already"),
                "\(daemon.describe())")
            #expect(spool.list("active") == [])
            return
        }
        try await daemon.waitForStatusText("Idle")
        try spool.drop(
            "a.json",
            DaemonFixture.json(["images": (0..<8).map { ["name": "i\($0)", "source": "a.png"] }]))
        let status = try await spool.finish("a", daemon)
        #expect(status.state == .completed)
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func raisesTheLimit() async throws {
        let spool = try SpoolFixture()
        let daemon = try DaemonProcess(
            arguments: DaemonProcess.arguments(spool: spool.path), limit: "-S -n 20")
        try await daemon.waitForStatusText("Idle")
        let limits = try String(
            contentsOfFile: "/proc/\(daemon.identifier)/limits", encoding: .utf8)
        let line = try #require(
            limits.split(separator: "\n").first { $0.hasPrefix("Max open files") })
        let words = line.split(separator: " ")
        #expect(words[3] == words[4])
        #expect(try await daemon.stop() == .exited(0))
    }
}
