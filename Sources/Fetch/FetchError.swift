import DarkroomCore

/// Why a source could not be had: from the network, or from a folder of this machine.
package struct FetchError: CodedError, Equatable {
    package enum Code: String, Sendable, CaseIterable {
        /// The source, or a redirect, names a scheme other than http, https and file.
        case unsupportedScheme = "unsupported-scheme"
        /// The source is no URL and no path, or a URL with a part that cannot be.
        case badURL = "bad-url"
        /// The host, or a redirect's, is not one that `downloads.allowHosts` and `denyHosts` let be asked.
        case hostForbidden = "host-forbidden"
        /// The host, or a redirect's, has an address that is not global unicast.
        case addressForbidden = "address-forbidden"
        /// The host's name, or the proxy's, has no address.
        case resolveFailed = "resolve-failed"
        case connectFailed = "connect-failed"
        /// The server's certificate is not trusted, or no secure connection came about.
        case tlsFailed = "tls-failed"
        /// The connection, or the transfer as a whole, took longer than its limit.
        case timeout = "timeout"
        /// Fewer bytes than the limit arrived for longer than the limit.
        case stalled = "stalled"
        case tooManyRedirects = "too-many-redirects"
        /// The server's answer is not a picture but a refusal; the message has its number.
        case httpStatus = "http-status"
        case tooLarge = "too-large"
        /// The body ended before the length the server had promised, or before its last chunk.
        case truncated = "truncated"
        /// The body goes on after the length the server had promised.
        case lengthMismatch = "length-mismatch"
        /// The connection ended without an answer, or in the middle of one in another way than those above.
        case connectionLost = "connection-lost"
        /// The server, or something on the way, broke the connection off (TCP RST).
        case connectionReset = "connection-reset"
        /// The head of the answer is longer than the limit.
        case headerTooLarge = "header-too-large"
        /// The answer is no HTTP, or contradicts itself or what was asked.
        case badResponse = "bad-response"
        /// What arrived is a page for a browser.
        case htmlPage = "html-page"
        /// What arrived does not begin like a picture; the message says what it looks like.
        case notAPicture = "not-a-picture"
        /// What arrived is a picture of a kind this version does not read.
        case unsupportedFormat = "unsupported-format"
        /// What arrived could not be written to this machine's disk.
        case writeFailed = "write-failed"
        /// No file of that name lies in any of the source roots.
        case sourceMissing = "source-missing"
        /// The path leads out of the source roots.
        case sourceForbidden = "source-forbidden"
        /// The file is there but could not be opened; the message has the system's words.
        case sourceUnreadable = "source-unreadable"
        /// The path names a folder, a fifo, a device or a socket.
        case notAFile = "not-a-file"
        case cancelled = "cancelled"
        /// Anything else that libcurl reports; the message carries its words.
        case transferFailed = "transfer-failed"
    }

    package var kind: Code
    package var message: String
    package var isTransient: Bool
    package var fault: StorageFault?
    /// How long the server asks to be left alone, in seconds: its Retry-After with a status of 408, 413, 429
    /// or 503.
    package var retryAfter: Double?
    /// The origin that has asked for it, `https://host:port`, if a redirect has led to another than was asked.
    package var asker: String?
    /// What has arrived, where another attempt may ask for the rest.
    package var partial: PartialBody?

    package var code: String { kind.rawValue }

    /// `isTransient` is the kind's own answer where it is left out, and yes for a fault that passes.
    package init(
        _ kind: Code, _ message: String, isTransient: Bool? = nil, fault: StorageFault? = nil
    ) {
        self.kind = kind
        self.message = message
        self.isTransient = isTransient ?? (kind.isTransient || fault == .full || fault == .scarce)
        self.fault = fault
    }
}

extension FetchError.Code {
    /// Whether the network may do better on another attempt. Refusals, policy and TLS never do;
    /// an HTTP status is decided by its number (`HTTPStatus.isTransient`).
    package var isTransient: Bool {
        switch self {
        case .resolveFailed, .connectFailed, .timeout, .stalled, .truncated, .connectionLost,
            .connectionReset:
            true
        case .unsupportedScheme, .badURL, .hostForbidden, .addressForbidden, .tlsFailed,
            .tooManyRedirects, .httpStatus, .headerTooLarge, .tooLarge, .lengthMismatch,
            .badResponse,
            .htmlPage, .notAPicture, .unsupportedFormat, .writeFailed, .sourceMissing,
            .sourceForbidden,
            .sourceUnreadable, .notAFile, .cancelled, .transferFailed:
            false
        }
    }
}
