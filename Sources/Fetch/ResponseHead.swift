import DarkroomCore

/// The status of a response and its relevant header fields (RFC 9110, 9111).
///
/// Nothing from the server is trusted: each property is valid and short, or absent. If a field that may occur once
/// occurs several times, it counts only if all values are equal.
package struct ResponseHead: Sendable, Equatable {
    package var status: HTTPStatus
    /// The announced length of the body; nil if there is none or if it is invalid.
    package var contentLength: Int64?
    /// Whether the length was a number or missing. Several different lengths are an attack or an error.
    package var isLengthValid = true
    package var contentRange: ContentRange?
    /// As the server sent it, including parameters. It must not be shown without a check.
    package var contentType: ByteString?
    /// The compressions of the body in their order, in lower case, joined by commas; nil if there is none.
    package var contentEncoding: ByteString?
    /// Whether the server names a coding that is no compression (`ContentCoding`), such as `aws-chunked`.
    package var namesOtherCoding = false
    package var acceptsRanges = false
    package var entityTag: EntityTag?
    /// As the server sent it, if it is a date: it is sent back in this form.
    package var lastModified: ByteString?
    package var date: HTTPDate?
    /// An invalid date is in the past (RFC 9111, 5.3): `Expires: 0`.
    package var expires: HTTPDate?
    /// The seconds since the origin server answered, according to the caches in between.
    package var age: Int?
    package var cacheControl = CacheControl()
    /// Names of request fields in lower case, each once, or `*`.
    package var vary: [ByteString] = []
    package var retryAfter: RetryAfter?

    /// The single-valued fields that contradict themselves, or that a folded line continues.
    private var distrusted: Set<Field> = []
    private var lastField: Field?

    package init(status: HTTPStatus) { self.status = status }

    /// Reads `HTTP/1.1 200 OK` or, as libcurl writes it for HTTP/2, `HTTP/2 200`; nil for anything else.
    package init?(statusLine: some Collection<UInt8>) {
        let words = HTTPField.trimmed(Self.withoutLineEnd(statusLine))
            .split(separator: 0x20, maxSplits: 2)
        guard words.count >= 2, words[0].count <= 8, words[0].starts(with: "HTTP/".utf8),
            words[1].count == 3, let code = HTTPField.number(words[1]), (100...999).contains(code)
        else { return nil }
        let version = words[0].dropFirst(5)
        guard let major = version.first, major.isDigit,
            version.count == 1
                || version.count == 3 && version[version.startIndex + 1] == UInt8(ascii: ".")
                    && HTTPField.isDigits(version.suffix(1))
        else { return nil }
        self.init(status: HTTPStatus(Int(code)))
    }

    /// Reads one line of the header, with or without its line end. A line that is not a field is ignored.
    package mutating func take(line: some Collection<UInt8>) {
        let bytes = Self.withoutLineEnd(line)
        if let first = bytes.first, HTTPField.isBlank(first) {
            // A line that continues the previous one (RFC 9112, 5.2). No server needs this.
            if let lastField { distrust(lastField) }
            return
        }
        lastField = nil
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[..<colon].count <= 32,
            let name = HTTPField.token(bytes[..<colon]), let field = Field(rawValue: name.string)
        else { return }
        lastField = field
        // A server that sends other control characters in a value is not trusted.
        let value = HTTPField.trimmed(bytes[(colon + 1)...])
        guard value.allSatisfy(HTTPField.isText) else { return distrust(field) }
        take(field, value)
    }

    private enum Field: String {
        case acceptRanges = "accept-ranges"
        case age
        case cacheControl = "cache-control"
        case contentEncoding = "content-encoding"
        case contentLength = "content-length"
        case contentRange = "content-range"
        case contentType = "content-type"
        case date
        case entityTag = "etag"
        case expires
        case lastModified = "last-modified"
        case retryAfter = "retry-after"
        case vary
    }

    private mutating func take(_ field: Field, _ value: ArraySlice<UInt8>) {
        switch field {
        case .cacheControl: cacheControl.take(value)
        case .contentEncoding: takeEncodings(value)
        case .contentLength: takeLength(value)
        case .vary: takeVary(value)
        case .acceptRanges:
            let names = HTTPField.elements(value).map(HTTPField.token)
            acceptsRanges =
                !distrusted.contains(field) && (acceptsRanges || names.contains("bytes"))
        case .age: takeOnce(field, \.age, HTTPField.seconds(value))
        case .contentRange: takeOnce(field, \.contentRange, ContentRange(value))
        case .contentType: takeOnce(field, \.contentType, HTTPField.text(value, limit: 256))
        case .date: takeOnce(field, \.date, HTTPDate(value))
        case .entityTag: takeOnce(field, \.entityTag, EntityTag(value))
        case .expires: takeOnce(field, \.expires, HTTPDate(value) ?? Self.past)
        case .lastModified:
            let text = HTTPDate(value).flatMap { _ in HTTPField.text(value, limit: 64) }
            takeOnce(field, \.lastModified, text)
        case .retryAfter: takeOnce(field, \.retryAfter, RetryAfter(value))
        }
    }

    private mutating func takeOnce<Value: Equatable>(
        _ field: Field, _ path: WritableKeyPath<ResponseHead, Value?>, _ value: Value?
    ) {
        guard let value, !distrusted.contains(field) else { return }
        if self[keyPath: path] == nil {
            self[keyPath: path] = value
        } else if self[keyPath: path] != value {
            distrust(field)
        }
    }

    /// Discards the values of the field, including later ones.
    private mutating func distrust(_ field: Field) {
        distrusted.insert(field)
        switch field {
        case .acceptRanges: acceptsRanges = false
        case .age: age = nil
        case .cacheControl: cacheControl.noStore = true
        case .contentEncoding: contentEncoding = Self.unknownCoding
        case .contentLength:
            contentLength = nil
            isLengthValid = false
        case .contentRange: contentRange = nil
        case .contentType: contentType = nil
        case .date: date = nil
        case .entityTag: entityTag = nil
        case .expires: expires = Self.past
        case .lastModified: lastModified = nil
        case .retryAfter: retryAfter = nil
        case .vary: vary = ["*"]
        }
    }

    /// One number, or the same number several times (RFC 9110, 8.6).
    private mutating func takeLength(_ value: ArraySlice<UInt8>) {
        guard !distrusted.contains(.contentLength) else { return }
        let numbers = value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { HTTPField.number(HTTPField.trimmed($0)) }
        for number in numbers {
            guard let number, contentLength == nil || contentLength == number else {
                return distrust(.contentLength)
            }
            contentLength = number
        }
    }

    private mutating func takeEncodings(_ value: ArraySlice<UInt8>) {
        for element in HTTPField.elements(value) {
            let name = HTTPField.token(element)
            if name == "identity" { continue }
            guard let coding = name, ContentCoding.compressions.contains(coding) else {
                namesOtherCoding = true
                continue
            }
            let all: ByteString = contentEncoding.map { "\($0), \(coding)" } ?? coding
            contentEncoding = all.utf8.count <= 64 ? all : Self.unknownCoding
        }
    }

    private mutating func takeVary(_ value: ArraySlice<UInt8>) {
        for element in HTTPField.elements(value) where vary != ["*"] {
            let name = HTTPField.token(element) ?? "*"
            if vary.contains(name) { continue }
            // A response that depends on so many fields cannot be used for another request.
            vary = name == "*" || vary.count == 32 ? ["*"] : vary + [name]
        }
    }

    /// The pause that the server asks for, in seconds, not more than 68 years; nil if it asks for none.
    ///
    /// A date counts from the server's own time, because clocks differ: from its `Date`, and the age of the response if
    /// a cache has kept it. Without them it counts from `now`.
    package func retryDelay(now: HTTPDate = .now) -> Double? {
        retryAfter?.delay(since: date.map { $0.advanced(by: age ?? 0) } ?? now)
    }

    private static let past = HTTPDate(secondsSince1970: 0)
    /// No coding has this name.
    private static let unknownCoding: ByteString = "?"

    private static func withoutLineEnd(_ line: some Collection<UInt8>) -> ArraySlice<UInt8> {
        var bytes = Array(line)[...]
        if bytes.last == 0x0A { bytes.removeLast() }
        if bytes.last == 0x0D { bytes.removeLast() }
        return bytes
    }
}
