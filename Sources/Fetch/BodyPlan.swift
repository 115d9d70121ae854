import DarkroomCore

/// How the body after a response's header is handled.
enum BodyPlan: Sendable, Equatable {
    /// It is the requested body, from its first byte on; if only the first bytes are wanted, at least these.
    case whole
    /// It continues the body of an earlier attempt.
    case rest
    /// There is none: the existing copy is still valid.
    case notModified
    /// It is ignored; the transfer follows the redirect.
    case redirect
    /// It is ignored; the request is repeated for the whole body.
    case startOver
    /// It is the page of an error status and is ignored.
    case page
    /// The response cannot be used. The text follows the URL in the message.
    case refused(FetchError.Code, String)

    /// The statuses of redirects.
    static let redirects: Set<Int> = [301, 302, 303, 307, 308]

    static let unrequestedCoding =
        "the server used a content coding that was not requested (Content-Encoding)"

    /// Whether the body is that of a picture, or a part of it.
    var isKept: Bool { self == .whole || self == .rest }

    /// - Parameters:
    ///   - head: the final header.
    ///   - length: the announced length of the body.
    ///   - resume: what the request asked to continue (Range), or nil.
    ///   - firstBytes: the number of first bytes that the request asked for (Range), or nil.
    ///   - isConditional: whether the request had If-None-Match or If-Modified-Since.
    ///   - limit: the maximum announced length of the body.
    init(
        for head: ResponseHead, length: Int64?, location: ByteString?, resume: PartialBody?,
        firstBytes: Int64? = nil, isConditional: Bool, limit: Int64
    ) {
        switch head.status.code {
        case _ where head.status.isChangeOfProtocols:
            self = .refused(
                .badResponse, "the server answered \(head.status), which was not requested")
        case let code where Self.redirects.contains(code):
            self =
                location == nil
                ? .refused(
                    .badResponse,
                    "the server answered \(head.status) without exactly one Location")
                : .redirect
        case 304 where isConditional: self = .notModified
        case 206:
            if let firstBytes {
                self =
                    Self.isBeginning(head, length, firstBytes)
                    ? Self.ofContent(head, head.contentRange?.total, limit) ?? .whole : .startOver
                return
            }
            guard let resume else {
                self = .page
                return
            }
            guard Self.isRest(head, length, of: resume) else {
                self = .startOver
                return
            }
            let total = head.contentRange?.total ?? resume.total
            self = Self.ofContent(head, total, limit) ?? .rest
        // The file has become shorter, or the server supports ranges of other resources only.
        case 416 where resume != nil || firstBytes != nil: self = .startOver
        case _ where head.status.isWhole: self = Self.ofContent(head, length, limit) ?? .whole
        default: self = .page
        }
    }

    /// Whether a partial body (206) has the wanted first bytes, or all bytes of a shorter body.
    private static func isBeginning(
        _ head: ResponseHead, _ length: Int64?, _ firstBytes: Int64
    ) -> Bool {
        guard let range = head.contentRange, range.first == 0, head.contentEncoding == nil,
            range.count <= firstBytes, length == nil || length == range.count
        else { return false }
        return range.count == min(firstBytes, range.total ?? firstBytes)
    }

    /// Whether a partial body (206) continues the existing part of the same version of the file: it must have the
    /// validator of the request and the same total length.
    private static func isRest(
        _ head: ResponseHead, _ length: Int64?, of resume: PartialBody
    ) -> Bool {
        guard let range = head.contentRange, range.first == resume.bytes,
            head.contentEncoding == nil
        else { return false }
        if let total = resume.total, let told = range.total, total != told { return false }
        // A part that ends before the end of the whole body would need further requests.
        if let total = range.total ?? resume.total, range.last != total - 1 { return false }
        if let length, length != range.count { return false }
        let isTag = resume.validator.utf8.first == UInt8(ascii: "\"")
        // A part has a tag if the whole body has one (RFC 9110, section 15.3.7).
        if isTag { return head.entityTag?.text == resume.validator }
        if !isTag, let date = head.lastModified { return date == resume.validator }
        return true
    }

    /// Why a body, whole or a part, cannot be used; nil if it can.
    private static func ofContent(
        _ head: ResponseHead, _ total: Int64?, _ limit: Int64
    ) -> BodyPlan? {
        guard head.isLengthValid else {
            return .refused(
                .badResponse, "the server sent several lengths, or one that is not a number")
        }
        if let total, total > limit {
            return .refused(
                .tooLarge,
                "the server announces \(Units.bytes(total)), more than the limit of "
                    + Units.bytes(limit))
        }
        guard head.contentEncoding.map(ContentCoding.readable.contains) ?? true else {
            return .refused(.badResponse, unrequestedCoding)
        }
        return nil
    }
}

extension PartialBody {
    /// A shorter body is fetched again just as fast as it is continued.
    static let least: Int64 = 256 << 10

    /// The part of a body that has arrived, if another attempt may ask for the rest. nil if the part is short, if the
    /// body has a content coding, or if the server sent no validator that identifies the exact bytes.
    init?(bytes: Int64, crc32: UInt32, of head: ResponseHead, total: Int64?, target: String?) {
        guard bytes >= Self.least, head.contentEncoding == nil,
            let validator = Self.strongValidator(of: head)
        else { return nil }
        self.init(bytes: bytes, validator: validator, crc32: crc32, total: total, target: target)
    }

    /// A strong entity tag; otherwise a modification date at least one minute before the response's date, so that the
    /// file did not change twice within the same second (RFC 9110, section 8.8.2.2).
    static func strongValidator(of head: ResponseHead) -> ByteString? {
        if let tag = head.entityTag { return tag.isWeak ? nil : tag.text }
        guard let text = head.lastModified, let modified = HTTPDate(text.utf8),
            let date = head.date,
            date.secondsSince1970 - modified.secondsSince1970 >= 60
        else { return nil }
        return text
    }
}
