import DarkroomCore
import DarkroomManifest
import Foundation

/// Changes the sources in the text of a manifest, and nothing else.
extension ManifestFile {
    /// The sources as they are written, in their order.
    package func sources(_ rules: ManifestRules) -> [ByteString] {
        ManifestReader.sources(in: bytes, format, limits: rules.limits).map(\.text)
    }

    /// The same file as text: a binary property list becomes one of XML, which means the same; nil if it is broken.
    private var inText: ManifestFile? {
        guard bytes.starts(with: "bplist".utf8) else { return self }
        guard
            let list = try? PropertyListSerialization.propertyList(from: Data(bytes), format: nil),
            let text = try? PropertyListSerialization.data(
                fromPropertyList: list, format: .xml, options: 0)
        else { return nil }
        return with(Array(text))
    }

    /// The text with other sources. That of a binary property list is XML.
    ///
    /// - Parameter manifest: what the text means now.
    /// - Throws: if the text has a form in which this is not clear.
    package func bytes(
        replacing changes: [ByteString: ByteString], of manifest: Manifest, _ rules: ManifestRules
    ) throws(ClientError) -> [UInt8] {
        guard let first = changes.keys.min() else { return bytes }
        // The text is read again, so that a mistake here cannot change anything else.
        guard let changed = inText?.edited(changes, rules),
            case .success(let result) = ManifestFile(changed, like: self).check(rules),
            result == manifest.replacing(changes)
        else {
            throw ClientError(
                .usage, code: "bad-source",
                "\(shown): ‘\(first.string.visible)’ is beside the manifest, and submit cannot write its absolute path into this file",
                remedy:
                    "Nothing was submitted. Write absolute paths into it, or send the pictures along with --copy."
            )
        }
        return changed
    }

    private func edited(_ changes: [ByteString: ByteString], _ rules: ManifestRules) -> [UInt8]? {
        let sources = ManifestReader.sources(in: bytes, format, limits: rules.limits)
            .filter { changes[$0.text] != nil }
            .sorted { ($0.place.line, $0.place.column) < ($1.place.line, $1.place.column) }
        guard var cursor = try? TextCursor(bytes) else { return nil }
        var text: [UInt8] = []
        var copied = 0
        var last: Document.Place?
        for source in sources where source.place != last {
            last = source.place
            while !cursor.isAtEnd, cursor.place != source.place { cursor.advance() }
            guard let range = value(of: source, at: cursor.index),
                let new = changes[source.text]
            else { return nil }
            text += bytes[copied..<range.lowerBound]
            text +=
                format == .plist
                ? Self.escaped(new)
                : Array(ManifestValue.text(new.string).inline(.json).utf8)
            copied = range.upperBound
        }
        return text + bytes[copied...]
    }

    /// The bytes of a value whose text or tag begins at this byte; nil if its form is not known here.
    private func value(of source: WrittenSource, at start: Int) -> Range<Int>? {
        guard start < bytes.count else { return nil }
        switch format {
        case .plist: return element(at: start)
        case .json: return quoted(at: start)
        case .yaml:
            guard let start = afterProperties(start) else { return nil }
            if let range = quoted(at: start) { return range }
            // A plain one in several lines does not stand there as it is.
            let text = Array(source.text.utf8)
            return bytes[start...].starts(with: text) ? start..<(start + text.count) : nil
        }
    }

    /// Without the anchor and the tag of a value of YAML.
    private func afterProperties(_ start: Int) -> Int? {
        var index = start
        while bytes[index] == UInt8(ascii: "&") || bytes[index] == UInt8(ascii: "!") {
            guard let space = bytes[index...].firstIndex(where: Self.isSpace),
                let next = bytes[space...].firstIndex(where: { !Self.isSpace($0) })
            else { return nil }
            index = next
        }
        return index
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\n")
    }

    private func quoted(at start: Int) -> Range<Int>? {
        let quote = bytes[start]
        guard quote == UInt8(ascii: "\"") || format == .yaml && quote == UInt8(ascii: "'") else {
            return nil
        }
        let escapes = quote == UInt8(ascii: "\"")
        var index = start + 1
        while index < bytes.count {
            if escapes, bytes[index] == UInt8(ascii: "\\") {
                index += 2
            } else if bytes[index] != quote {
                index += 1
            } else if !escapes, index + 1 < bytes.count, bytes[index + 1] == quote {
                index += 2
            } else {
                return start..<(index + 1)
            }
        }
        return nil
    }

    /// The text between two tags of a property list.
    private func element(at start: Int) -> Range<Int>? {
        guard bytes[start] == UInt8(ascii: "<"),
            let open = bytes[start...].firstIndex(of: UInt8(ascii: ">")),
            let close = bytes[open...].firstRange(of: Array("</".utf8))
        else { return nil }
        return (open + 1)..<close.lowerBound
    }

    private static func escaped(_ text: ByteString) -> [UInt8] {
        text.utf8.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "&"): Array("&amp;".utf8)
            case UInt8(ascii: "<"): Array("&lt;".utf8)
            case UInt8(ascii: ">"): Array("&gt;".utf8)
            default: [byte]
            }
        }
    }
}
