import DarkroomCore

/// A response's status and those of its header fields that matter here (RFC 9110, 9111).
///
/// Nothing in it is trusted: whatever a server sends, each property is of its form or absent, and short.
/// A field that may come once and comes several times counts if all say the same; else none does.
package struct ResponseHead: Sendable, Equatable {
    package var status: HTTPStatus
    /// The body's length as promised; nil for none, or an invalid one.
    package var contentLength: Int64?
    /// Whether the length was a number, or there was none: several that differ are a forgery or a mistake.
    package var isLengthValid = true
    package var contentRange: ContentRange?
    /// As it was sent, parameters and all.
    package var contentType: ByteString?
    /// The codings in their order, in small letters, joined by commas; nil for none but `identity`.
    package var contentEncoding: ByteString?
    package var acceptsRanges = false
    package var entityTag: EntityTag?
    /// As it was sent, if it is a date: that is how it is sent back.
    package var lastModified: ByteString?
    package var date: HTTPDate?
    /// One that is no date has passed (RFC 9111, 5.3): `Expires: 0`.
    package var expires: HTTPDate?
    /// Seconds since the origin server answered, by the caches in between.
    package var age: Int?
    package var cacheControl = CacheControl()
    /// Names of request fields in small letters, each once, or `*`.
    package var vary: [ByteString] = []
    package var retryAfter: RetryAfter?

    /// The single-valued fields that came in contradiction, or that a folded line went on with.
    private var distrusted: Set<Field> = []
    /// The field that a folded line would belong to.
    private var lastField: Field?

    package init(status: HTTPStatus) {
        self.status = status
    }

    /// From `HTTP/1.1 200 OK` or, as libcurl writes those of HTTP/2, `HTTP/2 200`; nil for anything else.
    package init?(statusLine: some Collection<UInt8>) {
        let words = HTTPField.trimmed(Self.withoutLineEnd(statusLine))
            .split(separator: 0x20, maxSplits: 2)
        guard words.count >= 2, words[0].count <= 8, words[0].starts(with: "HTTP/".utf8),
            words[1].count == 3, let code = HTTPField.number(words[1]), (100...999).contains(code)
        else { return nil }
        let version = words[0].dropFirst(5)
        guard let major = version.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(major),
            version.count == 1
                || version.count == 3 && version[version.startIndex + 1] == UInt8(ascii: ".")
                    && HTTPField.isDigits(version.suffix(1))
        else { return nil }
        self.init(status: HTTPStatus(Int(code)))
    }

    /// Takes in one line of the header, with or without its line end. What is no field is left out.
    package mutating func take(line: some Collection<UInt8>) {
        let bytes = Self.withoutLineEnd(line)
        if let first = bytes.first, HTTPField.isBlank(first) {
            // A line that goes on with the one before (RFC 9112, 5.2), which no server has a reason for.
            if let lastField { distrust(lastField) }
            return
        }
        lastField = nil
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[..<colon].count <= 32,
            let name = HTTPField.token(bytes[..<colon]), let field = Field(rawValue: name.string)
        else { return }
        lastField = field
        // A server that sends other control characters in a value means no good.
        let value = HTTPField.trimmed(bytes[(colon + 1)...])
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            return distrust(field)
        }
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

    /// Forgets what the field has said, and what it is going to say.
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

    /// One number, or the same one several times (RFC 9110, 8.6).
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
            let coding = HTTPField.token(element) ?? Self.unknownCoding
            if coding == "identity" { continue }
            let all: ByteString = contentEncoding.map { "\($0), \(coding)" } ?? coding
            contentEncoding = all.utf8.count <= 64 ? all : Self.unknownCoding
        }
    }

    private mutating func takeVary(_ value: ArraySlice<UInt8>) {
        for element in HTTPField.elements(value) where vary != ["*"] {
            let name = HTTPField.token(element) ?? "*"
            if vary.contains(name) { continue }
            // A response that depends on so much is one that nothing else is answered with.
            vary = name == "*" || vary.count == 32 ? ["*"] : vary + [name]
        }
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
