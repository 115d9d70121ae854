import CDarkroomCurl
import DarkroomCore
import DarkroomPicture
import Glibc
import SystemPackage

/// A running transfer: its requests in sequence, and the body as it arrives.
///
/// Used only on the engine's thread. libcurl's callbacks end here; they return whether the transfer continues.
final class Transfer {
    let id: TransferID
    let request: TransferRequest
    /// The settings at the start of the transfer; later changes have no effect.
    let settings: TransferSettings
    let completion: TransferEngine.Completion
    let started = ContinuousClock.now

    /// The current request, and the first one.
    private(set) var hop: Hop
    private let first: Hop
    private(set) var redirects = 0
    private(set) var cookies = ReceivedCookies()
    var connections = 0

    // Of the current request.
    private(set) var reader = HeadReader()
    /// How the body is handled; nil until the header is complete.
    private(set) var plan: BodyPlan?
    /// The number of received bytes of the body, which may be encoded or more than announced.
    private var wireBytes: Int64 = 0
    /// The number of received bytes of a body that is ignored.
    private var pageBytes: Int64 = 0

    private(set) var body = ArrivingBody()
    /// nil for a body without a content coding.
    private(set) var decoder: ContentDecoder?
    /// The part of the body to continue; nil if there is none or if continuing failed.
    private var resume: PartialBody?
    /// The number of first bytes to ask for; nil for the whole body, or if the server has no parts.
    private var askedBytes: Int64?
    /// Whether a callback ended the transfer because all wanted bytes have arrived.
    private(set) var hasEnough = false

    /// Why a callback ended the transfer; libcurl only knows that one did.
    private(set) var failure: FetchError?
    /// Why this machine had no socket for a connection. libcurl reports this as a server that does not answer.
    private(set) var socketFailure: StorageFailure?
    /// The rule that refused an address, if no other address was connected to.
    private(set) var refusal: FetchRules.Refusal?
    private var hasOpenedSocket = false

    /// Throws if the rules or libcurl refuse the URL.
    init(
        _ id: TransferID, _ request: TransferRequest, settings: TransferSettings,
        completion: @escaping TransferEngine.Completion
    ) throws(FetchError) {
        self.id = id
        self.request = request
        self.settings = settings
        self.completion = completion
        hop = try Hop(to: request.url, rules: settings.rules)
        first = hop
        askedBytes = request.firstBytes
        if let partial = request.resume, let found = ArrivingBody(of: partial, in: request.output) {
            resume = partial
            body = found
        }
    }

    /// The requested URL and, after a redirect, the current one.
    var place: String {
        redirects == 0 ? "\(request.url)" : "\(request.url), redirected to \(hop.shown)"
    }

    /// The rest of the time for the whole transfer.
    var timeLeft: Duration { settings.limits.total - (ContinuousClock.now - started) }

    func requestHeaders() -> [(name: String, value: String)] {
        hop.headers(
            of: settings.rules.headers, cookies: &cookies, validators: validators,
            resume: resumeHere, firstBytes: askedBytes)
    }

    /// A validator belongs to one URL: it is not sent to the one before or after a redirect.
    private var validators: Validators? {
        request.target == hop.target && resume == nil ? request.validators : nil
    }

    private var resumeHere: PartialBody? { resume?.target == hop.target ? resume : nil }

    // MARK: From request to request

    /// Makes the next request if the response leads to one. Returns whether it does.
    func advance(after result: CURLcode) throws(FetchError) -> Bool {
        // The end of a body that is ignored does not matter.
        let isAnswered = [
            CURLE_OK, CURLE_WRITE_ERROR, CURLE_PARTIAL_FILE, CURLE_ABORTED_BY_CALLBACK,
            CURLE_BAD_CONTENT_ENCODING,
        ].contains(result)
        guard failure == nil, isAnswered else { return false }
        switch plan {
        case .startOver:
            resume = nil
            askedBytes = nil
            try clearBody()
        case .redirect:
            guard let location = reader.location else { return false }
            guard redirects < settings.limits.redirects else {
                throw error(.tooManyRedirects, "more than \(settings.limits.redirects) redirects")
            }
            takeCookies()
            try follow(location)
        default: return false
        }
        guard timeLeft > .zero else { throw timeout }
        (reader, plan, wireBytes, pageBytes) = (HeadReader(), nil, 0, 0)
        (refusal, hasOpenedSocket, socketFailure, decoder) = (nil, false, nil, nil)
        return true
    }

