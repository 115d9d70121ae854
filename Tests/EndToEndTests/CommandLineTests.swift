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
        ["--kills", "3"], ["--keep"], ["--self-test", ""], ["--all"],
        ["--self-test", "/tmp", "--check-config"],
    ])
    func refusesAWrongCommandLine(arguments: [String]) async throws {
        let (ending, output) = try await DaemonProcess.end(arguments: arguments)
        #expect(ending == .exited(64))
        #expect(output.contains("--help") || output.contains("Usage"))
    }

    /// What the installed unit would not see, by what `systemctl show` says of it.
    @Test func warnsOfWhatTheServiceDoesNotSee() async throws {
        // It sees all of /dev, where other tests have their folders.
        let scratch = try ScratchDirectory(in: URL(filePath: "/var/tmp"))
        for folder in ["bin", "pictures", "bound"] {
            try scratch.makeFolder(folder)
        }
        let systemctl = scratch.path + "/bin/systemctl"
        try """
        #!/bin/sh
        [ "$1 $#" = "show 31" ] || exit 1
        for unit; do :; done
        [ "$unit" = darkroomd.service ] || exit 1
        cat <<END
        LoadState=loaded
        RootDirectory=/run/darkroom/root
        BindPaths=/var/spool/darkroom:/var/spool/darkroom:rbind
        BindReadOnlyPaths=/etc:/etc:rbind \(scratch.path)/bound:\(scratch.path)/bound:rbind
        CacheDirectory=darkroom
        ProtectHome=yes
        TimeoutStopUSec=1min 30s
        NotifyAccess=main
        END
        """.write(toFile: systemctl, atomically: false, encoding: .utf8)
        try #require(chmod(systemctl, 0o755) == 0)
        func check(_ settings: [String]) async throws -> [String] {
            let (ending, output) = try await DaemonProcess.end(
                arguments: ["--check-config"] + settings.flatMap { ["--set", $0] },
                environment: ["PATH": "\(scratch.path)/bin:/usr/bin:/bin"])
            #expect(ending == .exited(0))
            return output.split(separator: "\n").filter { $0.contains("warning: ") }.map(
                String.init)
        }
        let path = scratch.path
        let warnings = try await check([
            "stop.timeout=2min", "metrics.textfile=\(path)/bound/x.prom", "spool=\(path)/spool",
            "sources.roots=[\(path)/bound, \(path)/pictures]",
        ])
        let expected = """
            stop.timeout: 2min is not less than TimeoutStopSec=90s of darkroomd.service: systemd waits longer \
            only while the daemon asks for it, which it does while its work makes progress
            metrics.textfile: the service may not write to \(path)/bound: add BindPaths=\(path)/bound to a \
            drop-in (systemctl edit darkroomd) and restart it
            spool: the service has its own root folder and does not see \(path)/spool: add \
            BindPaths=\(path)/spool to a drop-in (systemctl edit darkroomd) and restart it
            sources.roots: the service has its own root folder and does not see \(path)/pictures: \
            add BindReadOnlyPaths=\(path)/pictures to a drop-in (systemctl edit darkroomd) and restart it
            """
        #expect(
            warnings == expected.split(separator: "\n").map { "darkroomd: warning: --set \($0)" })
        #expect(
            try await check(["spool=/var/spool/darkroom", "sources.roots=\(path)/bound"]) == [])
        // Another file is not the unit's.
        let file = try ConfigurationText(
            "spool: \(path)/spool\nsources: {roots: \(path)/pictures}")
        let (ending, output) = try await DaemonProcess.end(
            arguments: ["--check-config", "--config", file.path],
            environment: ["PATH": "\(path)/bin:/usr/bin:/bin"])
        #expect(ending == .exited(0) && !output.contains("warning"), "\(output)")
    }

    /// What the daemon could not start with is an error, what it would only warn of is a warning.
    @Test(
        arguments: [
            ("spool=/proc/x", 78, "--set spool: /proc is a file system of the kernel,"),
            ("spool=/etc/hostname/spool", 78, "--set spool: /etc/hostname is not a folder"),
            ("cache.folder=/none/cache", 78, "--set cache.folder: there is no folder /none;"),
            ("cache.folder=/etc/hostname", 78, "--set cache.folder: /etc/hostname is not a folder"),
            (
                "metrics.textfile=/none/x.prom", 0,
                "warning: --set metrics.textfile: there is no folder /none; the metrics cannot be written"
            ),
        ] as [(String, Int32, String)])
    func looksAtTheMachine(setting: String, status: Int32, words: String) async throws {
        // A spool that every user may make, where it is not the spool that is looked at.
        let spool = setting.hasPrefix("spool=") ? [] : ["--spool", "/tmp/darkroom"]
        let (ending, output) = try await DaemonProcess.end(
            arguments: ["--check-config", "--set", setting] + spool)
        #expect(ending == .exited(status))
        #expect(output.contains("darkroomd: \(words)"), "\(output)")
    }

    /// A wrong configuration, and what the complaint must name.
    static let wrong: [(text: String, words: [String])] = [
        (
            "log:\n  level: info\ndownloads:\n  concurency: 8\n",
            ["downloads.concurency", "did you mean downloads.concurrency?", ":4"]
        ),
        ("durability: maybe\nlog: {level: loud}\n", ["durability", "log.level"]),
    ]

    @Test func looksAtTheMachineWhenTheTextIsRight() async throws {
        let file = try ConfigurationText(
            "spool: /proc/x\nlog: {level: loud}\nstop: {timeout: 2m}\n")
        let check = {
            try await DaemonProcess.end(arguments: ["--check-config", "--config", file.path])
        }
        let (ending, output) = try await check()
        #expect(ending == .exited(78))
        #expect(
            output.contains(":2: log.level") && output.contains(":3: stop.timeout")
                && !output.contains("/proc"), "\(output)")
        try file.write("spool: /proc/x\nlog: {level: info}\nstop: {timeout: 2min}\n")
        let (laterEnding, later) = try await check()
        #expect(laterEnding == .exited(78))
        #expect(later.contains(":1: spool: /proc is a file system of the kernel,"), "\(later)")
    }

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

    @Test func aSecondDaemonIsTurnedAway() async throws {
        let fixture = try DaemonFixture()
        let first = try await fixture.run()
        let (ending, output) = try await DaemonProcess.end(
            arguments: ["--spool", fixture.spool.path])
        #expect(ending == .exited(75))
        #expect(output.contains(fixture.spool.path))
        #expect(output.contains("\(first.identifier)"))
        // The first has not noticed.
        try await fixture.complete("still", images: [("a", fixture.url("0.png"))], first)
        #expect(try await first.stop() == .exited(0))
        // And the lock goes with its holder, however that ends.
        let second = try await fixture.run()
        try await second.killAtOnce()
        let third = try await fixture.run()
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

    @Test func theCommandLineOverridesTheEnvironmentAndThatTheFile() async throws {
        let file = try ConfigurationText("manifests: {maxImages: 1}\n")
        for (environment, settings, accepted) in [
            ([:], [:], 1),
            (["DARKROOM_MANIFESTS_MAX_IMAGES": "2"], [:], 2),
            (["DARKROOM_MANIFESTS_MAX_IMAGES": "2"], ["manifests.maxImages": "3"], 3),
        ] as [([String: String], [String: String], Int)] {
            let (fixture, daemon) = try await DaemonFixture.running(
                pictures: 1,
                settings, arguments: ["--config", file.path], environment: environment)
            for count in [accepted, accepted + 1] {
                try fixture.drop(
                    "images-\(count)", images: (0..<count).map { ("\($0)", fixture.url("0.png")) })
                let status = try await fixture.spool.finish("images-\(count)", daemon)
                #expect(status.state == (count == accepted ? .completed : .rejected))
            }
        }
    }
}
