/// A pattern of file names in which only `*` has a meaning: any number of bytes.
package struct NamePattern: Sendable, Hashable {
    private let bytes: [UInt8]
    private let ignoresCase: Bool

    /// - Parameter ignoresCase: whether A to Z are like a to z.
    package init(_ text: ByteString, ignoresCase: Bool = false) {
        self.ignoresCase = ignoresCase
        bytes = text.utf8.map { ignoresCase ? $0.asciiLowercased : $0 }
    }

    package func matches(_ name: FileName) -> Bool {
        matches(ignoresCase ? name.bytes.map(\.asciiLowercased) : name.bytes)
    }

    /// The time is at most the product of the lengths.
    ///
    /// - Parameter text: in lower case, if the case does not matter.
    func matches(_ text: [UInt8]) -> Bool {
        var (at, next) = (0, 0)
        // The place after the last star, and the place in the text from which it is tried.
        var retry: (pattern: Int, text: Int)?
        while at < text.count {
            if next < bytes.count, bytes[next] == UInt8(ascii: "*") {
                next += 1
                retry = (next, at)
            } else if next < bytes.count, bytes[next] == text[at] {
                (at, next) = (at + 1, next + 1)
            } else if let last = retry {
                retry = (last.pattern, last.text + 1)
                (at, next) = (last.text + 1, last.pattern)
            } else {
                return false
            }
        }
        return bytes[next...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