    private func follow(_ location: ByteString) throws(FetchError) {
        let next: Hop
        do throws(FetchError) {
            next = try Hop(following: location, from: hop, first: first, rules: settings.rules)
        } catch {
            var error = error
            error.message = "\(request.url), redirected: \(error.message)"
            throw error
        }
        hop = next
        redirects += 1
    }

    private func takeCookies() {
        let now = reader.head?.date ?? .now
        for field in reader.cookies {
            cookies.take(field, from: hop.origin, path: hop.url.path, now: now)
        }
    }

    var timeout: FetchError {
        error(
            .timeout,
            "not finished within the limit of \(Units.time(settings.limits.total)), after "
                + Units.bytes(body.bytes))
    }

    // MARK: Callbacks

    func take(line: UnsafeRawBufferPointer) -> Progress {
        switch reader.take(line, limit: settings.limits.maxHeaderBytes) {
        case .more: return .goOn
        case .tooLarge:
            return stop(
                .headerTooLarge,
                "the header of the response is larger than the limit of "
                    + Units.bytes(settings.limits.maxHeaderBytes))
        case .noStatus: return stop(.badResponse, "the response is not HTTP")
        case .whole: return takeHead()
        }
    }

    enum Progress {
        case goOn
        /// The received bytes of the body must be watched from now on.
        case watchBody
        case stop
    }

    private func takeHead() -> Progress {
        guard let head = reader.head else { return .stop }
        // Decoding is done within a callback: with several layers of codings, a few bytes would keep it busy for
        // minutes, and all other transfers would wait.
        if reader.isTransferCoded || head.contentEncoding?.utf8.contains(UInt8(ascii: ",")) == true
        {
            return stop(.badResponse, "the server used content codings that were not requested")
        }
        if reader.isLocationTooLong, BodyPlan.redirects.contains(head.status.code) {
            return stop(
                .badURL,
                "the server redirects to a URL of more than \(RemoteURL.maximumBytes) bytes")
        }
        let plan = BodyPlan(
            for: head, length: reader.length, location: reader.location, resume: resumeHere,
            firstBytes: askedBytes, isConditional: validators != nil,
            limit: settings.limits.bytes)
        self.plan = plan
        switch plan {
        case .refused(let code, let words): return stop(code, words)
        case .whole:
            do throws(FetchError) { try clearBody() } catch {
                failure = error
                return .stop
            }
            return beginDecoding(head.contentEncoding) ? .watchBody : .stop
        case .rest, .redirect, .startOver, .page: return .watchBody
        case .notModified: return .goOn
        }
    }

    func take(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard let plan else {
            return fail(.badResponse, "the body begins before the end of the response header")
        }
        guard plan.isKept else {
            // The page of an error is read to its end, up to a limit, so that the connection can be reused. The status
            // decides the result of the transfer.
            pageBytes += Int64(piece.count)
            return pageBytes <= Self.errorPageLimit
        }
        guard let decoder else { return take(content: piece) }
        switch decoder.decode(piece, receive: take(content:)) {
        case .goesOn: return true
        case .stopped: return false
        case .damaged: return fail(.badResponse, "the body's Content-Encoding is damaged")
        case .continues:
            return fail(.badResponse, "the body continues after the end of its Content-Encoding")
        case .noMemory: return fail(.noMemory(place))
        }
    }

    private func beginDecoding(_ coding: ByteString?) -> Bool {
        guard let coding else { return true }
        decoder = ContentDecoder(coding)
        if decoder == nil { failure = .noMemory(place) }
        return decoder != nil
    }

    private func take(content piece: UnsafeRawBufferPointer) -> Bool {
        let limit = settings.limits.bytes
        guard body.bytes + Int64(piece.count) <= limit else { return failTooLarge() }
        let wanted = request.firstBytes.map { Int($0 - body.bytes) } ?? piece.count
        do throws(Errno) {
            try body.take(
                UnsafeRawBufferPointer(rebasing: piece.prefix(wanted)), output: request.output)
        } catch {
            return fail(writeFailure(error))
        }
        if body.bytes >= InputFormat.prefixLength, let error = failureOfBeginning {
            return fail(error)
        }
        // A body of just this length ends by itself, and its connection can be used again.
        hasEnough =
            piece.count > wanted
            || body.bytes == request.firstBytes && reader.length != body.bytes
        return !hasEnough
    }

    private static let errorPageLimit: Int64 = 64 << 10

    /// Counts the received bytes of a body, before they are decoded.
    func take(wire count: Int) { wireBytes += Int64(count) }

