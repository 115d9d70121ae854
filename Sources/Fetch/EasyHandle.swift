import CDarkroomCurl
import DarkroomCore
import Glibc
import SystemPackage

/// A libcurl easy handle with the transfer that it runs. It is used for one request after another.
///
/// Used only on the engine's thread: its callbacks run there, within calls of the multi handle.
final class EasyHandle {
    let curl: UnsafeMutableRawPointer
    /// nil between transfers.
    private(set) var transfer: Transfer?
    /// The pool in which it runs.
    weak var pool: MultiHandle?
    private let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    /// The custom header fields of the request. libcurl keeps pointers to them.
    private var fields: UnsafeMutablePointer<curl_slist>?
    private var overrides: UnsafeMutablePointer<curl_slist>?

    /// nil if there is no memory.
    init?() {
        guard let curl = curl_easy_init() else { return nil }
        self.curl = curl
    }

    deinit {
        curl_easy_cleanup(curl)
        curl_slist_free_all(fields)
        curl_slist_free_all(overrides)
        errorBuffer.deallocate()
    }

    /// The handle that a message of libcurl names. It must have been set up by `begin`.
    static func of(_ curl: UnsafeMutableRawPointer) -> EasyHandle? {
        darkroom_curl_get_private(curl).map {
            Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Sets up the handle for the transfer's current request. Throws libcurl's error if it refuses an option.
    func begin(_ transfer: Transfer) throws(FetchError) {
        self.transfer = transfer
        // Keeps connections, sessions and names, because they belong to the multi handle.
        curl_easy_reset(curl)
        errorBuffer[0] = 0
        let settings = transfer.settings
        let options = EasyOptions(curl: curl, shown: transfer.hop.shown)
        let user = Unmanaged.passUnretained(self).toOpaque()
        try options.set(CURLOPT_PRIVATE, pointer: user)
        try options.set(CURLOPT_ERRORBUFFER, pointer: errorBuffer)
        try options.setRequest(transfer.hop, userAgent: settings.userAgent)
        try options.setConnection(settings, firstBytes: transfer.request.firstBytes)
        try options.setLimits(settings.limits, timeLeft: transfer.timeLeft)
        try set(transfer.requestFields().map(Self.line), in: &fields, CURLOPT_HTTPHEADER, options)
        try set(settings.resolve, in: &overrides, CURLOPT_RESOLVE, options)
        try options.setCallbacks(user)
    }

    /// Removes the transfer from the handle, which can then be used again.
    func end() -> Transfer? {
        defer { transfer = nil }
        return transfer
    }

    /// libcurl's error text; empty if there is none.
    var errorText: String { String(cString: errorBuffer) }

    private func set(
        _ lines: [String], in list: inout UnsafeMutablePointer<curl_slist>?, _ option: CURLoption,
        _ options: EasyOptions
    ) throws(FetchError) {
        curl_slist_free_all(list)
        list = nil
        if lines.isEmpty { return }
        for line in lines {
            guard let longer = curl_slist_append(list, line) else {
                throw FetchError(.transferFailed, "\(options.shown): out of memory", fault: .scarce)
            }
            list = longer
        }
        try options.set(option, list: list)
    }

    /// In the form of CURLOPT_HTTPHEADER, in which a name without a value has another meaning.
    private static func line(_ field: (name: String, value: String)) -> String {
        field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
    }

    fileprivate func take(line: UnsafeRawBufferPointer) -> Bool {
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
}

extension EasyOptions {
    /// `user` is the `EasyHandle`, which outlives its transfer.
    fileprivate func setCallbacks(_ user: UnsafeMutableRawPointer) throws(FetchError) {
        try check(
            darkroom_curl_set_open_socket(curl, openSocket, user), CURLOPT_OPENSOCKETFUNCTION)
        try check(darkroom_curl_set_header(curl, receiveLine, user), CURLOPT_HEADERFUNCTION)
        try check(darkroom_curl_set_write(curl, receive, user), CURLOPT_WRITEFUNCTION)
        try check(darkroom_curl_set_debug(curl, watchWire, user), CURLOPT_DEBUGFUNCTION)
        try check(darkroom_curl_set_progress(curl, watchLength, user), CURLOPT_XFERINFOFUNCTION)
    }
}

private func easyHandle(_ user: UnsafeMutableRawPointer?) -> EasyHandle? {
    user.map { Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue() }
}

/// libcurl's write callback.
private func receive(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, user: UnsafeMutableRawPointer?
) -> Int {
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
    let goesOn = easyHandle(user)?.transfer?.take(piece) ?? false
    return goesOn ? piece.count : Int(CURL_WRITEFUNC_ERROR)
}

/// libcurl's header callback: one line at a time, including its end.
private func receiveLine(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, user: UnsafeMutableRawPointer?
) -> Int {
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    let goesOn = easyHandle(user)?.take(line: line) ?? false
    return goesOn ? line.count : Int(CURL_WRITEFUNC_ERROR)
}

/// libcurl's debug callback. It also receives the sent data, including credentials, and keeps none of it.
private func watchWire(
    curl: UnsafeMutableRawPointer?, kind: curl_infotype, bytes: UnsafeMutablePointer<CChar>?,
    count: Int, user: UnsafeMutableRawPointer?
) -> CInt {
    if kind == CURLINFO_DATA_IN { easyHandle(user)?.transfer?.take(wire: count) }
    return 0
}

/// libcurl's progress callback.
private func watchLength(
    user: UnsafeMutableRawPointer?, downloadLength: curl_off_t, downloaded: curl_off_t,
    uploadLength: curl_off_t, uploaded: curl_off_t
) -> CInt {
    let goesOn = easyHandle(user)?.transfer?.mayGoOn(coded: Int64(downloaded)) ?? false
    return goesOn ? 0 : 1
}

/// libcurl's open-socket callback: it is called for each connection, with the resolved address. The socket is closed on
/// exec.
private func openSocket(
    user: UnsafeMutableRawPointer?, purpose: curlsocktype,
    address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let address, let transfer = easyHandle(user)?.transfer else { return CURL_SOCKET_BAD }
    let socket = transfer.openSocket(SocketAddress(address))
    if socket < 0, let handle = easyHandle(user) { handle.pool?.noteRefusal(of: handle) }
    return socket
}
