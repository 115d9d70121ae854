import DarkroomFetch

/// A POST request that was sent for the end of a batch.
final class WebhookCall: NotificationCall {
    private let request: PostRequest
    private let name: String
    let slack = 5.0

    init(_ request: PostRequest, name: String) {
        self.request = request
        self.name = name
    }

    func wait(seconds: Double, beside file: CInt) -> CallResult? {
        switch request.wait(seconds: seconds, beside: file) {
        case nil: return nil
        case .failed(let reason): return .failed(reason)
        case .answered(let status, let retryAfter):
            if (200...299).contains(status.code) { return .succeeded }
            let hint = (300...399).contains(status.code) ? "; redirects are not followed" : ""
            return .failed("\(name): the server answered \(status)\(hint)", retryAfter: retryAfter)
        }
    }

    /// The request ends with its value.
    func end() {}
}
