import DarkroomCore

/// The range of bytes of a partial body (RFC 9110, 14.4): `bytes 0-99/200`.
package struct ContentRange: Sendable, Hashable {
    package var first: Int64
    /// The last byte, which is part of the range.
    package var last: Int64
    /// The length of the whole body; nil if the server does not know it.
    package var total: Int64?

    /// The number of bytes. The ends may be as far apart as an Int64 allows.
    package var count: Int64 { last == .max && first == 0 ? .max : last - first + 1 }
}

extension ContentRange {
    /// nil for a text that is not a range of bytes, for a range that ends before it begins or lies beyond the whole
    /// body, and for `bytes */200`, which a refusal has.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count <= 80 else { return nil }
        let value = HTTPField.trimmed(Array(bytes)[...])
        guard value.prefix(5).map(\.asciiLowercased) == Array("bytes".utf8),
            let blank = value.dropFirst(5).first, HTTPField.isBlank(blank)
        else { return nil }
        let parts = HTTPField.trimmed(value.dropFirst(5))
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard ends.count == 2, let first = HTTPField.number(ends[0]),
            let last = HTTPField.number(ends[1]), first <= last
        else { return nil }
        self.init(first: first, last: last)
        if parts[1].elementsEqual("*".utf8) { return }
        guard let total = HTTPField.number(parts[1]), last < total else { return nil }
        self.total = total
    }
}
