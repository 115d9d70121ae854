import Glibc
import Testing

@testable import DarkroomCore

struct ThreadStateTests {
    @Test(arguments: [
        ("7 (darkroomd) D 1 7 7 0", true), ("7 (darkroomd) S 1 7 7 0", false),
        ("7 (darkroomd) R 1 7 7 0", false), ("7 (a) D (b) S 1", false), ("7 (a) S (b) D 1", true),
        ("7 (D", false), ("", false),
    ])
    func readsTheState(stat: String, waits: Bool) {
        #expect(ThreadState.waitsForDisk(stat: stat) == waits)
    }

    /// Who asks runs.
    @Test func thisThreadDoesNotWait() {
        #expect(!ThreadState.current.waitsForDisk)
        // The second time, it is not asked for again.
        #expect(ThreadState.current.folder == ThreadState.current.folder)
        #expect(ThreadState.current.folder?.hasPrefix("\(getpid())/task/") == true)
    }
}
