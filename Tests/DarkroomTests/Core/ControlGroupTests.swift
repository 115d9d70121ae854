import Foundation
import TestSupport
import Testing

@testable import DarkroomCore

@Suite struct ControlGroupTests {
    let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
        try FileManager.default.createDirectory(
            at: scratch.url.appending(path: "a/b"), withIntermediateDirectories: true)
    }

    private func write(_ file: String, _ text: String) throws {
        try Data(text.utf8).write(to: scratch.url.appending(path: file))
    }

    private func group(_ membership: String = "0::/a/b\n") -> ControlGroup {
        ControlGroup(membership: membership, root: scratch.path)
    }

    @Test func findsItsFolderAndThoseAbove() {
        let root = scratch.path
        #expect(group().folders == ["\(root)/a/b", "\(root)/a", root])
        #expect(group("0::/\n").folders == [root])
        #expect(group("12:memory:/x\n0::/a\n").folders == ["\(root)/a", root])
        #expect(group("12:memory:/x\n").folders == [])
        #expect(group("").folders == [])
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

    @Test func theMachineHasMemoryAndABoot() {
        #expect(Machine.memory > 64 << 20)
        #expect(Machine.bootID.count == 32 || Machine.bootID.isEmpty)
    }
}
