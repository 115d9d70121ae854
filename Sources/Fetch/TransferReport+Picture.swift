import DarkroomCore
import DarkroomPicture

extension TransferReport {
    /// The format of the received picture. The first bytes of the body decide, because a Content-Type may be wrong, and
    /// many web servers answer with a page if a picture is missing.
    package func pictureKind() throws(FetchError) -> InputFormat {
        let kind = InputFormat(prefix: prefix)
        if kind.isReadable { return kind }
        let answer = "\(shownURL): the server answered with \(kind.words)"
        let type = contentType.map { " (Content-Type \(Self.printable($0)))" } ?? ""
        if kind.isPicture {
            throw FetchError(.unsupportedFormat, answer + type + kind.advice)
        }
        throw FetchError(kind == .html ? .htmlPage : .notAPicture, answer + type + kind.advice)
    }

    /// The requested URL and, if it differs, the URL that answered.
    private var shownURL: String {
        redirects == 0
            ? "\(request.url)" : "\(request.url), redirected to \(effectiveURL)"
    }

    /// The type without its parameters, as far as it is valid (RFC 9110, section 8.3.1).
    private static func printable(_ contentType: ByteString) -> String {
        let type = contentType.utf8.prefix { $0 != UInt8(ascii: ";") }.prefix(80)
        return String(decoding: type.filter { $0 > 0x20 && $0 < 0x7F }, as: UTF8.self)
    }
}
