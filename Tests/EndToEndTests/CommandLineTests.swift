import Darkroom
import Foundation
import TestSupport
import Testing

/// Options, configuration files and exit codes.
@Suite(.fewAtATime) struct CommandLineTests {
    @Test(arguments: [["--help"], ["--version"]])
    func answersAndEnds(arguments: [String]) async throws {
        let (ending, output) = try await DaemonProcess.end(arguments: arguments)
        #expect(ending == .exited(0))
        #expect(output.contains(arguments == ["--help"] ? "--check-config" : "darkroomd 0."))
    }

    @Test(arguments: [
        ["--no-such-option"], ["--spool"], ["unexpected"], ["--spool", ""], ["--config", ""],
        ["--kills", "3"], ["--keep"], ["--self-test", ""],
        ["--self-test", "/tmp", "--check-config"],
    ])
    func refusesAWrongCommandLine(arguments: [String]) async throws {
        let (ending, output) = try await DaemonProcess.end(arguments: arguments)
        #expect(ending == .exited(64))
        #expect(output.contains("--help") || output.contains("Usage"))
    }

    @Test func acceptsAGoodConfiguration() async throws {
        let file = try ConfigurationText(
            """
            spool: /var/spool/darkroom
            log:
              level: debug
            downloads:
              concurrency: 8
            sources:
              roots: [/srv/pictures, /srv/more]
            manifests:
              defaultFilters:
                - mono
                - resize: {width: 800}
            """)
        let (ending, output) = try await DaemonProcess.end(
            arguments: ["--check-config", "--config", file.path])
        #expect(ending == .exited(0), "\(output)")
    }

    /// A folder that is not there may come later: no error, but a word about it.
    @Test func warnsOfSourceRootsThatAreNotThere() async throws {
        let (ending, output) = try await DaemonProcess.end(
            arguments: ["--check-config", "--set", "sources.roots=[/none-a, /usr, /none-b]"])
        #expect(ending == .exited(0))
        let warnings = output.split(separator: "\n").filter {
            $0.contains("warning: sources.roots: ")
        }
        #expect(warnings.count == 2 && warnings.allSatisfy { $0.contains("/none-") }, "\(output)")
    }

    /// A wrong configuration, and what the complaint must name.
    static let wrong: [(text: String, words: [String])] = [
        ("downlods:\n  concurrency: 8\n", ["downlods", "did you mean downloads?", ":1"]),
        (
            "log:\n  level: info\ndownloads:\n  concurency: 8\n",
            ["downloads.concurency", "did you mean downloads.concurrency?", ":4"]
        ),
        ("downloads:\n  concurrency: many\n", ["downloads.concurrency", "many"]),
        ("downloads:\n  concurrency: 0\n", ["downloads.concurrency", "from 1", "not \"0\""]),
        ("log:\n  level: loud\n", ["log.level", "loud", "debug"]),
        ("manifests:\n  defaultFilters: [sepai]\n", ["manifests.defaultFilters", "sepia"]),
        ("durability: maybe\nlog: {level: loud}\n", ["durability", "log.level"]),
        ("- a\n- b\n", ["map"]),
        ("log: [\n", [":"]),
        ("retention: 1d\n", ["retention: it is a section, of retention.age, retention.bytes"]),
    ]

    @Test(arguments: wrong)
    func refusesAWrongConfiguration(text: String, words: [String]) async throws {
        let file = try ConfigurationText(text)
        let spool = try ScratchDirectory()
        for check in [["--check-config"], []] {
            let (ending, output) = try await DaemonProcess.end(
                arguments: check + ["--config", file.path, "--spool", spool.path])
            #expect(ending == .exited(78))
            for word in words { #expect(output.contains(word), "\(output)") }
        }
        // It has not begun anything.
        #expect(try FileManager.default.contentsOfDirectory(atPath: spool.path) == [])
    }

    @Test func refusesAWrongSettingOfEverySource() async throws {
        let spool = try ScratchDirectory()
        for (arguments, environment) in [
            (["--set", "downloads.concurrency=x"], [:]),
            (["--set", "no.such.key=1"], [:]),
            ([], ["DARKROOM_DOWNLOADS_CONCURRENCY": "x"]),
            ([], ["DARKROOM_NO_SUCH_KEY": "1"]),
            (["--config", "/no/such/file.yaml"], [:]),
        ] as [([String], [String: String])] {
            let (ending, output) = try await DaemonProcess.end(
                arguments: ["--spool", spool.path] + arguments, environment: environment)
            #expect(ending == .exited(78), "\(arguments) \(environment): \(output)")
        }
    }

    @Test func theCommandLineOverridesTheEnvironmentAndThatTheFile() async throws {
        let file = try ConfigurationText("manifests: {maxImages: 1}\n")
        for (environment, settings, accepted) in [
            ([:], [:], 1),
            (["DARKROOM_MANIFESTS_MAX_IMAGES": "2"], [:], 2),
            (["DARKROOM_MANIFESTS_MAX_IMAGES": "2"], ["manifests.maxImages": "3"], 3),
        ] as [([String: String], [String: String], Int)] {
            let bench = try Bench(pictures: 1)
            let daemon = try await bench.run(
                settings, arguments: ["--config", file.path], environment: environment)
            for count in [accepted, accepted + 1] {
                try bench.drop(
                    "images-\(count)", images: (0..<count).map { ("\($0)", bench.url("0.png")) })
                let status = try await bench.spool.finish("images-\(count)", daemon)
                #expect(status.state == (count == accepted ? .completed : .rejected))
            }
        }
    }

    @Test func aSecondDaemonIsTurnedAway() async throws {
        let bench = try Bench()
        let first = try await bench.run()
        let (ending, output) = try await DaemonProcess.end(
            arguments: ["--spool", bench.spool.path])
        #expect(ending == .exited(75))
        #expect(output.contains(bench.spool.path))
        #expect(output.contains("\(first.identifier)"))
        // The first has not noticed.
        try bench.drop("still", images: [("a", bench.url("0.png"))])
        try bench.checkCompleted(try await bench.spool.finish("still", first))
        #expect(try await first.stop() == .exited(0))
        // And the lock goes with its holder, however that ends.
        let second = try await bench.run()
        try await second.killAtOnce()
        let third = try await bench.run()
        #expect(try await third.stop() == .exited(0))
    }

    @Test func aSpoolThatCannotBeMadeIsAnError() async throws {
        let scratch = try ScratchDirectory()
        let file = scratch.url.appending(path: "file")
        try Data().write(to: file)
        let (ending, output) = try await DaemonProcess.end(
            arguments: ["--spool", file.path + "/spool"])
        #expect(ending == .exited(71) || ending == .exited(74))
        #expect(output.contains(file.path))
    }
}

/// A configuration file for one test.
final class ConfigurationText: Sendable {
    private let scratch: ScratchDirectory
    let path: String

    init(_ text: String) throws {
        scratch = try ScratchDirectory()
        path = scratch.url.appending(path: "darkroomd.yaml").path
        try write(text)
    }

    func write(_ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    }
}
