import CDarkroomCurl
import DarkroomCore

/// A URL as libcurl's own parser reads it. libcurl fetches the same object that was checked, so that two parsers cannot
/// disagree about the host.
///
/// Used only on the engine's thread, whose locale makes libcurl read international names as UTF-8.
final class CurlURL {
    let handle: OpaquePointer

    /// Throws `badURL` if libcurl cannot parse the URL. It does not check any rule.
    init(_ url: RemoteURL) throws(FetchError) {
        let written = try Self.parse(url.text.string, shown: url.shown)
        guard let host = Self.part(written, CURLUPART_HOST), !host.utf8.allSatisfy({ $0 < 0x80 })
        else {
            handle = written
            return
        }
        // In its ASCII form a name may be an address (fullwidth digits), so it is parsed again.
        defer { darkroom_curl_url_cleanup(written) }
        guard let text = Self.part(written, CURLUPART_URL, CURLU_PUNYCODE) else {
            throw FetchError(.badURL, "\(url): the host is not a valid international name (IDNA)")
        }
        handle = try Self.parse(text, shown: url.shown)
    }

    deinit { darkroom_curl_url_cleanup(handle) }

    /// The whole URL, secrets included.
    var text: String { Self.part(handle, CURLUPART_URL) ?? "" }

    /// In ASCII; an IPv6 address has its brackets.
    var host: ByteString { ByteString(Self.part(handle, CURLUPART_HOST) ?? "") }

    /// Without the query.
    var path: ByteString { ByteString(Self.part(handle, CURLUPART_PATH) ?? "/") }

    /// The origin to which a credential may be sent.
    var origin: Origin {
        Origin(
            scheme: Self.part(handle, CURLUPART_SCHEME) ?? "", host: host,
            port: Self.part(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT).flatMap { Int($0) })
    }

    var hasUser: Bool { Self.part(handle, CURLUPART_USER) != nil }

    func takeUser(of other: CurlURL) {
        for part in [CURLUPART_USER, CURLUPART_PASSWORD] {
            // In its original form, including escapes.
            if let text = Self.part(other.handle, part) {
                _ = darkroom_curl_url_set(handle, part, text, 0)
            }
        }
    }

    /// The target of a redirect's Location relative to this URL (RFC 3986, section 5), without user, password and
    /// fragment; nil if libcurl cannot parse the Location.
    func resolve(_ location: ByteString) -> ByteString? {
        guard let target = darkroom_curl_url_dup(handle) else { return nil }
        defer { darkroom_curl_url_cleanup(target) }
        let flags = CURLU_URLENCODE | CURLU_ALLOW_SPACE | CURLU_NON_SUPPORT_SCHEME
        guard
            darkroom_curl_url_set(target, CURLUPART_URL, location.string, UInt32(flags))
                == CURLUE_OK
        else { return nil }
        for part in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS, CURLUPART_FRAGMENT] {
            guard darkroom_curl_url_set(target, part, nil, 0) == CURLUE_OK else { return nil }
        }
        return Self.part(target, CURLUPART_URL).map { ByteString($0) }
    }

    private static func parse(_ text: String, shown: RedactedURL) throws(FetchError)
        -> OpaquePointer
    {
        guard let handle = darkroom_curl_url() else { throw .noMemory(shown) }
        let result = darkroom_curl_url_set(handle, CURLUPART_URL, text, 0)
        guard result == CURLUE_OK else {
            darkroom_curl_url_cleanup(handle)
            throw FetchError(
                .badURL,
                "\(shown): this is not a valid URL: \(String(cString: darkroom_curl_url_strerror(result)))"
            )
        }
        return handle
    }

    private static func part(
        _ handle: OpaquePointer, _ part: CURLUPart, _ flags: CInt = 0
    ) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard darkroom_curl_url_get(handle, part, &text, UInt32(flags)) == CURLUE_OK, let text
        else {
            return nil
        }
        defer { darkroom_curl_free(text) }
        return String(cString: text)
    }
}