    /// Called from time to time while a body of unknown length, or an encoded one, arrives: it may grow without giving
    /// any decoded bytes.
    ///
    /// - Parameter coded: the number of received bytes, before they are decoded.
    func mayGoOn(coded: Int64) -> Bool {
        // The bytes around chunks may be more than those in them.
        guard plan?.isKept == true else { return wireBytes <= Self.errorPageLimit * 16 }
        // Twice the limit plus 1 MiB; the largest limit cannot be doubled.
        if let most = request.firstBytes, coded > most {
            hasEnough = true
            return false
        }
        let limit = settings.limits.bytes
        if coded <= limit, (wireBytes - (1 << 20)) / 2 <= limit { return true }
        return failTooLarge()
    }

    /// Whether the server has sent more than it announced, as far as this has arrived.
    var isOverlong: Bool {
        guard plan?.isKept == true, let length = reader.length else { return false }
        return wireBytes > length
    }

    /// Opens a socket for an address, if the rules allow the connection.
    func openSocket(_ address: SocketAddress) -> CInt {
        // The administrator has configured the proxy, and it resolves the names, so the daemon cannot check the
        // addresses of names. `Hop` still checks addresses in URLs.
        if settings.proxy?.isEmpty ?? true {
            guard let number = IPAddress(socketAddress: address.bytes) else { return -1 }
            if let refusal = settings.rules.refusal(address: number, host: hop.url.host) {
                self.refusal = refusal
                return -1
            }
        }
        hasOpenedSocket = true
        let number = address.open()
        if number < 0 {
            let error = Errno(rawValue: errno)
            socketFailure = error == .noBufferSpace ? .scarce : error.storageFailure
        }
        return number
    }

    /// The length of the whole body, after decoding; nil if the server has not told it.
    var total: Int64? {
        guard request.firstBytes != nil else { return body.bytes }
        if reader.head?.status.code == 206 { return reader.head?.contentRange?.total }
        guard hasEnough else { return body.bytes }
        return reader.head?.contentEncoding == nil ? reader.length : nil
    }

    /// The rule that prevented this request from connecting to any address.
    var decisiveRefusal: FetchRules.Refusal? { hasOpenedSocket ? nil : refusal }

    /// The part of the body that exists and that another attempt can continue.
    var partial: PartialBody? {
        guard let plan else { return resumeLeft }
        switch plan {
        case .whole:
            guard let head = reader.head else { return nil }
            return PartialBody(
                bytes: body.bytes, crc32: body.crc32, of: head,
                total: reader.length, target: hop.target)
        case .rest:
            guard var partial = resume else { return nil }
            partial.bytes = body.bytes
            partial.crc32 = body.crc32
            partial.total = partial.total ?? reader.head?.contentRange?.total
            return partial
        // A refusal that may pass keeps the existing part.
        case .page, .redirect: return resumeLeft
        case .notModified, .startOver, .refused: return nil
        }
    }

    /// The part that existed before, if nothing has changed it.
    private var resumeLeft: PartialBody? {
        guard let resume, body.bytes == resume.bytes else { return nil }
        return resume
    }

    private func stop(_ code: FetchError.Code, _ words: String) -> Progress {
        _ = fail(code, words)
        return .stop
    }

    private func fail(_ code: FetchError.Code, _ words: String) -> Bool { fail(error(code, words)) }

    func error(_ code: FetchError.Code, _ words: String) -> FetchError {
        FetchError(code, "\(place): \(words)")
    }

    private func fail(_ error: FetchError) -> Bool {
        failure = error
        return false
    }

    private func failTooLarge() -> Bool {
        let limit = Units.bytes(settings.limits.bytes)
        return fail(.tooLarge, "the download is larger than the limit of \(limit)")
    }

    private func clearBody() throws(FetchError) {
        do throws(Errno) {
            try body.clear(request.output)
        } catch {
            throw writeFailure(error)
        }
    }

    private func writeFailure(_ error: Errno) -> FetchError {
        FetchError(
            .writeFailed,
            "\(request.url): the download cannot be written to \(request.output.name): \(error)",
            storageFailure: error.storageFailure)
    }
}

extension Transfer {
    /// The error of a body whose coding has an unknown name, and that does not begin like a picture.
    var failureOfBeginning: FetchError? {
        guard plan?.isKept == true, reader.head?.namesOtherCoding == true,
            !InputFormat(prefix: body.prefix).isPicture
        else { return nil }
        return error(.badResponse, BodyPlan.unrequestedCoding)
    }

    /// The error of a body that libcurl has received as announced.
    var failureOfEnd: FetchError? {
        if let decoder, !decoder.isWhole {
            return error(
                .truncated,
                "the body ends after \(Units.bytes(body.bytes)), before the end of its Content-Encoding"
            )
        }
        return failureOfBeginning
    }
}
