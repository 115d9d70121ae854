import DarkroomCore

/// The part of an http URL between `//` and the path: `ann:pw@host:8080`.
///
/// It is stricter than libcurl and browsers where they differ from each other: what one program reads as a user may be
/// the host for another, so it is refused.
package struct URLAuthority: Sendable {
    /// `user:password` as it is written; nil without an `@`.
    package var userInformation: ByteString?
    /// As it is written; IPv6 has its brackets.
    package var host: ByteString
    /// nil if it is the default of the scheme.
    package var port: Int?

    package init(_ text: ByteString) throws(TextProblem) {
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            throw TextProblem("there is a space or a control character before the path")
        }
        guard !text.utf8.contains(UInt8(ascii: "\\")) else {
            throw TextProblem(#"there is a \ before the path, which some programs read as a /"#)
        }
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count <= 2 else {
            throw TextProblem("an @ in a user or password must be written as %40")
        }
        userInformation = parts.count == 2 ? ByteString(parts[0]) : nil
        let place = parts[parts.count - 1]
        // A colon within brackets is a part of the address.
        let bracket = place.lastIndex(of: UInt8(ascii: "]")) ?? place.startIndex
        let colon = place[bracket...].firstIndex(of: UInt8(ascii: ":"))
        host = ByteString(place[..<(colon ?? place.endIndex)])
        if let problem = Self.problem(ofHost: host) { throw TextProblem(problem) }
        port = try colon.flatMap { (colon) throws(TextProblem) in
            try Self.port(place[colon...].dropFirst())
        }
    }

    /// Whether a URL, or a relative reference, has a `\` before its path. Browsers read it as a slash; libcurl reads it
    /// as a part of the user, which it drops.
    static func hasBackslash(in reference: ByteString) -> Bool {
        let scheme = RedactedURL.scheme(of: reference.string).map { $0.utf8.count + 1 } ?? 0
        let rest = reference.utf8.dropFirst(scheme)
        guard rest.starts(with: "//".utf8) else { return false }
        return rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }.contains(UInt8(ascii: "\\"))
    }

    /// An empty port, as in `http://host:/`, is the default of the scheme.
    private static func port(_ digits: Substring.UTF8View) throws(TextProblem) -> Int? {
        if digits.isEmpty { return nil }
        guard digits.allSatisfy(\.isDigit),
            let number = Int(Substring(digits)), (1...65535).contains(number)
        else { throw TextProblem("the port is not a number from 1 to 65535") }
        return number
    }

    /// The maximum length of a host name, without a final dot.
    package static let maximumHost = 253

    /// The problem of a host; nil if it is valid. Letters beyond ASCII are left to libcurl's IDN support.
    static func problem(ofHost host: ByteString) -> String? {
        if host.isEmpty { return "the URL has no host" }
        // RFC 1035, 2.3.4: 253 letters, and a dot that means that the name is complete. For international names the
        // ASCII form counts, which libcurl creates; it has at least as many letters.
        if host.unicodeScalars.count > maximumHost + 1 {
            return "the host is longer than \(maximumHost) letters"
        }
        if host.utf8.first == UInt8(ascii: "[") {
            let inner = host.utf8.dropFirst().prefix { $0 != UInt8(ascii: "]") }
            if inner.contains(UInt8(ascii: "%")) {
                return "an IPv6 address in a URL cannot have a zone"
            }
            guard host.utf8.count == inner.count + 2, inner.contains(UInt8(ascii: ":")),
                IPAddress(Substring(inner)) != nil
            else { return "the text in brackets is not an IPv6 address" }
            return nil
        }
        for byte in host.utf8 where byte < 0x80 && !isOfName(byte) {
            return byte == UInt8(ascii: "%")
                ? "the host contains %-escapes"
                : "the host contains a character that names cannot have"
        }
        let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let named = labels.last?.isEmpty == true ? labels.dropLast() : labels[...]
        if named.isEmpty || named.contains(where: \.isEmpty) {
            return "the host has an empty label: two dots, or one at its beginning"
        }
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        if named.contains(where: { $0.count > 63 }) {
            return "a label of the host has more than 63 letters"
        }
        return nil
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "-._".utf8.contains(byte)
    }
}
