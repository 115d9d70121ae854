import DarkroomCore
import Foundation
import TestSupport
import Testing

/// What a process inherits from its parent, and machines that lack something.
@Suite(.fewAtATime) struct InheritanceTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
        try scratch.write(DaemonFixture.picture, to: "a.png")
    }

    /// Runs lines of a shell in which `darkroom` and `darkroomd` are the programs of this build.
    private func shell(_ lines: String) async throws -> ClientProcess.Result {
        let programs = [
            "darkroom": try ClientProcess.program(), "darkroomd": try DaemonProcess.program(),
        ]
        let functions = programs.map { "\($0.key)() { '\($0.value)' \"$@\"; }" }
        return try await ClientProcess.end(
            ["--version"], folder: scratch.path,
            before: "\(functions.joined(separator: "; "))\n\(lines)\nexit $?"
        ).replacing(scratch.path)
    }

    // MARK: Streams

    /// No file of the spool gets one of their numbers.
    @Test func closedStreamsAreFilled() async throws {
        let program = try DaemonProcess.program()
        let result = try await shell(
            """
            '\(program)' --spool "$PWD/s" <&- >&- 2>&- &
            daemon=$!
            until [ -e s/queue.json ]; do sleep 0.05; done
            for number in 0 1 2; do readlink /proc/$daemon/fd/$number; done
            kill $daemon
            wait $daemon
            """)
        result.expect(exit: 0, output: "/dev/null\n/dev/null\n/dev/null\n")
    }

    /// Its reader begins when the pipe is full.
    @Test(arguments: ["filter a.png --filter resize=400", "--generate-completion-script bash"])
    func anOutputThatDoesNotBlockIsWaitedFor(line: String) async throws {
        let program = try ClientProcess.program()
        try scratch.write(
            """
            import fcntl, os, select, subprocess, sys
            reader, writer = os.pipe()
            os.set_blocking(writer, False)
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
            process = subprocess.Popen(sys.argv[1:], stdout=writer)
            while select.select([], [writer], [], 0)[1]: pass
            os.close(writer)
            output = b""
            while True:
                piece = os.read(reader, 1000)
                if not piece: break
                output += piece
            print(process.wait(), output == subprocess.run(sys.argv[1:], capture_output=True).stdout)
            """, to: "slow.py")
        try await shell("python3 slow.py '\(program)' \(line)").expect(exit: 0, output: "0 True\n")
    }

    @Test func anInputThatDoesNotBlockIsWaitedFor() async throws {
        let program = try ClientProcess.program()
        try scratch.write(
            """
            import os, subprocess, sys, threading
            reader, writer = os.pipe()
            os.set_blocking(reader, False)
            process = subprocess.Popen(sys.argv[2:], stdin=reader, stdout=subprocess.PIPE)
            os.close(reader)
            content = open(sys.argv[1], "rb").read()
            def feed():
                for place in range(0, len(content), 50):
                    os.write(writer, content[place:place + 50])
                    threading.Event().wait(0.01)
                os.close(writer)
            threading.Thread(target=feed).start()
            print(len(process.communicate()[0]) > 0, process.returncode)
            """, to: "feed.py")
        try await shell("python3 feed.py a.png '\(program)' filter --filter mono").expect(
            exit: 0, output: "True 0\n")
    }

    // MARK: Signals, umask

    /// The exit codes of its children would be lost.
    @Test func anIgnoredSIGCHLDIsNot() async throws {
        let hooks = try HookFixture()
        let daemon = try await hooks.daemons.run()
        try await hooks.end(["one"], daemon)
        let program = try hooks.program("\(HookFixture.note); exit 3")
        let script = """
            import os, signal, sys
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            os.execv(sys.argv[1], sys.argv[1:])
            """
        try scratch.write(script, to: "ignore.py")
        let result = try await shell(
            """
            python3 ignore.py '\(try ClientProcess.program())' watch --finished --from-start --spool \
            '\(hooks.spool.path)' --cursor cursor --tries 1 --exec '\(program)' 2>errors &
            until grep -q 'passed over' errors; do sleep 0.05; done
            kill $!; wait $!; cat errors
            """)
        #expect(result.output.contains("ended with exit code 3"), "\(result)")
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func blockedSignalsAct() async throws {
        let spool = try SpoolFixture()
        let all = (1..<32).map { CInt($0) }
        let daemon = try DaemonProcess(
            arguments: DaemonProcess.arguments(spool: spool.path), blocked: all)
        try await daemon.waitForStatusText("Idle")
        let status = try String(
            contentsOfFile: "/proc/\(daemon.identifier)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("SigBlk:") })
        let mask = try #require(UInt64(line.split(separator: "\t")[1], radix: 16))
        // Those that the daemon waits for, and none of a fault or a child.
        for signal in [SIGSEGV, SIGBUS, SIGCHLD, SIGQUIT, SIGPIPE, SIGALRM] {
            #expect(mask & 1 << UInt64(signal - 1) == 0, "\(signal)")
        }
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func aMaskOfTheOwnersBitsDoesNotLockItOut() async throws {
        try await shell(
            "umask 0777; darkroom run a.png --filter mono -o out --quiet && stat -c %A out out/a.png"
        ).expect(exit: 0, output: "drwx------\n-rw-------\n")
    }

    // MARK: No /proc

    private static let missing =
        "/proc is not mounted, and it is needed to reach open files; mount it (mount -t proc proc /proc)\n"

    static let lines = [
        "darkroomd --version", "darkroom --version", "darkroomd --spool \"$PWD/s\"",
        "darkroomd --self-test \"$PWD\"", "darkroom run a.png --filter mono -o out",
        "darkroom filter a.png", "darkroom pause --spool s",
    ]

    /// As in a chroot, or while an image is built.
    @Test(.enabled(if: geteuid() == 0, "mounts need root"), arguments: lines)
    func withoutProcItSaysSo(line: String) async throws {
        let name = String(line.prefix { $0 != " " })
        let program = try name == "darkroomd" ? DaemonProcess.program() : ClientProcess.program()
        let asks = line.hasSuffix(" --version")
        try await shell(
            "unshare --mount sh -c 'mount -t tmpfs tmpfs /proc && exec \"$@\"' - '\(program)' \(line.dropFirst(name.count))"
        ).expect(
            exit: asks ? 0 : 71, output: asks ? "\(name) \(Release.version)\n" : "",
            errors: asks ? "" : "\(name): \(Self.missing)")
        #expect(!scratch.exists("s"))
        #expect(!scratch.exists("out"))
    }

    // MARK: Many mounts

    /// Whether this user may make a control group with a limit of memory.
    private static let memoryGroups: String? = {
        for folder in ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"] {
            let name = "\(folder)/darkroom-test-\(getpid())"
            guard mkdir(name, 0o755) == 0 else { continue }
            defer { rmdir(name) }
            for file in ["memory.limit_in_bytes", "memory.max"]
            where access("\(name)/\(file)", W_OK) == 0 {
                return folder
            }
        }
        return nil
    }()

    /// The table of mounts has more than a page, and what the daemon believes is in its report.
    @Test(
        .enabled(if: geteuid() == 0, "mounts need root"),
        .enabled(if: memoryGroups != nil, "no control group for memory can be made here"))
    func theLimitOfMemoryIsFoundAmongManyMounts() async throws {
        let group = try #require(Self.memoryGroups) + "/darkroom-test-mounts-\(getpid())"
        defer { rmdir(group) }
        let program = try DaemonProcess.program()
        let result = try await shell(
            """
            mkdir '\(group)'
            limit='\(group)'/memory.max
            [ -e "$limit" ] || limit='\(group)'/memory.limit_in_bytes
            echo 512M >"$limit"
            unshare --mount --propagation private sh -c '
                for number in $(seq 250); do
                    mkdir "folder-$0-$number"
                    mount --bind "folder-$0-$number" "folder-$0-$number"
                done
                wc -c </proc/self/mountinfo >size
                echo $$ >"\(group)/cgroup.procs"
                exec "\(program)" --spool "$PWD/s" 2>log' \(String(repeating: "a", count: 200)) &
            daemon=$!
            until grep -qs 'memory: ' log || ! kill -0 $daemon; do sleep 0.05; done
            grep -o 'memory: [0-9]* MiB' log
            [ "$(cat size)" -gt 100000 ] || echo "the table has $(cat size) bytes only"
            kill $daemon
            wait $daemon
            """)
        result.expect(exit: 0, output: "memory: 256 MiB\n")
    }
}
