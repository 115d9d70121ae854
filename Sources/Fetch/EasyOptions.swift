import CDarkroomCurl
import DarkroomCore

/// Sets the options of an easy handle and checks the result of each call: without this check, a libcurl that lacks an
/// option would transfer without it.
struct EasyOptions {
    let curl: UnsafeMutableRawPointer
    let shown: RedactedURL

    /// What to fetch and how. Darkroom follows redirects itself and checks each one.
    func setRequest(_ hop: Hop, userAgent: String) throws(FetchError) {
        try check(darkroom_curl_set_url(curl, hop.url.handle), CURLOPT_CURLU)
        try set(CURLOPT_PROTOCOLS_STR, string: "http,https")
        try set(CURLOPT_FOLLOWLOCATION, long: 0)
        // Without TLS it is unknown whether a server supports HTTP/2, and waiting for its first response would delay
        // all other requests to it.
        let isSecure = hop.origin.scheme == "https"
        try set(
            CURLOPT_HTTP_VERSION, long: isSecure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
        // With TLS this is known after the handshake, so requests wait to share one connection.
        try set(CURLOPT_PIPEWAIT, long: isSecure ? 1 : 0)
        try set(CURLOPT_USERAGENT, string: userAgent)
        try set(CURLOPT_NETRC, long: Int(CURL_NETRC_IGNORED.rawValue))
        // Sends this value. A body that a server has encoded nevertheless is decoded by `ContentDecoder`.
        try set(CURLOPT_ACCEPT_ENCODING, string: "identity")
        try set(CURLOPT_HTTP_CONTENT_DECODING, long: 0)
        // The custom fields are for the server and not for a proxy that opens a tunnel, and the response of the proxy
        // is not that of the server.
        try set(CURLOPT_HEADEROPT, long: Int(CURLHEADER_SEPARATE))
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, long: 1)
    }

    /// How connections are made.
    ///
    /// - Parameter firstBytes: the number of first bytes that are wanted; nil for the whole body.
    func setConnection(_ settings: TransferSettings, firstBytes: Int64? = nil) throws(FetchError) {
        // Time limits do not use signals; the engine ignores those of a broken pipe.
        try set(CURLOPT_NOSIGNAL, long: 1)
        // Without this option, ending a transfer whose host is being resolved waits for the resolver, and all other
        // transfers wait too. With it, the resolver's thread continues on its own and cleans up.
        try set(CURLOPT_QUICK_EXIT, long: 1)
        // libcurl reads once for each event of a socket, so with its default of 16 KiB a picture needs many turns. A
        // handle that still has a buffer from its last transfer, as after HTTP/2, refuses this option and keeps the
        // default.
        let buffer = min(100 << 10, max(1 << 10, Int(firstBytes ?? .max)))
        _ = darkroom_curl_set_long(curl, CURLOPT_BUFFERSIZE, buffer)
        try set(CURLOPT_SSL_VERIFYPEER, long: 1)
        try set(CURLOPT_SSL_VERIFYHOST, long: 2)
        try set(CURLOPT_SSLVERSION, long: CURL_SSLVERSION_TLSv1_2)
        if let caFile = settings.caFile { try set(CURLOPT_CAINFO, string: caFile) }
        // The empty strings disable http_proxy and no_proxy of the environment.
        try set(CURLOPT_PROXY, string: settings.proxy ?? "")
        try set(CURLOPT_NOPROXY, string: "")
    }

    func setLimits(_ limits: TransferLimits, timeLeft: Duration) throws(FetchError) {
        // 0 would mean libcurl's default or no limit. All requests of a transfer share one total time.
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
        let words = String(cString: darkroom_curl_easy_strerror(result))
        throw FetchError(
            .transferFailed,
            "\(shown): preparing the transfer (option \(option.rawValue)): \(words). "
                + Failure.reportRequest)
    }
}

extension Duration {
    /// In whole milliseconds, rounded down.
    package var milliseconds: Int {
        Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
