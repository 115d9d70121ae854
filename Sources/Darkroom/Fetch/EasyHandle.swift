import CCurl
import CDeflate
import Glibc
import SystemPackage

/// A libcurl easy handle with the transfer it runs, used again for one transfer after another.
///
/// Belongs to the engine's thread: its callbacks run there, within `curl_multi_perform`.
final class EasyHandle {
    let curl: UnsafeMutableRawPointer
    /// nil between transfers.
    private(set) var transfer: Transfer?
    private let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    /// A transfer as it runs.
    struct Transfer {
        let id: TransferID
        let request: TransferRequest
        let limits: TransferLimits
        let completion: TransferEngine.Completion
        let started = ContinuousClock.now
        var bytes: Int64 = 0
        var prefix: [UInt8] = []
        var crc32: UInt32 = 0
        /// Why a callback ended the transfer; libcurl itself knows only that one did.
        var failure: FetchError?
        /// Why this machine had no socket for a connection, which libcurl reports as a server that does not
        /// answer.
        var socketFault: StorageFault?
    }

    /// nil if there is no memory for it.
    init?() {
        guard let curl = curl_easy_init() else { return nil }
        self.curl = curl
    }

    deinit {
        curl_easy_cleanup(curl)
        errorBuffer.deallocate()
    }

    /// The handle that libcurl names in a message. It must be one that was set up by `begin`.
    static func of(_ curl: UnsafeMutableRawPointer) -> EasyHandle? {
        darkroom_curl_get_private(curl).map {
            Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Sets the handle up for `transfer`. Throws what libcurl says of an option it does not take.
    /// `headers` must outlive the transfer.
    func begin(
        _ transfer: Transfer, settings: TransferSettings,
        headers: UnsafeMutablePointer<curl_slist>?
    ) throws(FetchError) {
        self.transfer = transfer
        // Keeps connections, sessions and names: they belong to the multi handle.
        curl_easy_reset(curl)
        errorBuffer[0] = 0
        let options = EasyOptions(curl: curl, shown: transfer.request.url.shown)
        try options.set(CURLOPT_PRIVATE, pointer: Unmanaged.passUnretained(self).toOpaque())
        try options.set(CURLOPT_ERRORBUFFER, pointer: errorBuffer)
        try options.setProtocols(settings, url: transfer.request.url.text)
        try options.setConnection(settings)
        try options.setLimits(settings.limits)
        try options.set(CURLOPT_HTTPHEADER, list: headers)
        try options.check(
            darkroom_curl_set_open_socket(
                curl, openSocket, Unmanaged.passUnretained(self).toOpaque()),
            CURLOPT_OPENSOCKETFUNCTION)
        try options.check(
            darkroom_curl_set_write(curl, receive, Unmanaged.passUnretained(self).toOpaque()),
            CURLOPT_WRITEFUNCTION)
    }

    /// Takes the transfer off the handle, which then is free for another.
    func end() -> Transfer? {
        defer { transfer = nil }
        return transfer
    }

    /// libcurl's words for what went wrong; empty if it has none.
    var errorText: String { String(cString: errorBuffer) }

    /// Takes in a piece of a body. Returns whether the transfer goes on.
    fileprivate func take(_ piece: UnsafeRawBufferPointer) -> Bool {
        let status = HTTPStatus(darkroom_curl_get_long(curl, CURLINFO_RESPONSE_CODE))
        transfer?.bytes += Int64(piece.count)
        if !status.isWhole {
            // An error's page is read to its end, within reason, so that the connection can be used
            // again; the status decides what becomes of the transfer.
            return (transfer?.bytes ?? 0) <= Self.errorPageLimit
        }
        guard let transfer else { return false }
        let limit = transfer.limits.bytes
        guard transfer.bytes <= limit else {
            return fail(.tooLarge, "is larger than the limit of \(limit) bytes")
        }
        if transfer.prefix.count < TransferReport.prefixLength {
            self.transfer?.prefix += piece.prefix(TransferReport.prefixLength - transfer.prefix.count)
        }
        self.transfer?.crc32 = darkroom_crc32(
            transfer.crc32, piece.baseAddress?.assumingMemoryBound(to: UInt8.self), piece.count)
        do throws(Errno) {
            try Self.writeAll(piece, to: transfer.request.output.descriptor.number)
            return true
        } catch {
            return fail(
                .writeFailed, "cannot be written to \(transfer.request.output.name): \(error)",
                error.storageFault)
        }
    }

    private static let errorPageLimit: Int64 = 64 << 10

    /// Notes why the transfer does not go on.
    private func fail(
        _ kind: FetchError.Code, _ words: String, _ fault: StorageFault? = nil
    ) -> Bool {
        guard let url = transfer?.request.url else { return false }
        transfer?.failure = FetchError(kind, "\(url): the download \(words)", fault: fault)
        return false
    }

    fileprivate func noSocket(_ error: Errno) {
        transfer?.socketFault = error == .noBufferSpace ? .scarce : error.storageFault
    }

    private static func writeAll(
        _ piece: UnsafeRawBufferPointer, to descriptor: CInt
    ) throws(Errno) {
        var rest = piece[...]
        while !rest.isEmpty {
            let buffer = UnsafeRawBufferPointer(rebasing: rest)
            let written = try retryingInterrupts {
                Glibc.write(descriptor, buffer.baseAddress, buffer.count)
            }
            // Never of a file; and never a reason to hold up every other transfer.
            if written == 0 { throw .ioError }
            rest = rest.dropFirst(written)
        }
    }
}

/// libcurl's write callback; `user` is the `EasyHandle`, which outlives its transfer.
private func receive(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, user: UnsafeMutableRawPointer?
) -> Int {
    guard let user else { return Int(CURL_WRITEFUNC_ERROR) }
    let handle = Unmanaged<EasyHandle>.fromOpaque(user).takeUnretainedValue()
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return handle.take(piece) ? piece.count : Int(CURL_WRITEFUNC_ERROR)
}

/// libcurl's open-socket callback: as libcurl opens one, and closed in any program that is executed. `user`
/// is the `EasyHandle`, which outlives its transfer.
///
/// It sees the resolved address of every connection, those of redirects included, before the connect:
/// rules about addresses belong here, and return CURL_SOCKET_BAD for one that is refused.
private func openSocket(
    user: UnsafeMutableRawPointer?, purpose: curlsocktype,
    address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let address = address?.pointee else { return CURL_SOCKET_BAD }
    let number = socket(
        address.family, address.socktype | CInt(SOCK_CLOEXEC.rawValue), address.protocol)
    if number < 0, let user {
        let error = Errno(rawValue: errno)
        Unmanaged<EasyHandle>.fromOpaque(user).takeUnretainedValue().noSocket(error)
    }
    return number
}
