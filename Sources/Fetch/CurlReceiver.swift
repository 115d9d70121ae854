import CDarkroomCurl
import DarkroomCore

/// A libcurl easy handle, and what its callbacks call. They run within the calls of its multi handle, on the same thread.
package class CurlReceiver {
    let curl: UnsafeMutableRawPointer
    private let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    /// The header fields of the request, and the addresses of names. libcurl keeps pointers to them.
    private var fields: UnsafeMutablePointer<curl_slist>?
    private var overrides: UnsafeMutablePointer<curl_slist>?

    init(_ curl: UnsafeMutableRawPointer) { self.curl = curl }

    deinit {
        darkroom_curl_easy_cleanup(curl)
        darkroom_curl_slist_free_all(fields)
        darkroom_curl_slist_free_all(overrides)
        errorBuffer.deallocate()
    }

    /// Sets the options of all requests. Throws libcurl's error if it refuses one.
    ///
    /// - Parameter firstBytes: the number of first bytes that are wanted; nil for the whole body.
    func prepare(
        _ hop: Hop, _ fields: [(name: String, value: String)], _ settings: TransferSettings,
        firstBytes: Int64? = nil, timeLeft: Duration
    ) throws(FetchError) -> EasyOptions {
        errorBuffer[0] = 0
        let options = EasyOptions(curl: curl, shown: hop.shown)
        try options.set(CURLOPT_ERRORBUFFER, pointer: errorBuffer)
        try options.setRequest(hop, userAgent: settings.userAgent)
        try options.setConnection(settings, firstBytes: firstBytes)
        try options.setLimits(settings.limits, timeLeft: timeLeft)
        try set(fields.map(Self.line), in: &self.fields, CURLOPT_HTTPHEADER, options)
        try set(settings.resolve, in: &overrides, CURLOPT_RESOLVE, options)
        try options.setCallbacks(self)
        return options
    }

    private func set(
        _ lines: [String], in list: inout UnsafeMutablePointer<curl_slist>?, _ option: CURLoption,
        _ options: EasyOptions
    ) throws(FetchError) {
        darkroom_curl_slist_free_all(list)
        list = nil
        if lines.isEmpty { return }
        for line in lines {
            guard let longer = darkroom_curl_slist_append(list, line) else {
                throw .noMemory(options.shown)
            }
            list = longer
        }
        try options.set(option, list: list)
    }

    /// In the form of CURLOPT_HTTPHEADER, in which a name without a value has another meaning.
    private static func line(_ field: (name: String, value: String)) -> String {
        field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
    }

    /// libcurl's text on what has happened; empty if there is none.
    var errorText: String { String(cString: errorBuffer) }

    /// The same or, without it, the general text of a result.
    func words(_ result: CURLcode) -> String {
        errorText.isEmpty ? String(cString: darkroom_curl_easy_strerror(result)) : errorText
    }

    // MARK: Callbacks

    /// Takes a line of a header, including its end. Returns whether the request continues.
    func take(line: UnsafeRawBufferPointer) -> Bool { false }

    /// Takes a piece of a body. Returns whether the request continues.
    func take(body piece: UnsafeRawBufferPointer) -> Bool { false }

    /// Opens a socket for a resolved address, for a connection. On failure it returns -1.
    func openSocket(_ address: SocketAddress) -> CInt { CURL_SOCKET_BAD }
}

extension EasyOptions {
    /// - Parameter receiver: it outlives its request.
    fileprivate func setCallbacks(_ receiver: CurlReceiver) throws(FetchError) {
        let user = Unmanaged.passUnretained(receiver).toOpaque()
        try check(darkroom_curl_set_open_socket(curl, openSocket, user), CURLOPT_OPENSOCKETFUNCTION)
        try check(darkroom_curl_set_header(curl, receiveLine, user), CURLOPT_HEADERFUNCTION)
        try check(darkroom_curl_set_write(curl, receive, user), CURLOPT_WRITEFUNCTION)
    }
}

/// The object that a callback of libcurl gets as its `user`.
func object<Object: AnyObject>(_ user: UnsafeMutableRawPointer?) -> Object? {
    user.map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
}

private func receiver(_ user: UnsafeMutableRawPointer?) -> CurlReceiver? { object(user) }

private func receive(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, user: UnsafeMutableRawPointer?
) -> Int {
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
    let goesOn = receiver(user)?.take(body: piece) ?? false
    return goesOn ? piece.count : Int(CURL_WRITEFUNC_ERROR)
}

/// libcurl's header callback: one line at a time, including its end.
private func receiveLine(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, user: UnsafeMutableRawPointer?
) -> Int {
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    let goesOn = receiver(user)?.take(line: line) ?? false
    return goesOn ? line.count : Int(CURL_WRITEFUNC_ERROR)
}

/// libcurl's open-socket callback. The socket is closed on exec.
private func openSocket(
    user: UnsafeMutableRawPointer?, purpose: curlsocktype,
    address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let address, let receiver = receiver(user) else { return CURL_SOCKET_BAD }
    return receiver.openSocket(SocketAddress(address))
}
