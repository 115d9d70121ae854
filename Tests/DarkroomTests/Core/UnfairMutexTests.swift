import Dispatch
import Testing

@testable import DarkroomCore

struct UnfairMutexTests {
    @Test func oneThreadAtATimeHasTheValue() {
        let count = UnfairMutex(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<10_000 { count.withLock { $0 += 1 } }
        }
        #expect(count.withLock { $0 } == 80_000)
    }

    @Test func isFreeAfterAnError() {
        let value = UnfairMutex("a")
        #expect(throws: CancellationError.self) {
            try value.withLock { value in
                value = "b"
                throw CancellationError()
            }
        }
        #expect(value.withLock { $0 } == "b")
    }
}
