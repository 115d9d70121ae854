import DarkroomCore

/// Who is told of each end.
package enum NotificationReceiver: Sendable {
    case program(ProgramReceiver)
    case webhook(WebhookReceiver)

    /// - Parameters:
    ///   - status: the open status of the end.
    ///   - folder: the folder of the answer.
    ///   - seconds: the time for one call.
    func call(
        for end: BatchEnd, status: borrowing Descriptor, folder: String, within seconds: Double
    ) -> Result<any NotificationCall, CallFailure> {
        switch self {
        case .program(let program): program.call(for: end, status: status, folder: folder)
        case .webhook(let hook): hook.call(for: end, within: seconds)
        }
    }
}

/// Why a call could not even begin, as a sentence without its full stop.
struct CallFailure: Error {
    var reason: String
}
