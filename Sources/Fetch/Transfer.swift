import CDarkroomCurl
import DarkroomCore
import Glibc
import SystemPackage

/// A transfer as it runs: its requests one after another, and the body as it arrives.
///
/// Belongs to the engine's thread. libcurl's callbacks end here; they return whether the transfer goes on.
final class Transfer {
    let id: TransferID
    let request: TransferRequest
    /// Those there were when it began; it keeps them.
    let settings: TransferSettings
    let completion: TransferEngine.Completion
    let started = ContinuousClock.now

    /// The request that is being made, and the one that was made first.
    private(set) var hop: Hop
    private let first: Hop
    private(set) var redirects = 0
    /// How many connections were made.
    var connections = 0

    // Of the present hop.
    private(set) var reader = HeadReader()
    /// What becomes of the body; nil until the head is whole.
    private(set) var plan: BodyPlan?
    /// The body's bytes on the wire, which may be coded, or more than were promised.
    private var wireBytes: Int64 = 0
    /// What has been read of a body that nobody wants.
    private var pageBytes: Int64 = 0

    private(set) var body = ArrivingBody()
    /// What is to be continued; nil if nothing is, or that has not worked.
    private var resume: PartialBody?

    /// Why a callback ended the transfer; libcurl itself knows only that one did.
    private(set) var failure: FetchError?
    /// Why this machine had no socket for a connection, which libcurl reports as a server that does not
    /// answer.
    private(set) var socketFault: StorageFault?
    /// Why an address was not connected to, if none was that might have been.
    private(set) var refusal: FetchRules.Refusal?
    private var hasOpenedSocket = false

