import Testing

@testable import DarkroomBoard
@testable import DarkroomCore

@Suite struct DownloadRetryPolicyTests {
    private func verdict(
        _ retryPolicy: DownloadRetryPolicy = DownloadRetryPolicy(), _ failure: Failure = .late,
        retryAfter: Double? = nil,
        attempts: Int = 1, jitter: Double = 1
    ) -> DownloadRetryPolicy.Verdict {
        retryPolicy.verdict(on: failure, retryAfter: retryAfter, attempts: attempts, jitter: jitter)
    }

    @Test(arguments: [
        (1, 1.0, 1.0), (2, 1, 2), (3, 1, 4), (4, 1, 8), (3, 0.5, 2), (3, 0, 0), (1, 0.25, 0.25),
    ])
    func doublesTheBoundOfItsWaits(attempts: Int, jitter: Double, delay: Double) {
        #expect(verdict(attempts: attempts, jitter: jitter) == .again(after: delay))
    }

    @Test(arguments: [(6, 32.0), (7, 60), (8, 60), (1000, 60)])
    func boundsItsWaits(attempts: Int, delay: Double) {
        #expect(
            verdict(DownloadRetryPolicy(retries: 2000), attempts: attempts) == .again(after: delay))
    }

    @Test func mayWaitLessThanItsFirstDelay() {
        let retryPolicy = DownloadRetryPolicy(delay: 10, longestDelay: 3)
        #expect(verdict(retryPolicy) == .again(after: 3))
        #expect(verdict(DownloadRetryPolicy(delay: 0), attempts: 4) == .again(after: 0))
    }

    @Test func givesUpAfterItsAttempts() {
        #expect(
            verdict(attempts: 5)
                == .final(
                    Failure(
                        code: "connect-failed", message: "refused; tried 5 times", isTransient: true
                    )))
        #expect(verdict(DownloadRetryPolicy(retries: 0)) == .final(.late))
    }

    @Test func retriesOnlyWhatMayPass() {
        let failure = Failure(code: "http-status", message: "404")
        #expect(verdict(DownloadRetryPolicy(), failure) == .final(failure))
        #expect(verdict(DownloadRetryPolicy(), failure, retryAfter: 1) == .final(failure))
    }

    /// At least as long as the server asks, and not all at once.
    @Test(arguments: [(0.0, 30.0), (1, 31)])
    func waitsAsLongAsTheServerAsks(jitter: Double, delay: Double) {
        #expect(verdict(retryAfter: 30, jitter: jitter) == .again(after: delay))
        #expect(verdict(retryAfter: -5, jitter: jitter) == .again(after: jitter))
    }

    @Test func doesNotWaitForLongerThanItMay() {
        let retryPolicy = DownloadRetryPolicy(longestRetryAfter: 60)
        #expect(verdict(retryPolicy, retryAfter: 60, jitter: 0) == .again(after: 60))
        #expect(
            verdict(retryPolicy, retryAfter: 61)
                == .final(
                    Failure(
                        code: "connect-failed",
                        message:
                            "refused; the server asks for a pause of 61 s, more than the 1min of "
                            + "downloads.retryAfterMax", isTransient: true)))
        guard case .final = verdict(retryPolicy, retryAfter: .infinity) else {
            Issue.record("waits for ever")
            return
        }
    }

    @Test(arguments: [(0.04, "0.0 s"), (1.26, "1.3 s"), (9.99, "10.0 s"), (59.6, "60 s")])
    func writesSeconds(seconds: Double, text: String) {
        #expect(DownloadRetryPolicy.text(seconds) == text)
    }
}
