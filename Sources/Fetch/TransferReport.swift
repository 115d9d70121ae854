import DarkroomCore
import DarkroomPicture

/// The result of a transfer that received the wanted body, or the confirmation of an existing copy.
package struct TransferReport: Sendable {
    package var request: TransferRequest
    /// The URL of the body, after redirects.
    package var effectiveURL: RedactedURL
    /// Identifies the URL that answered without containing it: nil for the requested URL, a digest after redirects.
    package var target: String?
    package var response: ResponseHead
    /// Whether the server has confirmed the validators of the request; then there is no body.
    package var isNotModified: Bool
    /// The length of the body, after decoding, as far as it was wanted.
    package var bytes: Int64
    /// The length of the whole body, after decoding; nil if only its first bytes were wanted and the server has not
    /// told it.
    package var total: Int64?
    /// The first bytes of the body: `prefixLength` bytes, or all of a shorter body.
    package var prefix: [UInt8]
    /// The CRC-32 (as in PNG and gzip) of the whole body, also if it was continued.
    package var crc32: UInt32
    /// The number of bytes of the body that an earlier attempt had left.
    package var resumedFrom: Int64
    package var redirects: Int
    /// Whether a request had a cookie that a redirect had set: the response may be for this transfer only.
    package var sentCookies: Bool
    /// The time from the start in the engine to the last byte.
    package var elapsed: Duration
    /// Whether no new connection was needed.
    package var reusedConnection: Bool

    /// The number of bytes of each body that are kept in memory to determine its format.
    package static let prefixLength = 512
}

extension TransferReport {
    /// The format of the received picture. The first bytes of the body decide, because a Content-Type may be wrong, and
    /// many web servers answer with a page if a picture is missing.
    package func pictureKind() throws(FetchError) -> InputFormat {
        let kind = InputFormat(prefix: prefix)
        if kind.isReadable { return kind }
        let answer = "\(shownURL): the server answered with \(kind.words)"
        let type = response.contentType.map { " (Content-Type \(Self.printable($0)))" } ?? ""
        if kind.isPicture { throw FetchError(.unsupportedFormat, answer + type + kind.advice) }
        throw FetchError(kind == .html ? .htmlPage : .notAPicture, answer + type + kind.advice)
    }

    /// The requested URL and, if it differs, the URL that answered.
    private var shownURL: String {
        redirects == 0
            ? "\(request.url)" : "\(request.url), redirected to \(effectiveURL)"
    }

    /// The type without its parameters, as far as it is valid (RFC 9110, section 8.3.1).
    private static func printable(_ contentType: ByteString) -> String {
        let type = contentType.utf8.prefix { $0 != UInt8(ascii: ";") }.prefix(80)
        return String(decoding: type.filter { $0 > 0x20 && $0 < 0x7F }, as: UTF8.self)
    }
}