    /// Throws where the rules or libcurl refuse the URL.
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
        if let partial = request.resume, let found = ArrivingBody(of: partial, in: request.output) {
            resume = partial
            body = found
        }
    }

    /// The URL asked for and, after a redirect, the one that is being asked.
    var place: String {
        redirects == 0 ? "\(request.url)" : "\(request.url), redirected to \(hop.shown)"
    }

    /// What is left of the time for the whole transfer.
    var timeLeft: Duration { settings.limits.total - (ContinuousClock.now - started) }

    /// What the request says beyond libcurl's own fields.
    var fields: [(name: String, value: String)] {
        hop.fields(
            headers: settings.rules.headers, validators: validators, resume: resumeHere)
    }

    /// A validator speaks of one URL: it says nothing to the one before a redirect, nor to that behind it.
    private var validators: Validators? {
        request.target == hop.target && resume == nil ? request.validators : nil
    }

    private var resumeHere: PartialBody? { resume?.target == hop.target ? resume : nil }

    // MARK: From request to request

    /// Goes on to the next request if the answer to this one leads there. Returns whether it does.
    func advance(after result: CURLcode) throws(FetchError) -> Bool {
        // A body nobody wants may end as it likes.
        let isAnswered = [
            CURLE_OK, CURLE_WRITE_ERROR, CURLE_PARTIAL_FILE, CURLE_ABORTED_BY_CALLBACK,
            CURLE_BAD_CONTENT_ENCODING,
        ].contains(result)
        guard failure == nil, isAnswered else { return false }
        switch plan {
        case .startOver:
            resume = nil
            try clearBody()
        case .redirect:
            guard let location = reader.location else { return false }
            guard redirects < settings.limits.redirects else {
                throw FetchError(
                    .tooManyRedirects, "\(place): more than \(settings.limits.redirects) redirects")
            }
            try follow(location)
        default: return false
        }
        guard timeLeft > .zero else { throw timeout }
        (reader, plan, wireBytes, pageBytes) = (HeadReader(), nil, 0, 0)
        (refusal, hasOpenedSocket, socketFault) = (nil, false, nil)
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

    /// What the end of all time is called.
    var timeout: FetchError {
        FetchError(
            .timeout,
            "\(place): not finished within the limit of \(Units.time(settings.limits.total)), after "
                + Units.bytes(body.bytes))
    }

    // MARK: Callbacks

    /// Takes in a line of a head.
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
        /// The body is to be watched on the wire from here on.
        case watchBody
        case stop
    }

    private func takeHead() -> Progress {
        guard let head = reader.head else { return .stop }
        // libcurl undoes codings within a callback of its own: of some layers of them, a few bytes keep it, and
        // with it every other transfer, busy for minutes.
        if reader.isTransferCoded || head.contentEncoding?.utf8.contains(UInt8(ascii: ",")) == true
        {
            return stop(
                .badResponse, "the server used content codings that were not requested")
        }
        if reader.isLocationTooLong, BodyPlan.redirects.contains(head.status.code) {
            return stop(
                .badURL,
                "the server redirects to a URL of more than \(RemoteURL.maximumBytes) bytes")
        }
        let plan = BodyPlan(
            for: head, length: reader.length, location: reader.location, resume: resumeHere,
            isConditional: validators != nil, limit: settings.limits.bytes)
        self.plan = plan
        switch plan {
        case .refused(let code, let words): return stop(code, words)
        case .whole:
            do throws(FetchError) { try clearBody() } catch {
                failure = error
                return .stop
            }
            return .watchBody
        case .rest: return .watchBody
        case .redirect, .startOver, .page: return .watchBody
        case .notModified: return .goOn
        }
    }

    /// Takes in a piece of a body.
    func take(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard let plan else {
            failure = FetchError(
                .badResponse, "\(place): the body begins before the end of the response header")
            return false
        }
        guard plan.isKept else {
            // An error's page is read to its end, within reason, so that the connection can be used
            // again; the status decides what becomes of the transfer.
            pageBytes += Int64(piece.count)
            return pageBytes <= Self.errorPageLimit
        }
        let limit = settings.limits.bytes
        guard body.bytes + Int64(piece.count) <= limit else { return failTooLarge() }
        do throws(Errno) {
            try body.take(piece, output: request.output)
            return true
        } catch {
            failure = writeFailure(error)
            return false
        }
    }

    private static let errorPageLimit: Int64 = 64 << 10

    /// Counts what came over the wire of a body, before a coding is undone.
    func take(wire count: Int) {
        wireBytes += Int64(count)
    }

    /// Called now and then while a body arrives whose length is not known or that is coded: it may grow without a
    /// byte coming out of it.
    ///
    /// - Parameter coded: its bytes before their coding is undone.
    func mayGoOn(coded: Int64) -> Bool {
        // What stands around chunks may be more than what is in them.
        guard plan?.isKept == true else { return wireBytes <= Self.errorPageLimit * 16 }
        // Twice the limit and 1 MiB; of the largest limit there is no double.
        let limit = settings.limits.bytes
        if coded <= limit, (wireBytes - (1 << 20)) / 2 <= limit { return true }
        return failTooLarge()
    }

    /// Whether the server has sent more than it promised, as far as that has arrived.
    var isOverlong: Bool {
        guard plan?.isKept == true, let length = reader.length else { return false }
        return wireBytes > length
    }

    /// Opens a socket for an address, if the rules let it be connected to.
    func openSocket(_ address: SocketAddress) -> CInt {
        // A proxy is whom the administrator has named, and it resolves the names: what they resolve to is
        // its own affair. Addresses in URLs are judged all the same, by `Hop`.
        if settings.proxy?.isEmpty ?? true {
            guard let number = IPAddress(socketAddress: address.bytes) else { return -1 }
            if let refusal = settings.rules.refusal(address: number, host: hop.url.host) {
                self.refusal = refusal
                return -1
            }
        }
        hasOpenedSocket = true
        let number = socket(
            address.family, address.kind | CInt(SOCK_CLOEXEC.rawValue), address.transport)
        if number < 0 {
            let error = Errno(rawValue: errno)
            socketFault = error == .noBufferSpace ? .scarce : error.storageFault
        }
        return number
    }

    /// The rule that has kept this hop from connecting to any address at all.
    var decisiveRefusal: FetchRules.Refusal? { hasOpenedSocket ? nil : refusal }

    /// What of the body is there and can be continued by another attempt.
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
        // A refusal that passes leaves what there was.
        case .page, .redirect: return resumeLeft
        case .notModified, .startOver, .refused: return nil
        }
    }

    /// What was there before, where nothing has changed it.
    private var resumeLeft: PartialBody? {
        guard let resume, body.bytes == resume.bytes else { return nil }
        return resume
    }

    /// Notes why the transfer does not go on.
    private func stop(_ code: FetchError.Code, _ words: String) -> Progress {
        failure = FetchError(code, "\(place): \(words)")
        return .stop
    }

    private func failTooLarge() -> Bool {
        failure = FetchError(
            .tooLarge,
            "\(place): the download is larger than the limit of "
                + Units.bytes(settings.limits.bytes))
        return false
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
            fault: error.storageFault)
    }
}

/// What a socket is to be opened for.
struct SocketAddress {
    var family: CInt
    var kind: CInt
    var transport: CInt
    /// A sockaddr of its own length.
    var bytes: UnsafeRawBufferPointer

    /// As libcurl gives it: the sockaddr is longer than the last member that names it.
    init(_ address: UnsafeMutablePointer<curl_sockaddr>) {
        family = address.pointee.family
        kind = address.pointee.socktype
        transport = address.pointee.protocol
        let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0
        bytes = UnsafeRawBufferPointer(
            start: UnsafeRawPointer(address) + offset, count: Int(address.pointee.addrlen))
    }
}
