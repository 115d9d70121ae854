import DarkroomCore

/// Tells whether the content of a URL is still the same, by a question to its server: what the server sent about it.
///
/// As a text, it has a line for each part that there is: `url`, `of: …`, `etag: "1"`, `modified: …`, `target: …`.
package struct RemoteIdentity: Sendable, Equatable {
    package let validators: Validators
    /// The URL from which they came, as `TransferReport.target` identifies it; nil is the requested URL.
    package let target: String?
    /// A digest of the requested URL; empty if an older version wrote the text, so that it is of no URL.
    private let url: String

    /// nil if the server has sent nothing of the kind.
    package init?(_ validators: Validators?, of url: RemoteURL, target: String?) {
        self.init(validators, digest: Self.digest(of: url), target: target)
    }

    /// What a response says of its content. A date of the last change counts only if a later change had another date:
    /// if it is before the second of the response (RFC 9110, 8.8.2.2).
    package init?(_ response: ResponseHead, of url: RemoteURL, target: String?) {
        var validators = Validators(response)
        if !response.provesLastModified { validators?.lastModified = nil }
        self.init(validators, of: url, target: target)
    }

    private init?(_ validators: Validators?, digest: String, target: String?) {
        guard let validators, validators != Validators() else { return nil }
        self.validators = validators
        self.target = target
        url = digest
    }

    package init?(_ text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        guard lines.popFirst() == "url" else { return nil }
        var validators = Validators()
        var target: String?
        var url = ""
        for line in lines {
            let parts = line.split(separator: ": ", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            switch parts[0] {
            case "of": url = String(parts[1])
            case "etag":
                guard let tag = EntityTag(ByteString(parts[1])) else { return nil }
                validators.entityTag = tag.text
            case "modified": validators.lastModified = ByteString(parts[1])
            case "target": target = String(parts[1])
            default: return nil
            }
        }
        // It becomes a line of a request.
        guard text.utf8.allSatisfy({ $0 == UInt8(ascii: "\n") || $0 >= 0x20 && $0 != 0x7F }) else {
            return nil
        }
        self.init(validators, digest: url, target: target)
    }

    package var text: String {
        var lines = ["url"]
        if !url.isEmpty { lines.append("of: \(url)") }
        if let tag = validators.entityTag { lines.append("etag: \(tag.string)") }
        if let date = validators.lastModified { lines.append("modified: \(date.string)") }
        if let target { lines.append("target: \(target)") }
        return lines.joined(separator: "\n")
    }

    /// What is noted of a URL whose server has said nothing.
    package static func text(of url: RemoteURL) -> String { "url\nof: \(digest(of: url))" }

    /// Whether a text of this kind was noted of another URL.
    package static func isOfOther(_ text: String, than url: RemoteURL) -> Bool {
        let lines = text.split(separator: "\n")
        guard lines.first == "url", let line = lines.first(where: { $0.hasPrefix("of: ") }) else {
            return false
        }
        return line != "of: \(digest(of: url))"
    }

    /// Whether this was said of the content of this URL. Its validators mean nothing at another one.
    package func isOf(_ url: RemoteURL) -> Bool { self.url == Self.digest(of: url) }

    /// Whether the content of the same URL is unchanged, of which the server says `present` now.
    ///
    /// A redirect may lead to another URL each time, for example to one with a signature. Then a strong tag tells it, and
    /// nothing else does.
    package func describes(_ present: RemoteIdentity) -> Bool {
        guard url == present.url else { return false }
        guard let tag = validators.entityTag else {
            return target == present.target
                && validators.lastModified == present.validators.lastModified
        }
        return tag == present.validators.entityTag
            && (target == present.target || EntityTag(tag)?.isWeak == false)
    }

    /// Without user and password, which do not decide what the content is, and could be guessed from the digest.
    private static func digest(of url: RemoteURL) -> String {
        let text = url.requested.utf8
        let begin = text.index(text.startIndex, offsetBy: url.scheme.utf8.count + "://".utf8.count)
        let end = text[begin...].firstIndex { "/?#".utf8.contains($0) } ?? text.endIndex
        let user = text[begin..<end].lastIndex(of: UInt8(ascii: "@"))
        let rest = user.map { text.index(after: $0) } ?? begin
        var digest = SHA256Digest()
        digest.update(text[..<begin])
        digest.update(text[rest...])
        return digest.hex()
    }
}

extension ResponseHead {
    /// Whether the content was last changed before the second in which this response was made.
    fileprivate var provesLastModified: Bool {
        guard let date, let lastModified, let changed = HTTPDate(lastModified.utf8) else {
            return false
        }
        return changed < date
    }
}
