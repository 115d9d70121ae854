/// Something that a test waited for did not come about in time.
package struct DeadlineExceeded: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// Asks again and again, with short sleeps between, until the answer is not nil.
///
/// The limit is there so that a test that cannot succeed ends; it is far above what anything takes
/// on a busy machine, and no test is about how long something takes. While other tests compute, this one may not have
/// its turn for minutes. So it also ends only when it has looked often enough.
///
/// - Parameters:
///   - what: the end of the sentence "Waited in vain for …".
///   - context: called when the time is over, for what else would help to understand why.
@discardableResult
package func eventually<Value>(
    _ what: String, within limit: Duration = .seconds(120), context: () -> String = { "" },
    answer: () async throws -> Value?
) async throws -> Value {
    let clock = ContinuousClock()
    let deadline = clock.now.advanced(by: limit)
    var looks = 0
    while true {
        if let value = try await answer() { return value }
        looks += 1
        if clock.now > deadline, looks >= 100 {
            throw DeadlineExceeded("Waited \(limit) in vain for \(what). \(context())")
        }
        try await Task.sleep(for: .milliseconds(10))
    }
}
