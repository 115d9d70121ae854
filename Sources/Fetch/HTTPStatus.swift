/// A status code of HTTP (RFC 9110, section 15).
///
/// The words are ours and not the server's: HTTP/2 sends none, and what a server sends is not fit
/// to be put into a log unread.
package struct HTTPStatus: Sendable, Equatable, CustomStringConvertible {
    package var code: Int

    package init(_ code: Int) {
        self.code = code
    }

    /// Whether the body is the whole of what was asked for. 206 is a part nobody asked for.
    package var isWhole: Bool { (200...299).contains(code) && code != 206 }

    /// Whether the connection speaks another protocol from here on, which we never ask for.
    package var isChangeOfProtocols: Bool { code == 101 }

    /// Whether the server may answer otherwise on another attempt.
    package var isTransient: Bool { [408, 425, 429, 500, 502, 503, 504].contains(code) }

    /// The number and, where the code is a common one, its reason: `404 Not Found`.
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
