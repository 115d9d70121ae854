import Foundation

/// What there is to be said of downloads that do not go well at once.
extension EventLog {
    func retried(_ retry: Retry) {
        metrics.retries.add(1)
        say(
            .info, .downloadRetried,
            "\(retry.batch): try \(retry.tries) of \(retry.mostTries) failed: \(retry.failure); the next is in "
                + BackOff.text(retry.delay),
            [
                Field.batch: .string(retry.batch), Field.image: .string(retry.image),
                Field.step: .string(Step.download.rawValue),
                Field.error: .string(retry.failure.code),
            ])
    }

    /// - Parameter source: the URL whose server asks for it; of its host nothing is begun.
    func hostPaused(_ source: String, seconds: Double, because failure: Failure) {
        say(
            .notice, .hostPaused,
            "\(RedactedURL.text(source)): the server asks to wait \(BackOff.text(seconds)); no download from its "
                + "host begins before \(Clock.timestamp(.now + seconds))",
            [Field.error: .string(failure.code)])
    }
}
