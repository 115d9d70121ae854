import Testing

@testable import DarkroomCore
@testable import DarkroomSpool

@Suite(.tags(.concurrency)) struct GroupSyncTests {
    @Test(arguments: [
        ("5.8.0", true), ("5.10.0-30-amd64", true), ("6.1.0", true), ("10.0", true),
        ("5.7.19-rc1", false), ("4.19.0", false), ("", false), ("6", false),
    ])
    func knowsSinceWhenTheKernelTellsErrors(release: String, tells: Bool) {
        #expect(GroupSync.tellsErrors(release: release) == tells)
    }

    @Test func readsWhatIsDirty() {
        let text = "MemTotal:  24105 kB\nDirty:      1234 kB\nWriteback:  5 kB\n"
        #expect(GroupSync.dirtyBytes(meminfo: text) == 1234 << 10)
        #expect(GroupSync.dirtyBytes(meminfo: "MemTotal: 1 kB\n") == nil)
    }

    /// The error of one file may be reported to whoever waits for another one.
    @Test func isNotUsedAfterAFailure() {
        let groupSync = GroupSync()
        var calls = 0
        func sync(succeeds: Bool) -> Bool {
            groupSync.sync {
                calls += 1
                return succeeds
            }
        }
        #expect(sync(succeeds: true))
        #expect(!sync(succeeds: false))
        #expect(!sync(succeeds: true))
        #expect(calls == 2)
    }

    /// procfs stands for the file systems on which syncfs says nothing of what is on a disk.
    @Test func leavesOtherFileSystemsToFsync() throws {
        #expect(!GroupSync().sync(try Directory(path: "/proc")))
    }
}
