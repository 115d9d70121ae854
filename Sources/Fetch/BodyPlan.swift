import DarkroomCore

/// What becomes of the body behind a response's head.
enum BodyPlan: Sendable, Equatable {
    /// It is what was asked for, from its first byte on.
    case whole
    /// It goes on where an earlier attempt ended.
    case rest
    /// There is none: what the asker has is still what the server would send.
    case notModified
    /// It is left aside; the transfer goes on elsewhere.
    case redirect
    /// It is left aside; the request is made once more, for the whole body.
    case startOver
    /// It is a page that goes with a status of failure, and is left aside.
    case page
    /// The answer cannot be used; the words follow the URL.
    case refused(FetchError.Code, String)

    /// The statuses that lead elsewhere.
    static let redirects: Set<Int> = [301, 302, 303, 307, 308]

    /// Whether the body is a picture's, or a part of one.
    var isKept: Bool { self == .whole || self == .rest }

    /// - Parameters:
    ///   - head: the final one.
    ///   - length: the body's, as promised.
    ///   - resume: what the request asked to be continued (Range), or nil.
    ///   - isConditional: whether the request had If-None-Match or If-Modified-Since.
    ///   - limit: of the body's length, for what is announced.
    init(
        for head: ResponseHead, length: Int64?, location: ByteString?, resume: PartialBody?,
        isConditional: Bool, limit: Int64
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
        // The file has become shorter, or the server knows ranges of other things only.
        case 416 where resume != nil: self = .startOver
        case _ where head.status.isWhole: self = Self.ofContent(head, length, limit) ?? .whole
        default: self = .page
        }
    }

    /// Whether a partial body (206) is what comes after what there is, of the same state of the file: its
    /// validator is the one that was named, its length the one that was told before.
    private static func isRest(
        _ head: ResponseHead, _ length: Int64?, of resume: PartialBody
    ) -> Bool {
        guard let range = head.contentRange, range.first == resume.bytes,
            head.contentEncoding == nil
        else { return false }
        if let total = resume.total, let told = range.total, total != told { return false }
        // A part that ends before the whole does would have to be asked for again and again.
        if let total = range.total ?? resume.total, range.last != total - 1 { return false }
        if let length, length != range.count { return false }
        let isTag = resume.validator.utf8.first == UInt8(ascii: "\"")
        // A part says its tag if the whole has one (RFC 9110, section 15.3.7).
        if isTag { return head.entityTag?.text == resume.validator }
        if !isTag, let date = head.lastModified { return date == resume.validator }
        return true
    }

    /// Why a body cannot be taken, be it whole or the rest; nil if it can.
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
        switch head.contentEncoding {
        case nil, "gzip", "x-gzip", "deflate": return nil
        default:
            return .refused(
                .badResponse,
                "the server used a content coding that was not requested "
                    + "(Content-Encoding)")
        }
    }
}

extension PartialBody {
    /// Less is fetched again as fast as it is asked for.
    static let least: Int64 = 256 << 10

    /// What has arrived of a body, if another attempt may ask for the rest of it: nil where it is little, or
    /// coded, or where the server has given no validator that stands for its very bytes.
    init?(bytes: Int64, crc32: UInt32, of head: ResponseHead, total: Int64?, target: String?) {
        guard bytes >= Self.least, head.contentEncoding == nil,
            let validator = Self.strongValidator(of: head)
        else { return nil }
        self.init(bytes: bytes, validator: validator, crc32: crc32, total: total, target: target)
    }

    /// A strong entity tag; or else a modification date that is a minute before the answer's own date, so
    /// that the file was not changed twice within the second it names (RFC 9110, section 8.8.2.2).
    static func strongValidator(of head: ResponseHead) -> ByteString? {
        if let tag = head.entityTag { return tag.isWeak ? nil : tag.text }
        guard let text = head.lastModified, let modified = HTTPDate(text.utf8),
            let date = head.date,
            date.secondsSince1970 - modified.secondsSince1970 >= 60
        else { return nil }
        return text
    }
}
