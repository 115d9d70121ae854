import DarkroomCore
import DarkroomFetch
import DarkroomPicture

/// A manifest that means the same, with `***` for the users, passwords, queries and fragments of its URLs.
///
/// It is not the text with some characters changed: it is written anew from the values that the reader has found, so a
/// URL cannot hide behind an escape, an entity, an alias or a folded line. Comments are left out. A
/// binary property list becomes one in XML.
///
/// Whether it hides all of them is not left to this code alone: its bytes are read again, and there is no such manifest
/// if they mean anything else, or contain one of the parts anywhere.
package enum RedactedManifest {
    /// The maximum size of a manifest, in bytes. It is read once more, and so is its copy, and the daemon takes no other one in the meantime.
    static let maximumBytes = 8 << 20

    /// The bytes; nil if it cannot be shown without these parts.
    ///
    /// - Parameters:
    ///   - recipes: those that it uses.
    ///   - found: what its patterns mean.
    package static func bytes(
        of manifest: [UInt8], _ format: ManifestFormat, recipes: RecipeBook, found: SourceRecord
    ) -> [UInt8]? {
        guard manifest.count <= maximumBytes,
            let root = try? format.read(manifest, NodeBudget(images: .max))
        else { return nil }
        var redaction = Redaction()
        guard let shown = redaction.redacted(root) else { return nil }
        // With aliases, it may be much longer.
        var writer = DocumentWriter(format, maximum: maximumBytes)
        writer.write(shown)
        guard let bytes = writer.bytes else { return nil }

        func meaning(of root: Document.Node) -> Manifest? {
            // It was accepted, whatever the limits were.
            let limits = ManifestLimits(bytes: .max, images: .max, filters: .max)
            return try? ManifestReader.read(
                root, format: format, limits: limits, recipes: recipes, finder: .recorded(found))
        }
        guard var expected = meaning(of: root),
            let again = try? format.read(bytes, NodeBudget(images: .max)),
            let copy = meaning(of: again)
        else { return nil }
        for index in expected.images.indices {
            guard let source = expected.images[index].source else { continue }
            guard let shown = RedactedURL.replaced(source.text.string) else { return nil }
            expected.images[index].origin = .source(SourceReference(ByteString(shown.text)))
        }
        guard copy == expected,
            let search = SecretSearch(redaction.secrets, length: bytes.count),
            !search.finds(in: bytes)
        else { return nil }
        // A part may have an escape in the bytes, and not in the text.
        var texts: [UInt8] = []
        again.forEachText { texts += Array($0.utf8) + [0] }
        return search.finds(in: texts) ? nil : bytes
    }
}

private struct Redaction {
    /// The parts that were replaced.
    var secrets: Set<ByteString> = []

    /// nil if it cannot be shown.
    mutating func redacted(_ node: Document.Node) -> Document.Node? {
        switch node.value {
        case .null, .boolean, .integer: return node
        case .number(let number): return number.isFinite ? node : nil
        case .text(let text):
            return redacted(text).map { Document.Node(.text($0), at: node.place) }
        case .plain(let text):
            return redacted(text).map { Document.Node(.plain($0), at: node.place) }
        case .list(let list):
            var items: [Document.Node] = []
            for item in list.items {
                guard let item = redacted(item) else { return nil }
                items.append(item)
            }
            return Document.Node(.list(Document.List(items)), at: node.place)
        case .map(let map):
            var entries: [Document.Entry] = []
            for entry in map.entries {
                // A key is a name, which the status shows.
                guard redacted(entry.key) == entry.key, let value = redacted(entry.value) else {
                    return nil
                }
                entries.append(Document.Entry(key: entry.key, at: entry.place, value: value))
            }
            return Document.Node(.map(Document.Map(entries)), at: node.place)
        case .other: return nil
        }
    }

    private mutating func redacted(_ text: ByteString) -> ByteString? {
        guard let replaced = RedactedURL.replaced(text.string) else { return nil }
        for secret in replaced.secrets {
            secrets.insert(ByteString(secret))
            secrets.insert(ByteString(decoding: PercentEncoding.decoded(secret.utf8).bytes))
        }
        return ByteString(replaced.text)
    }
}

/// Looks for many texts at once. It may find one that is not there, which does no harm: it compares sums (Rabin and
/// Karp), one for each length of a text.
private struct SecretSearch {
    /// How many bytes are looked at, once for each length.
    private static let maximumWork = 256 << 20

    private var sums: [Int: Set<UInt64>] = [:]

    /// nil if the search would take too long.
    init?(_ secrets: Set<ByteString>, length: Int) {
        for secret in secrets {
            let bytes = Array(secret.utf8)
            sums[bytes.count, default: []].insert(bytes.reduce(0, Self.sum))
        }
        guard sums.count * length <= Self.maximumWork else { return nil }
    }

    private static func sum(_ sum: UInt64, _ byte: UInt8) -> UInt64 {
        sum &* 1_099_511_628_211 &+ UInt64(byte) &+ 1
    }

    func finds(in bytes: [UInt8]) -> Bool {
        sums.contains { length, wanted in Self.finds(length, wanted, bytes) }
    }

    private static func finds(_ length: Int, _ wanted: Set<UInt64>, _ bytes: [UInt8]) -> Bool {
        guard length > 0, length <= bytes.count else { return false }
        // What the first byte of a window has become in its sum.
        var power: UInt64 = 1
        for _ in 1..<length { power = power &* 1_099_511_628_211 }
        // A look into a set takes longer than all the rest, and most sums have no bit here.
        var bits = [UInt64](repeating: 0, count: 1 << 14)
        for sum in wanted { bits[Int(sum >> 50)] |= 1 << (sum >> 44 & 63) }
        return bytes.withUnsafeBufferPointer { bytes in
            var current: UInt64 = 0
            for index in bytes.indices {
                if index >= length { current &-= (UInt64(bytes[index - length]) &+ 1) &* power }
                current = sum(current, bytes[index])
                if index >= length - 1, bits[Int(current >> 50)] & 1 << (current >> 44 & 63) != 0,
                    wanted.contains(current)
                {
                    return true
                }
            }
            return false
        }
    }
}

extension Document.Node {
    /// Calls `body` with each key and each text.
    fileprivate func forEachText(_ body: (ByteString) -> Void) {
        switch value {
        case .text(let text), .plain(let text): body(text)
        case .list(let list): for item in list.items { item.forEachText(body) }
        case .map(let map):
            for entry in map.entries {
                body(entry.key)
                entry.value.forEachText(body)
            }
        default: break
        }
    }
}
