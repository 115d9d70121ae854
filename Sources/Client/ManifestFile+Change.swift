import DarkroomCore
import DarkroomManifest

/// Changes one key in the text of a manifest, and nothing else.
extension ManifestFile {
    /// A key with its new value, and the option that demands it.
    package struct Change: Sendable {
        let option: String
        let key: String
        let value: ManifestValue
        let apply: @Sendable (inout Manifest) -> Void

        package static func priority(_ priority: Priority) -> Change {
            Change(option: "--priority", key: "priority", value: .text(priority.rawValue)) {
                $0.priority = priority
            }
        }

        package static let page = Change(option: "--page", key: "page", value: .boolean(true)) {
            $0.wantsPage = true
        }
    }

    /// The file with this change.
    ///
    /// - Parameters:
    ///   - manifest: what the text means; it is changed, too.
    ///   - finder: with which it means this.
    /// - Throws: if the text has a form in which the change is not clear.
    package func with(
        _ change: Change, of manifest: inout Manifest, _ rules: ManifestRules,
        finder: SourceFinder = .none
    ) throws(ClientError) -> ManifestFile {
        var wanted = manifest
        change.apply(&wanted)
        if wanted == manifest { return self }
        // The text is read again, so that a mistake here cannot change anything else.
        guard let changed = edited(change, rules).map(with),
            case .success(wanted) = changed.check(rules, finder: finder)
        else {
            throw ClientError(
                .usage, code: "bad-\(change.key)",
                "\(shown): \(change.option) cannot change this file; write ‘\(change.key)’ into it")
        }
        manifest = wanted
        return changed
    }

    package func with(_ bytes: [UInt8]) -> ManifestFile { ManifestFile(bytes, like: self) }

    private func edited(_ change: Change, _ rules: ManifestRules) -> [UInt8]? {
        let budget = NodeBudget(images: rules.limits.images)
        let root: Document.Node?
        switch format {
        case .json: root = try? JSONReader.read(bytes, budget: budget)
        case .yaml: root = try? YAMLReader.read(bytes, budget: budget)
        case .plist: return nil
        }
        guard let root, case .map(let map) = root.value else { return nil }
        let quoted = change.value.inline(.json)
        if let value = map[ByteString(change.key)] { return replacing(value.place, with: quoted) }
        guard let start = offset(of: root.place) else { return nil }
        if bytes[start] == UInt8(ascii: "{") {
            let entry = "\"\(change.key)\": \(quoted), "
            return Array(bytes[...start]) + Array(entry.utf8) + bytes[(start + 1)...]
        }
        // A map of YAML without braces: its first key gets a line before it.
        guard let first = map.entries.first?.place, let start = offset(of: first) else {
            return nil
        }
        let indentation = String(repeating: " ", count: Int(first.column) - 1)
        let line = "\(change.key): \(change.value.inline(.yaml))\n\(indentation)"
        return Array(bytes[..<start]) + Array(line.utf8) + bytes[start...]
    }

    /// Replaces a word at a place, with its quotes.
    private func replacing(_ place: Document.Place, with quoted: String) -> [UInt8]? {
        guard let start = offset(of: place) else { return nil }
        let rest = bytes[start...]
        let end: Int
        if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            guard let closing = rest.dropFirst().firstIndex(of: quote) else { return nil }
            end = closing + 1
        } else {
            end = rest.firstIndex { !($0 | 0x20).isLowercaseLetter } ?? rest.endIndex
        }
        return Array(bytes[..<start]) + Array(quoted.utf8) + bytes[end...]
    }

    private func offset(of place: Document.Place) -> Int? {
        guard var cursor = try? TextCursor(bytes) else { return nil }
        while !cursor.isAtEnd, cursor.place != place { cursor.advance() }
        return cursor.isAtEnd ? nil : cursor.index
    }
}

extension UInt8 {
    fileprivate var isLowercaseLetter: Bool { self &- UInt8(ascii: "a") < 26 }
}
