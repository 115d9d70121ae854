/// An HTTP status code (RFC 9110, section 15).
///
/// The text is ours and not the server's: HTTP/2 has none, and the text of a server must not be logged without a check.
package struct HTTPStatus: Sendable, Equatable, CustomStringConvertible {
    package var code: Int

    package init(_ code: Int) { self.code = code }

    /// Whether the body is the whole requested body. 206 is a part that was not requested.
    package var isWhole: Bool { (200...299).contains(code) && code != 206 }

    /// Whether the connection continues in another protocol, which Darkroom never requests.
    package var isChangeOfProtocols: Bool { code == 101 }

    package var isTransient: Bool { [408, 425, 429, 500, 502, 503, 504].contains(code) }

    /// The number and, for a common code, its reason: `404 Not Found`.
    package var description: String {
        guard let reason = Self.reasons[code] else { return String(code) }
        return "\(code) \(reason)"
    }

    private static let reasons: [Int: String] = [
        101: "Switching Protocols", 206: "Partial Content", 300: "Multiple Choices",
        301: "Moved Permanently", 302: "Found",
        303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
        308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized",
        402: "Payment Required", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout",
        409: "Conflict", 410: "Gone", 421: "Misdirected Request", 425: "Too Early",
        426: "Upgrade Required", 429: "Too Many Requests",
        451: "Unavailable For Legal Reasons", 500: "Internal Server Error",
        501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]
}
