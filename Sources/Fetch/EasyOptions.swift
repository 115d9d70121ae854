import CDarkroomCurl
import DarkroomCore

/// Sets an easy handle's options, each call's result checked: a libcurl that lacks an option must not
/// silently transfer without it.
struct EasyOptions {
    let curl: UnsafeMutableRawPointer
    let shown: RedactedURL

    /// What is fetched, and how it is asked for. Redirects are followed by ourselves, each by the rules.
    func setRequest(_ hop: Hop, userAgent: String) throws(FetchError) {
        try check(darkroom_curl_set_url(curl, hop.url.handle), CURLOPT_CURLU)
        try set(CURLOPT_PROTOCOLS_STR, string: "http,https")
        try set(CURLOPT_FOLLOWLOCATION, long: 0)
        // Without TLS nothing tells that a server speaks HTTP/2, and waiting for its first answer to know
        // would hold up all other requests to it.
        let isSecure = hop.origin.scheme == "https"
        try set(
            CURLOPT_HTTP_VERSION, long: isSecure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
        // With TLS that is known after the handshake: rather one connection for all than one for each.
        try set(CURLOPT_PIPEWAIT, long: isSecure ? 1 : 0)
        try set(CURLOPT_USERAGENT, string: userAgent)
        try set(CURLOPT_NETRC, long: Int(CURL_NETRC_IGNORED.rawValue))
        // Sent, and makes libcurl undo what a server applies all the same.
        try set(CURLOPT_ACCEPT_ENCODING, string: "identity")
        // Our fields are for the server and not for a proxy that is asked for a tunnel, and the proxy's
        // answer to that is not the server's.
        try set(CURLOPT_HEADEROPT, long: Int(CURLHEADER_SEPARATE))
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, long: 1)
    }

    /// How connections are made.
    func setConnection(_ settings: TransferSettings) throws(FetchError) {
        // No signals for time limits; those of a broken pipe are ignored by the engine.
        try set(CURLOPT_NOSIGNAL, long: 1)
        // Without it, ending a transfer whose host is being resolved waits for the resolver, and with
        // it every other transfer; the resolver's thread is let go instead, and cleans up after itself.
        try set(CURLOPT_QUICK_EXIT, long: 1)
        // libcurl reads once for each time that a socket is ready: with its default of 16 KiB a picture
        // costs many turns. A handle that has kept its buffer from the last transfer, as after HTTP/2, refuses
        // and goes on with the default.
        _ = darkroom_curl_set_long(curl, CURLOPT_BUFFERSIZE, 100 << 10)
        try set(CURLOPT_SSL_VERIFYPEER, long: 1)
        try set(CURLOPT_SSL_VERIFYHOST, long: 2)
        try set(CURLOPT_SSLVERSION, long: CURL_SSLVERSION_TLSv1_2)
        if let caFile = settings.caFile { try set(CURLOPT_CAINFO, string: caFile) }
        // The empty strings keep the environment's http_proxy and no_proxy out.
        try set(CURLOPT_PROXY, string: settings.proxy ?? "")
        try set(CURLOPT_NOPROXY, string: "")
    }

    func setLimits(_ limits: TransferLimits, timeLeft: Duration) throws(FetchError) {
        // 0 would mean libcurl's own default, or no limit. All hops of a transfer share one total.
        try set(CURLOPT_CONNECTTIMEOUT_MS, long: max(1, limits.connect.milliseconds))
        try set(CURLOPT_TIMEOUT_MS, long: max(1, timeLeft.milliseconds))
        try set(CURLOPT_LOW_SPEED_LIMIT, long: limits.stallBytesPerSecond)
        try set(CURLOPT_LOW_SPEED_TIME, long: max(1, (limits.stall.milliseconds + 999) / 1000))
    }

    func set(_ option: CURLoption, long value: Int) throws(FetchError) {
        try check(darkroom_curl_set_long(curl, option, value), option)
    }

    func set(_ option: CURLoption, string value: String) throws(FetchError) {
        try check(darkroom_curl_set_string(curl, option, value), option)
    }

    func set(_ option: CURLoption, pointer value: UnsafeMutableRawPointer) throws(FetchError) {
        try check(darkroom_curl_set_pointer(curl, option, value), option)
    }

    func set(
        _ option: CURLoption, list value: UnsafeMutablePointer<curl_slist>?
    ) throws(FetchError) {
        try check(darkroom_curl_set_list(curl, option, value), option)
    }

    func check(_ result: CURLcode, _ option: CURLoption) throws(FetchError) {
        if result == CURLE_OK { return }
        let words = String(cString: curl_easy_strerror(result))
        throw FetchError(
            .transferFailed,
            "\(shown): libcurl refuses its option \(option.rawValue): \(words)")
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    package var milliseconds: Int {
        Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
