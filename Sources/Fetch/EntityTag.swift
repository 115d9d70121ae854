import DarkroomCore

/// A server's identifier of one version of a resource (RFC 9110, 8.8.3).
package struct EntityTag: Sendable, Hashable {
    /// The text as the server sent it, including quotes and `W/`: it is sent back in this form.
    package let text: ByteString
    /// Whether two bodies with this tag may have different bytes.
    package let isWeak: Bool

    /// nil for a text that is not an entity tag in UTF-8, or has more than 1024 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count <= 1024 else { return nil }
        let isWeak = bytes.starts(with: "W/".utf8)
        let quoted = Array(bytes)[(isWeak ? 2 : 0)...]
        let quote = UInt8(ascii: "\"")
        guard quoted.count >= 2, quoted.first == quote, quoted.last == quote,
            quoted.dropFirst().dropLast().allSatisfy({ $0 > 0x20 && $0 != quote && $0 != 0x7F }),
            let text = ByteString(validating: bytes)
        else { return nil }
        self.text = text
        self.isWeak = isWeak
    }

    package init?(_ text: ByteString) { self.init(text.utf8) }
}

/// The validators for a conditional request: what the server sent about the existing body.
package struct Validators: Sendable, Equatable, Codable {
    /// For If-None-Match, unchanged.
    package var entityTag: ByteString?
    /// For If-Modified-Since, unchanged.
    package var lastModified: ByteString?

    package init(entityTag: ByteString? = nil, lastModified: ByteString? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// The validators of a response; nil if it has none.
    package init?(_ head: ResponseHead) {
        guard head.entityTag != nil || head.lastModified != nil else { return nil }
        self.init(entityTag: head.entityTag?.text, lastModified: head.lastModified)
    }
}
