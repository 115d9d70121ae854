import DarkroomCore

/// A server's name for one state of a resource (RFC 9110, 8.8.3).
package struct EntityTag: Sendable, Hashable {
    /// As the server wrote it, quotes and `W/` included: that is how it is sent back.
    package let text: ByteString
    /// Whether two bodies of this tag may differ in their bytes.
    package let isWeak: Bool

    /// nil for what is no entity tag in UTF-8, and for one of more than 1024 bytes.
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

/// What makes a request conditional: what a server said of the body that is already here.
package struct Validators: Sendable, Equatable, Codable {
    /// For If-None-Match, verbatim.
    package var entityTag: ByteString?
    /// For If-Modified-Since, verbatim.
    package var lastModified: ByteString?

    package init(entityTag: ByteString? = nil, lastModified: ByteString? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// A response's; nil if it has none.
    package init?(_ head: ResponseHead) {
        guard head.entityTag != nil || head.lastModified != nil else { return nil }
        self.init(entityTag: head.entityTag?.text, lastModified: head.lastModified)
    }
}
