import CDarkroomCurl
import DarkroomCore
import Glibc

/// One POST request under the same rules as downloads. The thread that waits for it runs it; it needs no engine.
///
/// A redirect is a response and is not followed: the body is for the receiver that the user has named.
package final class PostRequest: CurlReceiver {
    package enum Outcome: Sendable, Equatable {
        /// - Parameter retryAfter: the pause that the server asks for, in seconds.
        case answered(HTTPStatus, retryAfter: Double?)
        /// There is no response; the reason as a sentence with the URL, without its secrets.
        case failed(String)
    }

    private let multi: UnsafeMutableRawPointer
    private let hop: Hop
    private let settings: TransferSettings
    private var reader = HeadReader()
    private var bodyBytes = 0
    private var refusal: FetchRules.Refusal?
    private var hasOpenedSocket = false

    /// The part of a response's body that is read, so that the connection ends in order.
    private static let bodyLimit = 64 << 10

    /// Begins the request.
    ///
    /// - Throws: if the rules or libcurl refuse the URL, or libcurl cannot be loaded.
    package init(
        to url: RemoteURL, body: [UInt8], fields: [(name: String, value: String)],
        settings: TransferSettings
    ) throws(FetchError) {
        try TransferEngine.loadLibrary()
        // libcurl and OpenSSL write to sockets whose other end may be closed; their error is sufficient.
        signal(SIGPIPE, SIG_IGN)
        hop = try Self.hop(to: url, rules: settings.rules)
        self.settings = settings
        guard let curl = darkroom_curl_easy_init(), let multi = darkroom_curl_multi_init() else {
            throw .noMemory(url)
        }
        self.multi = multi
        super.init(curl)
        let options = try prepare(hop, fields, settings, timeLeft: settings.limits.total)
        try set(body, options)
        guard darkroom_curl_multi_add_handle(multi, curl) == CURLM_OK else {
            throw FetchError(.transferFailed, "\(url): the request cannot be begun")
        }
    }

    deinit {
        darkroom_curl_multi_remove_handle(multi, curl)
        darkroom_curl_multi_cleanup(multi)
    }

    /// Throws if a request to this URL would be refused for its text alone, before a name is resolved.
    package static func check(_ url: RemoteURL, rules: FetchRules) throws(FetchError) {
        _ = try hop(to: url, rules: rules)
    }

    private static func hop(to url: RemoteURL, rules: FetchRules) throws(FetchError) -> Hop {
        try withUTF8Locale { () throws(FetchError) in try Hop(to: url, rules: rules) }
    }

    private func set(_ body: [UInt8], _ options: EasyOptions) throws(FetchError) {
        try options.set(CURLOPT_POST, long: 1)
        try options.set(CURLOPT_POSTFIELDSIZE, long: body.count)
        var copied = body
        let result = copied.withUnsafeMutableBytes {
            darkroom_curl_set_pointer(curl, CURLOPT_COPYPOSTFIELDS, $0.baseAddress)
        }
        try options.check(result, CURLOPT_COPYPOSTFIELDS)
    }

    /// Continues the request until it has ended or this time is over.
    ///
    /// - Parameter file: another descriptor whose input ends the wait; negative for none.
    package func wait(seconds: Double, beside file: CInt) -> Outcome? {
        if let outcome = perform() { return outcome }
        var other = curl_waitfd(fd: file, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        let milliseconds = CInt(max(1, min(seconds * 1000, 60_000)))
        darkroom_curl_multi_poll(multi, &other, file < 0 ? 0 : 1, milliseconds, nil)
        return perform()
    }

    private func perform() -> Outcome? {
        var running: CInt = 0
        guard darkroom_curl_multi_perform(multi, &running) == CURLM_OK else {
            return .failed("\(hop.shown): the request cannot be continued")
        }
        var left: CInt = 0
        guard let message = darkroom_curl_multi_info_read(multi, &left)?.pointee,
            message.msg == CURLMSG_DONE
        else { return nil }
        // What follows the header of a response does not matter.
        if reader.isWhole, let head = reader.head {
            return .answered(head.status, retryAfter: head.retryDelay())
        }
        return .failed("\(hop.shown): \(cause(message.data.result))")
    }

    private func cause(_ result: CURLcode) -> String {
        switch result {
        case CURLE_COULDNT_CONNECT where !hasOpenedSocket:
            if let refusal { return refusal.words }
        case CURLE_OPERATION_TIMEDOUT:
            return "no answer within \(Units.time(settings.limits.total))"
        case CURLE_COULDNT_RESOLVE_HOST: return "the host name has no address"
        case CURLE_GOT_NOTHING, CURLE_OK:
            return "the server closed the connection without an answer"
        case CURLE_WRITE_ERROR, CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL:
            return "the answer is not HTTP, or its header is too long"
        default: break
        }
        return words(result)
    }

    // MARK: Callbacks

    override func take(line: UnsafeRawBufferPointer) -> Bool {
        [.more, .whole].contains(reader.take(line, limit: settings.limits.maxHeaderBytes))
    }

    override func take(body piece: UnsafeRawBufferPointer) -> Bool {
        bodyBytes += piece.count
        return bodyBytes <= Self.bodyLimit
    }

    override func openSocket(_ address: SocketAddress) -> CInt {
        guard let number = IPAddress(socketAddress: address.bytes) else { return -1 }
        if let refusal = settings.rules.refusal(address: number, host: hop.url.host) {
            self.refusal = refusal
            return -1
        }
        hasOpenedSocket = true
        return address.open()
    }
}
