import DarkroomCore

/// Reads the heads of one request's answer, line by line as libcurl gives them: any number of preliminary
/// ones (1xx), the final one, and what comes behind the body.
struct HeadReader {
    enum Progress: Sendable, Equatable {
        /// The final head is not yet whole, or was before this line.
        case more
        /// This line has ended the final head.
        case whole
        /// All lines together are longer than the limit.
        case tooLarge
        /// What should be a status line is none.
        case noStatus
    }

    /// The latest head, as far as it has been read.
    private(set) var head: ResponseHead?
    private(set) var isWhole = false
    /// The promised length of the body on the wire. One beside chunks means nothing (RFC 9112, 6.3).
    var length: Int64? { isChunked ? nil : head?.contentLength }
    /// Where a redirect leads to, as the server wrote it; nil also for several that differ, and for what is
    /// no text.
    var location: ByteString? { isLocationValid ? foundLocation : nil }
    /// Whether a place where a redirect leads to was left out because it has more bytes than a URL may have.
    private(set) var isLocationTooLong = false

    /// Whether the body is in a coding of the connection's other than chunks, which nobody asked for (TE) and
    /// libcurl would undo, several layers deep if need be.
    private(set) var isTransferCoded = false
    private var isChunked = false
    private var foundLocation: ByteString?
    private var isLocationValid = true
    private var bytes = 0

    /// Takes in one line with its end; an empty one ends a head.
    mutating func take(_ line: UnsafeRawBufferPointer, limit: Int) -> Progress {
        bytes += line.count
        guard bytes <= limit else { return .tooLarge }
        // Fields behind a body (trailers) say nothing that matters here.
        if isWhole { return .more }
        if line.starts(with: "HTTP/".utf8) {
            head = ResponseHead(statusLine: line)
            (foundLocation, isLocationValid, isLocationTooLong) = (nil, true, false)
            (isChunked, isTransferCoded) = (false, false)
            return head == nil ? .noStatus : .more
        }
        guard let status = head?.status else { return .noStatus }
        if line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) {
            // What comes behind a change of protocols is in the new one, so no other head does.
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
            let name = value.map(HTTPField.asciiLowercased)
            isTransferCoded = isTransferCoded || isChunked || !name.elementsEqual("chunked".utf8)
            isChunked = true
        } else {
            head?.take(line: line)
        }
        return .more
    }

    private mutating func take(location value: ArraySlice<UInt8>) {
        guard value.count <= RemoteURL.maximumBytes else {
            isLocationValid = false
            isLocationTooLong = true
            return
        }
        guard !value.isEmpty, !value.contains(0),
            let text = ByteString(validating: value),
            foundLocation == nil || foundLocation == text
        else {
            isLocationValid = false
            return
        }
        foundLocation = text
    }

    /// The value of a field if the line is one of that name.
    private static func value(
        of name: StaticString, in line: UnsafeRawBufferPointer
    ) -> ArraySlice<UInt8>? {
        let count = name.utf8CodeUnitCount
        guard line.count > count, line[count] == UInt8(ascii: ":") else { return nil }
        let letters = UnsafeBufferPointer(start: name.utf8Start, count: count)
        guard zip(line, letters).allSatisfy({ HTTPField.asciiLowercased($0) == $1 }) else {
            return nil
        }
        let rest = line[(count + 1)...].filter { $0 != 0x0D && $0 != 0x0A }
        return HTTPField.trimmed(rest[...])
    }
}
