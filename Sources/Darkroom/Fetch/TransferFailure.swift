import CCurl
import Glibc
import SystemPackage

extension FetchError {
    /// What a transfer that libcurl ended with `result` has failed of, or nil if it brought a body.
    ///
    /// The words of libcurl are taken over only where they cannot hold parts of the URL other than its
    /// host.
    init?(_ transfer: EasyHandle.Transfer, result: CURLcode, handle: EasyHandle) {
        if let failure = transfer.failure {
            self = failure
            return
        }
        let status = HTTPStatus(darkroom_curl_get_long(handle.curl, CURLINFO_RESPONSE_CODE))
        let place = Self.place(transfer.request, handle: handle)
        if let failure = Self.ofStatus(status, result: result, place: place) {
            self = failure
            return
        }
        if result == CURLE_OK { return nil }
        let (kind, cause) = Self.kindAndCause(
            result, transfer: transfer, words: handle.errorText, status: status)
        let words =
            handle.errorText.isEmpty
            ? String(cString: curl_easy_strerror(result)) : handle.errorText
        self.init(
            kind, "\(place): " + (cause ?? words),
            fault: Self.fault(result, kind, of: transfer))
    }

    /// Whether this machine is to blame and not the network. libcurl does not say that it found no file
    /// descriptor for the name's resolution or for reading its certificates, so we look whether there is one.
    private static func fault(
        _ result: CURLcode, _ kind: Code, of transfer: EasyHandle.Transfer
    ) -> StorageFault? {
        if result == CURLE_OUT_OF_MEMORY { return .scarce }
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

    /// The URL asked for and, after a redirect, the one that failed.
    private static func place(_ request: TransferRequest, handle: EasyHandle) -> String {
        guard darkroom_curl_get_long(handle.curl, CURLINFO_REDIRECT_COUNT) > 0,
            let last = darkroom_curl_get_string(handle.curl, CURLINFO_EFFECTIVE_URL)
        else { return "\(request.url)" }
        return "\(request.url), redirected to \(RedactedURL(String(cString: last)))"
    }

    /// A status that is no success decides before what became of the body behind it.
    private static func ofStatus(
        _ status: HTTPStatus, result: CURLcode, place: String
    ) -> FetchError? {
        // A redirect's status stays known while the next hop fails on its own; these come of a body.
        let ofBody = [
            CURLE_OK, CURLE_WRITE_ERROR, CURLE_FILESIZE_EXCEEDED, CURLE_PARTIAL_FILE,
        ]
        guard ofBody.contains(result), status.code >= 200, !status.isWhole else { return nil }
        return FetchError(
            .httpStatus, "\(place): the server answered \(status)",
            isTransient: status.isTransient)
    }

    /// The kind of libcurl's failure, and words of ours where its own are not to be shown or say
    /// less.
    private static func kindAndCause(
        _ result: CURLcode, transfer: EasyHandle.Transfer, words: String, status: HTTPStatus
    ) -> (Code, String?) {
        let limits = transfer.limits
        switch result {
        case CURLE_URL_MALFORMAT: return (.badURL, "libcurl finds no URL in it")
        case CURLE_UNSUPPORTED_PROTOCOL:
            // The request's own scheme has been checked, so it is a redirect's, or not HTTP at all.
            return (300...399).contains(status.code)
                ? (.unsupportedScheme, "the server redirects to a scheme other than http and https")
                : (.transferFailed, nil)
        case CURLE_COULDNT_RESOLVE_HOST: return (.resolveFailed, "the host's name has no address")
        case CURLE_COULDNT_RESOLVE_PROXY:
            return (.resolveFailed, "the name of downloads.proxy has no address")
        case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED:
            return (.connectFailed, nil)
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_USE_SSL_FAILED,
            CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_CLIENTCERT:
            return (.tlsFailed, nil)
        case CURLE_OPERATION_TIMEDOUT: return timeout(transfer, words: words)
        case CURLE_TOO_MANY_REDIRECTS:
            return (.tooManyRedirects, "more than \(limits.redirects) redirects")
        case CURLE_FILESIZE_EXCEEDED:
            return (
                .tooLarge,
                "the server announces more bytes than the limit of \(limits.bytes)"
            )
        case CURLE_PARTIAL_FILE:
            return (.truncated, "the body ends after \(transfer.bytes) bytes, before it is whole")
        case CURLE_GOT_NOTHING: return (.connectionLost, "the server closed without an answer")
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            return (.connectionLost, nil)
        default: return (.transferFailed, nil)
        }
    }

    /// libcurl has one code for three limits. Too few bytes it tells in words only.
    private static func timeout(
        _ transfer: EasyHandle.Transfer, words: String
    ) -> (Code, String?) {
        if words.hasPrefix("Operation too slow") {
            return (
                .stalled,
                "fewer than \(transfer.limits.stallBytesPerSecond) bytes a second for "
                    + "\(transfer.limits.stall), after \(transfer.bytes) bytes"
            )
        }
        return (.timeout, nil)
    }
}
