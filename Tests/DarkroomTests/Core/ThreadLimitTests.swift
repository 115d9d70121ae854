import Glibc
import Testing

@testable import DarkroomCore

/// Too few threads are an error with a number.
struct ThreadLimitTests {
    @Test func aUsualProcessHasEnough() throws { try ThreadLimit.check() }

    @Test(arguments: [0, 1, 7, 8]) func saysHowManyThereAre(available: Int) throws {
        var started = 0
        do {
            try ThreadLimit.check(8) { thread, gate in
                guard started < available else { return EAGAIN }
                started += 1
                return ThreadLimit.start(&thread, gate)
            }
            #expect(available == 8)
        } catch {
            #expect(available < 8)
            #expect(error.code == "too-few-threads" && !error.isTransient)
            #expect(
                error.message
                    == "only \(available) of 8 threads can be started: Resource temporarily unavailable; raise the limit of threads (ulimit -u) or of memory (ulimit -v)"
            )
        }
        #expect(started == available)
    }
}
