extension RedactedURL {
    /// Stands for the user and password, the query or the fragment in a URL that stays a URL.
    package static let replacement = "***"

    /// A text whose parts that must not be shown are replaced:
    ///
    ///     https://ann:pw@host:8080/a/b.png?token=1   https://***@host:8080/a/b.png?***
    ///     https://host/a.png#part                    https://host/a.png#***
    ///     photos/night.png                           photos/night.png
    package struct Replaced: Sendable, Equatable {
        package var text: String
        /// The parts: user and password together, the password, the query, its long values, and the fragment.
        package var secrets: [String] = []
    }

    /// nil if the text may have such parts, and it is not clear where they begin and end.
    package static func replaced(_ text: String) -> Replaced? {
        let shown = whole(text)
        if ByteString(shown) == ByteString(text) || !text.utf8.contains(where: isMark) {
            return Replaced(text: text)
        }
        guard let url = Parts(text), ByteString(shown) == ByteString(url.shown) else { return nil }
        return Replaced(text: url.replaced, secrets: url.secrets)
    }

    /// Whether the text is a URL with `***` for one of these parts.
    package static func hasReplacement(_ text: String) -> Bool {
        guard let url = Parts(text) else { return false }
        return [url.user, url.query, url.fragment].contains {
            $0.map { $0.elementsEqual(replacement.utf8) } ?? false
        }
    }

    /// Whether a text with this byte could be a URL. A question without any is none.
    private static func isMark(_ byte: UInt8) -> Bool { "/\\:@%".utf8.contains(byte) }

    /// The parts of a URL that is written as RFC 3986 has it.
    private struct Parts {
        let scheme: Substring.UTF8View
        let user: Substring.UTF8View?
        /// The host with its port, and the path.
        let place: String
        let query: Substring.UTF8View?
        let fragment: Substring.UTF8View?

        init?(_ text: String) {
            let bytes = Substring(text).utf8
            let isPrintable = bytes.allSatisfy {
                $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\")
            }
            guard isPrintable, let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
                RedactedURL.scheme(of: text)?.utf8.count == bytes[..<colon].count
            else { return nil }
            var rest = bytes[bytes.index(after: colon)...]
            guard rest.starts(with: "//".utf8) else { return nil }
            scheme = bytes[..<colon]
            rest = rest.dropFirst(2)
            fragment = Self.split(&rest, at: "#")
            query = Self.split(&rest, at: "?")
            let authority = rest.prefix { $0 != UInt8(ascii: "/") }
            let at = authority.lastIndex(of: UInt8(ascii: "@"))
            user = at.map { authority[..<$0] }
            let host = at.map { authority[authority.index(after: $0)...] } ?? authority
            guard !host.isEmpty || RedactedURL.isFile(scheme) else { return nil }
            place =
                String(decoding: host, as: UTF8.self)
                + String(decoding: rest.dropFirst(authority.count), as: UTF8.self)
        }

        /// Cuts the text at the first `mark`, and returns what follows that.
        private static func split(
            _ text: inout Substring.UTF8View, at mark: Unicode.Scalar
        ) -> Substring.UTF8View? {
            guard let index = text.firstIndex(of: UInt8(ascii: mark)) else { return nil }
            let rest = text[text.index(after: index)...]
            text = text[..<index]
            return rest
        }

        private var address: String { String(decoding: scheme, as: UTF8.self) + "://" }

        /// As `whole` shows it.
        var shown: String {
            let end = query != nil ? "?" + mark : fragment != nil ? "#" + mark : ""
            return address + place + end
        }

        var replaced: String {
            address + (user == nil ? "" : replacement + "@") + place
                + (query == nil ? "" : "?" + replacement)
                + (fragment == nil ? "" : "#" + replacement)
        }

        var secrets: [String] {
            var parts = [user, query, fragment].compactMap(\.self)
            if let user, let colon = user.firstIndex(of: UInt8(ascii: ":")) {
                parts.append(user[user.index(after: colon)...])
            }
            for pair in (query ?? Substring().utf8).split(whereSeparator: { "&;".utf8.contains($0) }
            ) {
                let value = pair.drop { $0 != UInt8(ascii: "=") }.dropFirst()
                // A shorter one, as that of `width=200`, is a number or a word that may stand elsewhere.
                if value.count >= 8 { parts.append(value) }
            }
            return parts.map { String(decoding: $0, as: UTF8.self) }
                .filter { !$0.isEmpty && $0 != replacement }
        }
    }

    private static func isFile(_ scheme: Substring.UTF8View) -> Bool {
        ByteString(Substring(scheme)).asciiLowercased == "file"
    }
}
