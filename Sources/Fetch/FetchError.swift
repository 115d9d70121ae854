import DarkroomCore

/// Why a source could not be fetched, from the network or from a folder of this machine.
package struct FetchError: CodedError, Equatable {
    package enum Code: String, Sendable, CaseIterable {
        /// The scheme of the source or of a redirect is not http, https or file.
        case unsupportedScheme = "unsupported-scheme"
        /// The source is neither a URL nor a path, or a URL with an invalid part.
        case badURL = "bad-url"
        /// `downloads.allowHosts` or `denyHosts` do not allow the host of the source or of a redirect.
        case hostForbidden = "host-forbidden"
        /// The host of the source or of a redirect has an address that is not global unicast.
        case addressForbidden = "address-forbidden"
        /// The host name, or that of the proxy, has no address.
        case resolveFailed = "resolve-failed"
        case connectFailed = "connect-failed"
        /// The server's certificate is not trusted, or no secure connection could be made.
        case tlsFailed = "tls-failed"
        /// The connection, or the transfer as a whole, took longer than its limit.
        case timeout = "timeout"
        /// Fewer bytes than the limit arrived for longer than the limit.
        case stalled = "stalled"
        case tooManyRedirects = "too-many-redirects"
        case httpStatus = "http-status"
        case tooLarge = "too-large"
        /// The body ended before the announced length, or before its last chunk.
        case truncated = "truncated"
        /// The body continues after the announced length.
        case lengthMismatch = "length-mismatch"
        /// The connection ended without a response, or during one in a way other than those above.
        case connectionLost = "connection-lost"
        /// The server, or a machine on the way, reset the connection (TCP RST).
        case connectionReset = "connection-reset"
        /// The header of the response is longer than the limit.
        case headerTooLarge = "header-too-large"
        /// The response is not HTTP, or it contradicts itself or the request.
        case badResponse = "bad-response"
        case htmlPage = "html-page"
        /// The response does not begin like a picture; the message tells what it looks like.
        case notAPicture = "not-a-picture"
        /// The response is a picture of a format that this version does not read.
        case unsupportedFormat = "unsupported-format"
        /// The response could not be written to the disk.
        case writeFailed = "write-failed"
        /// None of the source roots has this file.
        case sourceMissing = "source-missing"
        /// The picture came with the manifest and was removed when the batch ended; a `retry` asked for it again.
        case sourceGone = "source-gone"
        /// The path leads out of the source roots, or the file was sent along and is somebody else's or a link.
        case sourceForbidden = "source-forbidden"
        /// The file exists but cannot be opened; the message has the system's error.
        case sourceUnreadable = "source-unreadable"
        /// The path names a folder, a FIFO, a device or a socket.
        case notAFile = "not-a-file"
        case cancelled = "cancelled"
        /// Any other error of libcurl; the message has its text.
        case transferFailed = "transfer-failed"
    }

    package var kind: Code
    package var message: String
    package var isTransient: Bool
    package var storageFailure: StorageFailure?
    /// The pause that the server asks for, in seconds: Retry-After with a status of 408, 413, 429 or 503.
    package var retryAfter: Double?
    /// The origin that asks for the pause, `https://host:port`, if it differs from the requested one because of a
    /// redirect.
    package var asker: String?
    /// The part that has arrived, if another attempt may ask for the rest.
    package var partial: PartialBody?
    /// The number of the HTTP status with which the server has refused; nil for another error.
    package var status: Int?

    package var code: String { kind.rawValue }

    /// If `isTransient` is not given, the code decides; a failure of the machine that passes is transient too.
    package init(
        _ kind: Code, _ message: String, isTransient: Bool? = nil,
        storageFailure: StorageFailure? = nil
    ) {
        self.kind = kind
        self.message = message
        self.isTransient =
            isTransient
            ?? (kind.isTransient || storageFailure == .full || storageFailure == .scarce)
        self.storageFailure = storageFailure
    }
}

extension FetchError.Code {
    /// Whether the source could not be had, so that nothing is known of its content. After the other ones, there is
    /// something else than a picture, or the manifest or the configuration must be corrected.
    package var leavesContentUnknown: Bool {
        switch self {
        case .resolveFailed, .connectFailed, .tlsFailed, .timeout, .stalled, .tooManyRedirects,
            .httpStatus, .truncated, .lengthMismatch, .connectionLost, .connectionReset,
            .headerTooLarge, .badResponse, .sourceMissing, .sourceGone, .sourceUnreadable,
            .transferFailed:
            true
        case .unsupportedScheme, .badURL, .hostForbidden, .addressForbidden, .tooLarge, .htmlPage,
            .notAPicture, .unsupportedFormat, .writeFailed, .sourceForbidden, .notAFile, .cancelled:
            false
        }
    }

    /// Whether another attempt may succeed. Not after refusals, forbidden hosts and TLS errors; for an HTTP status, its
    /// number decides (`HTTPStatus.isTransient`).
    package var isTransient: Bool {
        switch self {
        case .resolveFailed, .connectFailed, .timeout, .stalled, .truncated, .connectionLost,
            .connectionReset:
            true
        default: false
        }
    }
}
