/// A source in the form in which it may be shown: without user, password, query and fragment.
///
/// A source of a user may contain a secret, whether or not it is well-formed. So this code looks at the text and does
/// not need a valid URL. If a part could be a credential in another interpretation of a malformed URL, it is left out
/// too. `…` replaces the parts that are left out:
///
///     https://ann:pw@host:8080/a/b.png?token=1   https://host:8080/a/b.png?…
///     http://ann:p/w@host/b.png                  http://…
///     photos/night.png                           photos/night.png
package struct RedactedURL: Sendable, Hashable, CustomStringConvertible {
    private let shown: ByteString

    package var description: String { shown.string }

    /// A longer text is cut: a manifest may contain a source of megabytes, and it would be in a log line.
    private static let maximumScalars = 1024

    /// Scalars, not characters: `@` with a combining accent is a different character than `@`, but its first byte still
    /// ends a password.
    private typealias Text = Substring.UnicodeScalarView

    /// Replaces the parts that are left out.
    package static let mark = "…"

    /// The source without the parts that must not be shown, whatever its length and content.
    package static func whole(_ source: String) -> String { redact(source[...].unicodeScalars) }

    package init(_ source: String) {
        // Most paths have nothing to hide.
        if source.utf8.count <= Self.maximumScalars, source.isPrintableASCII(without: ":?%") {
            shown = ByteString(source)
            return
        }
        let shown = Self.whole(source)
        let printable = String(shown.unicodeScalars.prefix(Self.maximumScalars))
            .replacingScalars(with: "\u{FFFD}") { !Self.isShown($0) }
        let isCut = shown.unicodeScalars.count > Self.maximumScalars
        self.shown = ByteString(printable + (isCut ? Self.mark : ""))
    }

    /// Whether a character is shown as it is. A line break in a source must not start a line of a log.
    package static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return (0x20..<0x7F).contains(scalar.value) }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }

    package static func text(_ source: String) -> String { RedactedURL(source).description }

    private static func redact(_ source: Text) -> String {
        let scheme = schemeLength(of: source)
        if let authority = startOfAuthority(in: source, scheme: scheme) {
            let known = scheme.map { String(source.prefix($0)) } ?? mark
            return known + "://" + redactHierarchy(source[authority...])
        }
        if let scheme {
            // `data:…`, or `ann:pw@host/b.png` without its scheme, whose first word is a user.
            let rest = source.dropFirst(scheme + 1)
            if unescaped(rest).contains("@") { return mark }
            return String(source.prefix(scheme)) + ":" + cut(rest, at: ["?", "#"])
        }
        // A path. The name of a file may contain `#`; if the scheme was forgotten, there may be the `?` of a query.
        return hasColonBeforeAt(source) ? mark : cut(source, at: ["?"])
    }

    /// The end of `//` or a similar sequence after the scheme. libcurl accepts one to three slashes; browsers also
    /// accept backslashes.
    private static func startOfAuthority(in source: Text, scheme: Int?) -> String.Index? {
        guard let scheme else {
            // The search takes long, and most paths have no colon.
            guard source.contains(":") else { return nil }
            return Substring(source).utf8.firstRange(of: "://".utf8)?.upperBound
        }
        let rest = source.dropFirst(scheme + 1)
        guard let first = rest.first, isSlash(first) else { return nil }
        // The third slash of `file:///path` begins the path; it does not begin another authority.
        let isFile = ByteString(Substring(source.prefix(scheme))).asciiLowercased == "file"
        let slashes = isFile ? rest.prefix(2) : rest
        return slashes.firstIndex { !isSlash($0) } ?? slashes.endIndex
    }

    /// `host:port/path?…` of the text after `scheme://`.
    private static func redactHierarchy(_ text: Text) -> String {
        let authorityEnd = text.firstIndex { ["/", "?", "#"].contains($0) } ?? text.endIndex
        let authority = text[..<authorityEnd]
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] }
        let shownHost = host ?? authority
        let rest = text[authorityEnd...]
        // A host has no escapes. A text that looks like one may be a user and a password that someone has escaped as a
        // whole.
        if unescaped(shownHost).contains("@") { return mark }

        // `ann:p/w@host`: a password with a slash looks like a port and a path.
        if let colon = colonOfPort(in: shownHost) {
            let port = shownHost[shownHost.index(after: colon)...]
            if !port.allSatisfy({ ("0"..."9").contains($0) }) || unescaped(rest).contains("@") {
                return mark
            }
        }
        let path = rest.prefix { $0 != "?" && $0 != "#" }
        // A URL within the path, as archives have it, may have its own credentials.
        if hasColonBeforeAt(path) { return String(shownHost) + "/…" }
        return String(shownHost) + cut(rest, at: ["?", "#"])
    }

    /// The text up to and including the first of `marks`, and `…` for the rest.
    private static func cut(_ text: Text, at marks: [Unicode.Scalar]) -> String {
        guard let end = text.firstIndex(where: marks.contains) else { return String(text) }
        return String(text[...end]) + mark
    }

    private static func hasColonBeforeAt(_ text: Text) -> Bool {
        let text = unescaped(text)
        guard let at = text.lastIndex(of: "@") else { return false }
        return text[..<at].contains(":")
    }

    /// The text with its escaped `@` and `:` unescaped, however often they are escaped: `%40`, `%2540`, `%252540`.
    private static func unescaped(_ text: Text) -> Text {
        guard text.contains("%") else { return text }
        var bytes: [UInt8] = []
        for byte in Substring(text).utf8 {
            bytes.append(byte)
            guard bytes.count >= 3, bytes[bytes.count - 3] == UInt8(ascii: "%") else { continue }
            let mark: UInt8
            switch (bytes[bytes.count - 2], byte) {
            case (UInt8(ascii: "4"), UInt8(ascii: "0")): mark = UInt8(ascii: "@")
            case (UInt8(ascii: "3"), UInt8(ascii: "a")), (UInt8(ascii: "3"), UInt8(ascii: "A")):
                mark = UInt8(ascii: ":")
            case (UInt8(ascii: "2"), UInt8(ascii: "5")): mark = UInt8(ascii: "%")
            default: continue
            }
            bytes.removeLast(3)
            bytes.append(mark)
        }
        return String(decoding: bytes, as: UTF8.self)[...].unicodeScalars
    }

    /// The colon between host and port, not one within the brackets of an IPv6 address.
    private static func colonOfPort(in host: Text) -> String.Index? {
        let afterBracket = host.lastIndex(of: "]") ?? host.startIndex
        return host[afterBracket...].firstIndex(of: ":")
    }

    private static func isSlash(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "/" || scalar == "\\"
    }

    /// The number of scalars before the `:` of a scheme (RFC 3986, section 3.1), or nil.
    private static func schemeLength(of source: Text) -> Int? {
        guard let first = source.first, isASCIILetter(first) else { return nil }
        var length = 0
        for scalar in source {
            if scalar == ":" { return length }
            let isWord = isASCIILetter(scalar) || ("0"..."9").contains(scalar)
            guard isWord || ["+", "-", "."].contains(scalar) else { return nil }
            length += 1
        }
        return nil
    }

    private static func isASCIILetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }

    /// The scheme at the beginning of a source, as it is written, or nil.
    package static func scheme(of source: String) -> ByteString? {
        let text = source[...].unicodeScalars
        return schemeLength(of: text).map { ByteString(Substring(text.prefix($0))) }
    }
}
