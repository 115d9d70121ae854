import DarkroomCore

/// Reads the headers of the response to one request, line by line as libcurl passes them: any number of preliminary
/// headers (1xx), the final one, and the fields after the body.
struct HeadReader {
    enum Progress: Sendable, Equatable {
        /// The final header is not complete yet, or was complete before this line.
        case more
        case whole
        case tooLarge
        case noStatus
    }

    /// The latest header, as far as it has been read.
    private(set) var head: ResponseHead?
    private(set) var isWhole = false
    /// The announced length of the body. With chunks, a length has no meaning (RFC 9112, 6.3).
    var length: Int64? { isChunked ? nil : head?.contentLength }
    /// The target of a redirect (`RedirectTarget`); nil if there are several different ones, or if it has no valid form.
    var location: ByteString? { isLocationValid ? foundLocation : nil }
    /// Whether the target of a redirect was ignored because it is longer than a URL may be.
    private(set) var isLocationTooLong = false

    /// Whether the body has a transfer coding other than chunks, which was not requested (TE). libcurl would decode it,
    /// even in several layers.
    private(set) var isTransferCoded = false
    private var isChunked = false
    private var foundLocation: ByteString?
    private var isLocationValid = true
    /// The cookies that a redirect sets (Set-Cookie), at most as many as are kept.
    private(set) var cookies: [ArraySlice<UInt8>] = []
    private var bytes = 0

    /// Reads one line including its end; an empty line ends a header.
    mutating func take(_ line: UnsafeRawBufferPointer, limit: Int) -> Progress {
        bytes += line.count
        guard bytes <= limit else { return .tooLarge }
        // The fields after a body (trailers) are not needed.
        if isWhole { return .more }
        if line.starts(with: "HTTP/".utf8) {
            head = ResponseHead(statusLine: line)
            (foundLocation, isLocationValid, isLocationTooLong) = (nil, true, false)
            (isChunked, isTransferCoded, cookies) = (false, false, [])
            return head == nil ? .noStatus : .more
        }
        guard let status = head?.status else { return .noStatus }
        if line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) {
            // After a change of protocols there is no other HTTP header.
            if status.code < 200, !status.isChangeOfProtocols {
                head = nil
                return .more
            }
            isWhole = true
            return .whole
        }
        if let value = Self.value(of: "location", in: line) {
            take(location: value)
        } else if let value = Self.value(of: "transfer-encoding", in: line) {
            let name = value.map(\.asciiLowercased)
            isTransferCoded = isTransferCoded || isChunked || !name.elementsEqual("chunked".utf8)
            isChunked = true
        } else if BodyPlan.redirects.contains(status.code),
            let value = Self.value(of: "set-cookie", in: line)
        {
            if cookies.count < ReceivedCookies.maximumCount { cookies.append(value) }
        } else {
            head?.take(line: line)
        }
        return .more
    }

    private mutating func take(location value: ArraySlice<UInt8>) {
        if value.count > RemoteURL.maximumBytes { isLocationTooLong = true }
        guard !value.isEmpty, !isLocationTooLong, let text = RedirectTarget.text(value),
            foundLocation == nil || foundLocation == text
        else {
            isLocationValid = false
            return
        }
        foundLocation = text
    }

    /// The value of a field, if the line has this name.
    private static func value(
        of name: StaticString, in line: UnsafeRawBufferPointer
    ) -> ArraySlice<UInt8>? {
        let count = name.utf8CodeUnitCount
        guard line.count > count, line[count] == UInt8(ascii: ":") else { return nil }
        let letters = UnsafeBufferPointer(start: name.utf8Start, count: count)
        guard zip(line, letters).allSatisfy({ $0.asciiLowercased == $1 }) else { return nil }
        let rest = line[(count + 1)...].filter { $0 != 0x0D && $0 != 0x0A }
        return HTTPField.trimmed(rest[...])
    }
}
