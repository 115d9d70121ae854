import DarkroomCore
import DarkroomFetch
import DarkroomManifest

/// Decides whether the group may read a manifest as it is. It must not read the users, passwords and queries of the URLs
/// in it.
///
/// This looks at the bytes alone, because a manifest that is refused has no sources. So it is the same for all formats,
/// and takes what could be such a part for one.
///
/// | the text has                                                   | because                                   |
/// |----------------------------------------------------------------|-------------------------------------------|
/// | `//`, `:/`, `\/`, `<!` or `tp:`, `tps:`, and a mark            | a URL with a query, a user or a fragment, |
/// |                                                                | perhaps one that is written wrongly       |
/// | an escape of an ASCII character, or an escaped end of a line   | it could be one of these characters       |
/// | a NUL                                                          | a binary property list, UTF-16 or UTF-32  |
///
/// The marks are `?`, `@`, `%40`, `%25`, and `#` within a word. A text with a mark alone may have a URL without its
/// scheme, `host/a.png?key`; the sources tell, if there are any.
enum ManifestSecrecy {
    /// Nothing in it is such a part.
    case none
    /// Only a source could be, if it is a URL without its scheme.
    case marks
    /// A URL in it could have one.
    case perhaps

    /// - Parameter manifest: what the bytes mean; nil if that is not known, or for a manifest that is refused.
    static func mayHoldSecrets(_ bytes: [UInt8], in manifest: Manifest?) -> Bool {
        switch of(bytes) {
        case .none: return false
        case .perhaps: return true
        case .marks:
            guard let manifest else { return true }
            return manifest.images.contains {
                guard let source = $0.source?.text else { return false }
                return ByteString(RedactedURL.whole(source.string)) != source
            }
        }
    }

    static func of(_ bytes: [UInt8]) -> ManifestSecrecy {
        bytes.withUnsafeBufferPointer { bytes in
            var hasURL = false
            var hasMark = false
            for index in endOfProlog(bytes)..<bytes.count {
                switch bytes[index] {
                case 0: return .perhaps
                case UInt8(ascii: "?"), UInt8(ascii: "@"): hasMark = true
                case UInt8(ascii: "#"): hasMark = hasMark || isInWord(index, bytes)
                case UInt8(ascii: "%"):
                    hasMark = hasMark || follows("40", index, bytes) || follows("25", index, bytes)
                case UInt8(ascii: "/"): hasURL = hasURL || follows("/", index, bytes)
                case UInt8(ascii: ":"):
                    hasURL = hasURL || follows("/", index, bytes) || endsScheme(index, bytes)
                case UInt8(ascii: "<"): hasURL = hasURL || follows("!", index, bytes)
                case UInt8(ascii: "&"): if follows("#", index, bytes) { return .perhaps }
                case UInt8(ascii: "\\"):
                    if follows("/", index, bytes) { hasURL = true }
                    if isEscape(index, bytes) { return .perhaps }
                default: continue
                }
                if hasURL, hasMark { return .perhaps }
            }
            return hasMark ? .marks : .none
        }
    }

    /// Where the text begins after `<?xml …?>`, whose question marks are none of a URL.
    private static func endOfProlog(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        guard bytes.first == UInt8(ascii: "<"), follows("?xml ", 0, bytes) else { return 0 }
        for index in 0..<min(bytes.count, 128) where follows("?>", index, bytes) {
            return index + 3
        }
        return 0
    }

    /// Whether the number sign there neither begins a comment of YAML nor a colour.
    private static func isInWord(_ index: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard index > 0, bytes[index - 1] > UInt8(ascii: " ") else { return false }
        return !"\"'>".utf8.contains(bytes[index - 1])
    }

    /// Whether the colon there ends http, https or ftp.
    private static func endsScheme(_ index: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        precedes("tp", index, bytes) || precedes("tps", index, bytes)
    }

    /// - Parameter text: in small letters; the bytes may have capital ones.
    private static func precedes(
        _ text: StaticString, _ index: Int, _ bytes: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        let count = text.utf8CodeUnitCount
        guard index >= count else { return false }
        return (0..<count).allSatisfy { text.utf8Start[$0] == bytes[index - count + $0] | 0x20 }
    }

    /// Whether the backslash there begins an escape that can stand for an ASCII character, or for nothing.
    private static func isEscape(_ index: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        if follows("u00", index, bytes) {
            return index + 4 < bytes.count && bytes[index + 4] <= UInt8(ascii: "7")
        }
        // The last three end lines too, for YAML: NEL, LS and PS.
        return ["\n", "\r", "x", "U", "\u{85}", "\u{2028}", "\u{2029}"].contains {
            follows($0, index, bytes)
        }
    }

    private static func follows(
        _ text: StaticString, _ index: Int, _ bytes: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        let count = text.utf8CodeUnitCount
        guard index + count < bytes.count else { return false }
        return (0..<count).allSatisfy { text.utf8Start[$0] == bytes[index + 1 + $0] }
    }
}
