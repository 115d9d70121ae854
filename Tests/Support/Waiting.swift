/// Something that a test waited for did not come about in time.
package struct DeadlineExceeded: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// How long a test waits in vain before it fails. It is far above what anything takes on a busy machine, and no test is
/// about how long something takes.
package let patience: Duration = .seconds(300)

/// Asks again and again, with short sleeps between, until the answer is not nil. The sleeps grow with the wait and with
/// what it takes to ask, so that the processors are left to what is waited for.
///
/// While other tests compute, this one may not have its turn for minutes. So it fails only when it has also looked often
/// enough.
///
/// - Parameters:
///   - what: the end of the sentence "Waited in vain for …".
///   - context: called when the time is over, for what else would help to understand why.
@discardableResult
package func eventually<Value>(
    _ what: String, within limit: Duration = patience, context: () -> String = { "" },
    answer: () async throws -> Value?
) async throws -> Value {
    let clock = ContinuousClock()
    let begin = clock.now
    var looks = 0
    while true {
        let look = clock.now
        if let value = try await answer() { return value }
        let now = clock.now
        looks += 1
        if now - begin > limit, looks >= 100 {
            throw DeadlineExceeded("Waited \(limit) in vain for \(what). \(context())")
        }
        let pause = max(
            .milliseconds(10), min((now - begin) / 20, .milliseconds(100)),
            min((now - look) * 2, .milliseconds(500)))
        try await Task.sleep(for: pause)
    }
}
