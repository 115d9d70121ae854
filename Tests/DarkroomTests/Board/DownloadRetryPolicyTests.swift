import Testing

@testable import DarkroomBoard
@testable import DarkroomCore

struct DownloadRetryPolicyTests {
    private typealias Policy = DownloadRetryPolicy

    private static let waits:
        [(Policy, retryAfter: Double?, attempts: Int, Double, delay: Double)] =
            [
                // The bound doubles.
                (Policy(), nil, 1, 1, 1), (Policy(), nil, 2, 1, 2), (Policy(), nil, 3, 1, 4),
                (Policy(), nil, 4, 1, 8), (Policy(), nil, 3, 0.5, 2), (Policy(), nil, 3, 0, 0),
                (Policy(), nil, 1, 0.25, 0.25),
                // There is a longest one, which may be less than the first delay.
                (Policy(retries: 2000), nil, 6, 1, 32), (Policy(retries: 2000), nil, 7, 1, 60),
                (Policy(retries: 2000), nil, 8, 1, 60), (Policy(retries: 2000), nil, 1000, 1, 60),
                (Policy(delay: 10, longestDelay: 3), nil, 1, 1, 3),
                (Policy(delay: 0), nil, 4, 1, 0),
                // At least as long as the server asks, and not all at once.
                (Policy(), 30, 1, 0, 30), (Policy(), 30, 1, 1, 31), (Policy(), -5, 1, 0, 0),
                (Policy(), -5, 1, 1, 1), (Policy(longestRetryAfter: 60), 60, 1, 0, 60),
            ]

    @Test(arguments: waits) private func waitsSoLong(
        policy: Policy, retryAfter: Double?, attempts: Int, jitter: Double, delay: Double
    ) {
        let verdict = policy.verdict(
            on: .late, retryAfter: retryAfter, attempts: attempts, jitter: jitter)
        #expect(verdict == .again(after: delay))
    }

    private static let refusal = Failure(code: "http-status", message: "404")

    /// What is not retried, and what the failure says then.
    private static let ends: [(Policy, Failure, retryAfter: Double?, attempts: Int, String)] = [
        (Policy(), .late, nil, 5, "refused; tried 5 times"),
        (Policy(retries: 0), .late, nil, 1, "refused"),
        // Only what may pass is.
        (Policy(), refusal, nil, 1, "404"), (Policy(), refusal, 1, 1, "404"),
        (
            Policy(longestRetryAfter: 60), .late, 61, 1,
            "refused; the server asks for a pause of 61 s, more than the 1min of "
                + "downloads.retryAfterMax"
        ),
    ]

    @Test(arguments: ends) private func givesUp(
        policy: Policy, failure: Failure, retryAfter: Double?, attempts: Int, message: String
    ) {
        var last = failure
        last.message = message
        let verdict = policy.verdict(
            on: failure, retryAfter: retryAfter, attempts: attempts, jitter: 1)
        #expect(verdict == .final(last))
    }

    @Test func doesNotWaitForEver() {
        guard
            case .final = Policy().verdict(on: .late, retryAfter: .infinity, attempts: 1, jitter: 1)
        else {
            Issue.record("waits for ever")
            return
        }
    }

    @Test(arguments: [(0.04, "0.0 s"), (1.26, "1.3 s"), (9.99, "10.0 s"), (59.6, "60 s")])
    func writesSeconds(seconds: Double, text: String) {
        #expect(DownloadRetryPolicy.text(seconds) == text)
    }
}
