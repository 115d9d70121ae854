import CDarkroomCurl
import DarkroomCore
import Glibc
import SystemPackage

extension FetchError {
    /// The error of a transfer whose request libcurl ended with `result`; nil if it has not failed.
    ///
    /// libcurl's text is used only if it cannot contain parts of the URL other than its host.
    init?(_ transfer: Transfer, result: CURLcode, handle: EasyHandle) {
        guard let failure = Self.cause(transfer, result: result, handle: handle) else { return nil }
        self = failure
        if isTransient { partial = transfer.partial }
    }

    private static func cause(
        _ transfer: Transfer, result: CURLcode, handle: EasyHandle
    ) -> FetchError? {
        if let failure = transfer.failure { return failure }
        if transfer.hasEnough { return transfer.failureOfBeginning }
        if let failure = ofStatus(transfer, result: result) { return failure }
        if result == CURLE_OK {
            // If a connection ends within a header, libcurl treats this as the end of the response.
            if transfer.plan == nil {
                return transfer.error(
                    .connectionLost,
                    "the server closed the connection before the response header was complete")
            }
            if transfer.isOverlong {
                return transfer.error(
                    .lengthMismatch, "the body is longer than the server announced")
            }
            return transfer.failureOfEnd
        }
        if result == CURLE_COULDNT_CONNECT, let refusal = transfer.decisiveRefusal {
            return transfer.error(refusal.code, refusal.words)
        }
        if result == CURLE_OPERATION_TIMEDOUT, transfer.timeLeft <= .zero {
            return transfer.timeout
        }
        let (kind, cause) = kindAndCause(result, transfer: transfer, handle: handle)
        return FetchError(
            kind, "\(transfer.place): " + (cause ?? handle.words(result)),
            storageFailure: storageFailure(result, kind, of: transfer))
    }

    /// Whether the machine is the cause and not the network. libcurl does not report that it had no file descriptor for
    /// resolving a name or for reading certificates, so this code checks whether there is one.
    private static func storageFailure(
        _ result: CURLcode, _ kind: Code, of transfer: Transfer
    ) -> StorageFailure? {
        if result == CURLE_OUT_OF_MEMORY, kind == .transferFailed { return .scarce }
        switch kind {
        case .connectFailed, .timeout: return transfer.socketFailure
        case .resolveFailed, .tlsFailed, .transferFailed: return descriptorFailure()
        default: return nil
        }
    }

    /// Why this process cannot open another file; nil if it can.
    private static func descriptorFailure() -> StorageFailure? {
        do throws(Errno) {
            _ = Descriptor(owning: try retryingInterrupts { open("/", O_RDONLY | O_CLOEXEC) })
            return nil
        } catch {
            return error.storageFailure
        }
    }

    /// An error status decides before the result of the body after it.
    private static func ofStatus(_ transfer: Transfer, result: CURLcode) -> FetchError? {
        guard transfer.plan == .page, let head = transfer.reader.head else { return nil }
        var error = FetchError(
            .httpStatus, "\(transfer.place): the server answered \(head.status)",
            isTransient: head.status.isTransient)
        error.status = Int(head.status.code)
        if [408, 413, 429, 503].contains(head.status.code) {
            error.retryAfter = head.retryDelay()
            if transfer.redirects > 0 { error.asker = transfer.hop.origin.description }
        }
        return error
    }

    /// The code of libcurl's error, and a text of our own if libcurl's must not be shown or says less.
    private static func kindAndCause(
        _ result: CURLcode, transfer: Transfer, handle: EasyHandle
    ) -> (Code, String?) {
        let words = ByteString(handle.errorText)
        switch result {
        case CURLE_URL_MALFORMAT: return (.badURL, "this is not a valid URL")
        case CURLE_COULDNT_RESOLVE_HOST: return (.resolveFailed, "the host name has no address")
        case CURLE_COULDNT_RESOLVE_PROXY:
            return (.resolveFailed, "the host name of downloads.proxy has no address")
        case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED:
            let isDirect = transfer.settings.proxy?.isEmpty ?? true
            return (.connectFailed, isDirect ? nil : "through downloads.proxy: \(words)")
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_USE_SSL_FAILED,
            CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_CLIENTCERT:
            return (.tlsFailed, nil)
        case CURLE_OPERATION_TIMEDOUT: return timeout(transfer, words: words)
        case CURLE_PARTIAL_FILE: return (.truncated, end(of: transfer))
        case CURLE_GOT_NOTHING:
            return (.connectionLost, "the server closed the connection without a response")
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY:
            return (.badResponse, "the response is not HTTP")
        case CURLE_BAD_CONTENT_ENCODING:
            // libcurl decodes nothing, but does not accept more than five codings.
            return (.badResponse, "the server used content codings that were not requested")
        case CURLE_OUT_OF_MEMORY where isWithinHead(transfer, handle):
            // libcurl reports this for a line that is longer than its buffer.
            return (.headerTooLarge, "a header line of the response is longer than can be read")
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            return loss(transfer, words: words)
        default: return (.transferFailed, nil)
        }
    }

    private static func end(of transfer: Transfer) -> String {
        "the body ends after \(Units.bytes(transfer.body.bytes)), before it is complete"
    }

    /// Whether the request was sent and the header of its response is not complete.
    private static func isWithinHead(_ transfer: Transfer, _ handle: EasyHandle) -> Bool {
        !transfer.reader.isWhole && darkroom_curl_get_long(handle.curl, CURLINFO_REQUEST_SIZE) > 0
    }

    /// libcurl has one code for all kinds of lost connections; only its text distinguishes them.
    private static func loss(_ transfer: Transfer, words: ByteString) -> (Code, String?) {
        if words.contains("reset by peer") {
            return (
                .connectionReset,
                "the connection was reset, after \(Units.bytes(transfer.body.bytes)) of the body"
            )
        }
        if words.hasPrefix("CONNECT tunnel failed") { return (.connectFailed, nil) }
        // libcurl's own limit, if ours is larger.
        if words.hasPrefix("Too large response headers") { return (.headerTooLarge, nil) }
        // The chunks of the body are invalid; the connection is intact.
        if words.hasSuffix("in chunked-encoding") {
            return (.badResponse, "the body's chunks (Transfer-Encoding) are damaged")
        }
        // Without a regular end of TLS, anyone may have cut the connection.
        if words.contains("unexpected eof"), transfer.plan?.isKept == true {
            return (.truncated, end(of: transfer))
        }
        return (.connectionLost, nil)
    }

    /// libcurl has one code for three limits. Only its text tells that the transfer was too slow.
    private static func timeout(_ transfer: Transfer, words: ByteString) -> (Code, String?) {
        let limits = transfer.settings.limits
        if words.hasPrefix("Operation too slow") {
            return (
                .stalled,
                "less than \(Units.bytes(limits.stallBytesPerSecond)) per second for "
                    + "\(Units.time(limits.stall)), after \(Units.bytes(transfer.body.bytes))"
            )
        }
        return (.timeout, nil)
    }
}
