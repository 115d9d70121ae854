import DarkroomCore

/// The path from the root of the manifest to a value.
package indirect enum DocumentPath: Sendable, Equatable, CustomStringConvertible {
    case root
    case key(DocumentPath, ByteString)
    case index(DocumentPath, Int)

    /// `images[3].filters[0].sepia`; a key that is not a plain word is in brackets and quotes.
    package var description: String {
        switch self {
        case .root:
            return ""
        case .index(let parent, let index):
            return "\(parent)[\(index)]"
        case .key(let parent, let key):
            guard Self.isWord(key) else { return "\(parent)[\"\(key.shortened)\"]" }
            if case .root = parent { return key.string }
            return "\(parent).\(key)"
        }
    }

    static func isWord(_ key: ByteString) -> Bool {
        (1...80).contains(key.utf8.count)
            && key.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || $0 == "_" || $0 == "-" || ("0"..."9").contains($0)
            }
    }
}
