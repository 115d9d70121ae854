/// A running call of a receiver: a program, or a request.
protocol NotificationCall: AnyObject {
    /// How much longer than its time the call may take, in seconds, because it ends by itself when its time is over.
    var slack: Double { get }
    /// Waits for the end of the call, for at most this time.
    ///
    /// - Parameter file: another descriptor whose input ends the wait; negative for none.
    /// - Returns: nil if the call goes on.
    func wait(seconds: Double, beside file: CInt) -> CallResult?
    func end()
}

/// How the call of a receiver has ended.
package enum CallResult: Sendable, Equatable {
    case succeeded
    /// - Parameters:
    ///   - reason: what has happened, as a sentence without its full stop.
    ///   - retryAfter: the pause that the receiver asks for, in seconds.
    case failed(String, retryAfter: Double? = nil)
}
