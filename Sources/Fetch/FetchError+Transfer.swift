import CDarkroomCurl
import DarkroomCore
import Glibc
import SystemPackage

extension FetchError {
    /// What a transfer whose request libcurl ended with `result` has failed of, or nil if it has not.
    ///
    /// The words of libcurl are taken over only where they cannot hold parts of the URL other than its
    /// host.
    init?(_ transfer: Transfer, result: CURLcode, handle: EasyHandle) {
        guard let failure = Self.cause(transfer, result: result, handle: handle) else { return nil }
        self = failure
        if isTransient { partial = transfer.partial }
    }

    private static func cause(
        _ transfer: Transfer, result: CURLcode, handle: EasyHandle
    ) -> FetchError? {
        if let failure = transfer.failure { return failure }
        if let failure = ofStatus(transfer, result: result) { return failure }
        if result == CURLE_OK {
            // libcurl takes a connection that ends within a head for the end of the answer.
            if transfer.plan == nil {
                return FetchError(
                    .connectionLost,
                    "\(transfer.place): the server closed the connection before the response header was complete"
                )
            }
            guard transfer.isOverlong else { return nil }
            return FetchError(
                .lengthMismatch,
                "\(transfer.place): the body is longer than the server announced")
        }
        if result == CURLE_COULDNT_CONNECT, let refusal = transfer.decisiveRefusal {
            return FetchError(refusal.code, "\(transfer.place): \(refusal.words)")
        }
        if result == CURLE_OPERATION_TIMEDOUT, transfer.timeLeft <= .zero {
            return transfer.timeout
        }
        let (kind, cause) = kindAndCause(result, transfer: transfer, handle: handle)
        let words =
            handle.errorText.isEmpty
            ? String(cString: curl_easy_strerror(result)) : handle.errorText
        return FetchError(
            kind, "\(transfer.place): " + (cause ?? words),
            fault: fault(result, kind, of: transfer))
    }

    /// Whether this machine is to blame and not the network. libcurl does not say that it found no file
    /// descriptor for the name's resolution or for reading its certificates, so we look whether there is one.
    private static func fault(
        _ result: CURLcode, _ kind: Code, of transfer: Transfer
    ) -> StorageFault? {
        if result == CURLE_OUT_OF_MEMORY, kind == .transferFailed { return .scarce }
        switch kind {
        case .connectFailed, .timeout: return transfer.socketFault
        case .resolveFailed, .tlsFailed, .transferFailed: return descriptorFault()
        default: return nil
        }
    }

    /// What keeps this process from opening one more file; nil where nothing does.
    private static func descriptorFault() -> StorageFault? {
        do throws(Errno) {
            _ = Descriptor(owning: try retryingInterrupts { open("/", O_RDONLY | O_CLOEXEC) })
            return nil
        } catch {
            return error.storageFault
        }
    }

    /// A status that is no success decides before what became of the body behind it.
    private static func ofStatus(_ transfer: Transfer, result: CURLcode) -> FetchError? {
        guard transfer.plan == .page, let head = transfer.reader.head else { return nil }
        var error = FetchError(
            .httpStatus, "\(transfer.place): the server answered \(head.status)",
            isTransient: head.status.isTransient)
        if [408, 413, 429, 503].contains(head.status.code) {
            error.retryAfter = head.retryAfter?.delay()
            if transfer.redirects > 0 { error.asker = transfer.hop.origin.description }
        }
        return error
    }

    /// The kind of libcurl's failure, and words of ours where its own are not to be shown or say
    /// less.
    private static func kindAndCause(
        _ result: CURLcode, transfer: Transfer, handle: EasyHandle
    ) -> (Code, String?) {
        let words = ByteString(handle.errorText)
        switch result {
        case CURLE_URL_MALFORMAT: return (.badURL, "libcurl cannot parse the URL")
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
        case CURLE_BAD_CONTENT_ENCODING, CURLE_BAD_FUNCTION_ARGUMENT:
            return (.badResponse, "the body's Content-Encoding is damaged")
        case CURLE_WRITE_ERROR:
            // Our own callbacks say why they end a transfer. What is left is what libcurl undoes codings with, which
            // knows no other error for bytes behind the end of what is coded.
            return (.badResponse, "the body continues after the end of its Content-Encoding")
        case CURLE_OUT_OF_MEMORY where isWithinHead(transfer, handle):
            // So it says of a line that is longer than it has room for.
            return (.headerTooLarge, "a header line of the response is longer than libcurl allows")
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            return loss(transfer, words: words)
        default: return (.transferFailed, nil)
        }
    }

    private static func end(of transfer: Transfer) -> String {
        "the body ends after \(Units.bytes(transfer.body.bytes)), before it is complete"
    }

    /// Whether the request is out and its answer's head not yet in.
    private static func isWithinHead(_ transfer: Transfer, _ handle: EasyHandle) -> Bool {
        !transfer.reader.isWhole && darkroom_curl_get_long(handle.curl, CURLINFO_REQUEST_SIZE) > 0
    }

    /// libcurl has one code for all ways to lose a connection, and tells them apart in words only.
    private static func loss(_ transfer: Transfer, words: ByteString) -> (Code, String?) {
        if words.contains("reset by peer") {
            return (
                .connectionReset,
                "the connection was reset, after \(Units.bytes(transfer.body.bytes)) of the body"
            )
        }
        if words.hasPrefix("CONNECT tunnel failed") { return (.connectFailed, nil) }
        // Its own limit, where ours is larger.
        if words.hasPrefix("Too large response headers") { return (.headerTooLarge, nil) }
        // A body whose chunks are none; the connection is whole.
        if words.hasSuffix("in chunked-encoding") {
            return (.badResponse, "the body's chunks (Transfer-Encoding) are damaged")
        }
        // TLS that ends without saying so may have been cut by anyone.
        if words.contains("unexpected eof"), transfer.plan?.isKept == true {
            return (.truncated, end(of: transfer))
        }
        return (.connectionLost, nil)
    }

    /// libcurl has one code for three limits. Too few bytes it tells in words only.
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
