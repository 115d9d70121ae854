import DarkroomCore

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
    package var status: HTTPStatus { response.status }
    /// As the server sent it, including parameters. It must not be trusted, and not be shown without a check.
    package var contentType: ByteString? { response.contentType }
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
