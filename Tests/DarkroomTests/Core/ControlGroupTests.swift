import Foundation
import TestSupport
import Testing

@testable import DarkroomCore

struct ControlGroupTests {
    let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
        try FileManager.default.makeFolder(at: scratch.url.appending(path: "a/b"))
    }

    private func write(_ file: String, _ text: String) throws { try scratch.write(text, file) }

    private func group(_ membership: String = "0::/a/b\n") -> ControlGroup {
        ControlGroup(membership: membership, mounts: "\(mount("cgroup2"))\n")
    }

    /// A line of the mount table.
    private func mount(_ kind: String, root: String = "/", options: String = "rw") -> String {
        "31 23 0:28 \(root) \(scratch.path) rw,relatime shared:4 - \(kind) \(kind) \(options)"
    }

    private func old(
        _ membership: String, root: String = "/", options: String
    ) -> ControlGroup {
        ControlGroup(
            membership: membership, mounts: mount("cgroup", root: root, options: options))
    }

    @Test func findsItsFolderAndThoseAbove() {
        let root = scratch.path
        #expect(group().folders == ["\(root)/a/b", "\(root)/a", root])
        #expect(group("0::/\n").folders == [root])
        #expect(group("12:memory:/x\n0::/a\n").folders == ["\(root)/a", root])
        #expect(group("12:memory:/x\n").folders == [])
        #expect(group("").folders == [])
    }

    /// A thousand other mounts come first, also parts of the hierarchy that do not show the group.
    @Test func findsItsFolderInALongTable() throws {
        let others = (0..<1000).map {
            "\(100 + $0) 23 0:28 /\($0) /mnt/a\\040folder/\($0) rw,relatime shared:4 - ext4 /dev/sda1 rw"
        }
        let part = "90 23 0:28 /other /parts rw,relatime - cgroup2 cgroup2 rw"
        let old = "91 23 0:29 /other /old/parts rw,relatime - cgroup cgroup rw,memory"
        let table = (others + [part, old, mount("cgroup2")]).joined(separator: "\n")
        #expect(table.utf8.count > 60_000)
        try write("a/memory.max", "500000\n")
        let group = ControlGroup(membership: "4:memory:/other/x\n0::/a/b\n", mounts: table)
        #expect(group.folders.first == "\(scratch.path)/a/b")
        #expect(group.memoryLimit == 500_000)
        #expect(group.oldFolders == [.memory: ["/old/parts/x", "/old/parts"]])
    }

    @Test func theTightestLimitHolds() throws {
        #expect(group().memoryLimit == nil)
        try write("a/b/memory.max", "max\n")
        #expect(group().memoryLimit == nil)
        try write("a/memory.max", "1000000\n")
        #expect(group().memoryLimit == 1_000_000)
        try write("a/b/memory.high", "500000\n")
        #expect(group().memoryLimit == 500_000)
        try write("memory.max", "400000\n")
        #expect(group().memoryLimit == 400_000)
    }

    @Test func countsKillsInTheGroupAndTheNearestAbove() throws {
        #expect(group().outOfMemoryKills == [:])
        try write("memory.events", "low 0\noom 2\noom_kill 5\noom_group_kill 0\n")
        #expect(group().outOfMemoryKills == [scratch.path: 5])
        try write("a/b/memory.events", "low 0\noom 1\noom_kill 1\n")
        #expect(
            group().outOfMemoryKills == ["\(scratch.path)/a/b": 1, scratch.path: 5])
        try write("a/memory.events", "oom_kill 3\n")
        #expect(
            group().outOfMemoryKills == ["\(scratch.path)/a/b": 1, "\(scratch.path)/a": 3])
    }

    @Test func findsTheFoldersOfVersion1() {
        let root = scratch.path
        let both = old("4:memory,cpu:/a/b\n1:pids:/x\n0::/\n", options: "rw,memory,cpu")
        #expect(both.folders == [])
        let folders = ["\(root)/a/b", "\(root)/a", root]
        #expect(both.oldFolders == [.memory: folders, .cpu: folders])
        // A container that sees only its own part.
        #expect(
            old("4:memory:/box/a\n", root: "/box", options: "rw,memory").oldFolders
                == [.memory: ["\(root)/a", root]])
        // A group outside of the part that it sees.
        #expect(
            old("4:memory:/other\n", root: "/box", options: "rw,memory").oldFolders
                == [.memory: [root]])
        // The controller is not mounted.
        #expect(old("4:memory:/a\n", options: "rw,pids").oldFolders == [:])
        #expect(ControlGroup(membership: "4:memory:/a\n0::/\n", mounts: "").oldFolders == [:])
    }

    @Test func readsTheMemoryLimitOfVersion1() throws {
        let group = old("4:memory:/a/b\n", options: "rw,memory")
        #expect(group.memoryLimit == nil)
        try write("a/b/memory.limit_in_bytes", "9223372036854771712\n")
        #expect(group.memoryLimit == 9_223_372_036_854_771_712)
        try write("a/memory.limit_in_bytes", "700000\n")
        #expect(group.memoryLimit == 700_000)
        try write("a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n")
        #expect(group.outOfMemoryKills == ["\(scratch.path)/a": 4])
    }

    @Test(arguments: [
        ("max 100000", nil), ("200000 100000", 2), ("150000 100000", 2), ("20000 100000", 1),
        ("100000", nil), ("0 100000", nil), ("1000 0", nil), ("-1 100000", nil),
        ("9223372036854775807 1000", Int(9_223_372_036_854_775_807 / 1000) + 1),
    ]) func countsTheCoresOfVersion2(text: String, cores: Int?) throws {
        try write("a/cpu.max", text + "\n")
        let limit = group().coreLimit
        // A number of this size is not exact.
        #expect(limit == cores || (cores ?? 0) > 1 << 40 && (limit ?? 0) > 1 << 40)
    }

    @Test(arguments: [
        ("-1", "100000", nil), ("50000", "100000", 1), ("250000", "100000", 3), ("x", "1", nil),
    ]) func countsTheCoresOfVersion1(quota: String, period: String, cores: Int?) throws {
        let group = old("1:cpu,cpuacct:/a/b\n", options: "rw,cpu,cpuacct")
        #expect(group.coreLimit == nil)
        try write("a/cpu.cfs_quota_us", quota + "\n")
        #expect(group.coreLimit == nil)
        try write("a/cpu.cfs_period_us", period + "\n")
        #expect(group.coreLimit == cores)
    }

    @Test func theTightestNumberOfCoresHolds() throws {
        try write("cpu.max", "300000 100000\n")
        try write("a/cpu.max", "200000 100000\n")
        try write("a/b/cpu.max", "max 100000\n")
        #expect(group().coreLimit == 2)
    }

    @Test func theMachineHasCores() {
        #expect(Machine.cores >= 1)
        #expect(Machine.cores <= ProcessInfo.processInfo.activeProcessorCount)
    }

    /// As by taskset(1), which changes this thread only.
    @Test func coresAreThoseOnWhichItMayRun() async throws {
        let cores = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try Self.pinThisThread()
                        return Machine.cores
                    })
            }
        }
        #expect(cores == 1)
    }

    private static func pinThisThread() throws {
        let status = try String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
        let first = try #require(status.firstMatch(of: /Cpus_allowed_list:\t(\d+)/)?.1)
        let thread = try FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/thread-self")
        let (exit, _) = try SystemProgram.run(
            "/usr/bin/taskset",
            ["-cp", String(first), String(try #require(thread.split(separator: "/").last))])
        try #require(exit == 0)
    }

    @Test func theMachineHasMemoryAndABoot() {
        #expect(Machine.memory > 64 << 20)
        #expect(Machine.bootID.count == 32 || Machine.bootID.isEmpty)
    }
}
