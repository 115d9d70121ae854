import CDarkroomCurl
import DarkroomCore

/// A libcurl easy handle with the transfer that it runs. It is used for one request after another.
///
/// Used only on the engine's thread: its callbacks run there, within calls of the multi handle.
final class EasyHandle: CurlReceiver {
    /// nil between transfers.
    private(set) var transfer: Transfer?
    weak var pool: MultiHandle?

    init?() {
        guard let curl = darkroom_curl_easy_init() else { return nil }
        super.init(curl)
    }

    /// The handle that a message of libcurl names. It must have been set up by `begin`.
    static func of(_ curl: UnsafeMutableRawPointer) -> EasyHandle? {
        easyHandle(darkroom_curl_get_private(curl))
    }

    /// Sets up the handle for the transfer's current request. Throws libcurl's error if it refuses an option.
    func begin(_ transfer: Transfer) throws(FetchError) {
        self.transfer = transfer
        // Keeps connections, sessions and names, because they belong to the multi handle.
        darkroom_curl_easy_reset(curl)
        let options = try prepare(
            transfer.hop, transfer.requestHeaders(), transfer.settings,
            firstBytes: transfer.request.firstBytes, timeLeft: transfer.timeLeft)
        let user = Unmanaged.passUnretained(self).toOpaque()
        try options.set(CURLOPT_PRIVATE, pointer: user)
        try options.check(darkroom_curl_set_debug(curl, watchWire, user), CURLOPT_DEBUGFUNCTION)
        try options.check(
            darkroom_curl_set_progress(curl, watchLength, user), CURLOPT_XFERINFOFUNCTION)
    }

    /// Removes the transfer from the handle, which can then be used again.
    func end() -> Transfer? { transfer.take() }

    override func take(line: UnsafeRawBufferPointer) -> Bool {
        switch transfer?.take(line: line) {
        case .goOn: return true
        case .watchBody:
            watchBody()
            return true
        case .stop, nil: return false
        }
    }

    /// Makes libcurl report the received bytes from now on. Not earlier, because its messages about connecting cost
    /// more than all others.
    private func watchBody() {
        guard let reader = transfer?.reader else { return }
        _ = darkroom_curl_set_long(curl, CURLOPT_VERBOSE, 1)
        if reader.length == nil || reader.head?.contentEncoding != nil {
            _ = darkroom_curl_set_long(curl, CURLOPT_NOPROGRESS, 0)
        }
    }

    override func take(body piece: UnsafeRawBufferPointer) -> Bool {
        transfer?.take(piece) ?? false
    }

    override func openSocket(_ address: SocketAddress) -> CInt {
        guard let transfer else { return CURL_SOCKET_BAD }
        let socket = transfer.openSocket(address)
        if socket < 0 { pool?.noteRefusal(of: self) }
        return socket
    }
}

private func easyHandle(_ user: UnsafeMutableRawPointer?) -> EasyHandle? { object(user) }

/// libcurl's debug callback. It also receives the sent data, including credentials, and keeps none of it.
private func watchWire(
    curl: UnsafeMutableRawPointer?, kind: curl_infotype, bytes: UnsafeMutablePointer<CChar>?,
    count: Int, user: UnsafeMutableRawPointer?
) -> CInt {
    if kind == CURLINFO_DATA_IN { easyHandle(user)?.transfer?.take(wire: count) }
    return 0
}

private func watchLength(
    user: UnsafeMutableRawPointer?, downloadLength: curl_off_t, downloaded: curl_off_t,
    uploadLength: curl_off_t, uploaded: curl_off_t
) -> CInt {
    let goesOn = easyHandle(user)?.transfer?.mayGoOn(coded: Int64(downloaded)) ?? false
    return goesOn ? 0 : 1
}
