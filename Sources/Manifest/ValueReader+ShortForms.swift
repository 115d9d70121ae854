import DarkroomCore
import DarkroomPicture

/// Short forms of filters. There is one only where it has a single meaning.
///
/// | form                | means                                     |
/// |---------------------|-------------------------------------------|
/// | `filters: mono`     | `filters: [mono]`                         |
/// | `sepia: 0.8`        | its only parameter                        |
/// | `watermark: logo`   | its only required parameter               |
/// | `resize: 800`       | its width (`takesSides`)                  |
/// | `resize: 800x600`   | its width and its height                  |
/// | `thumbnail: 200`    | its size, and `fit: inside` (`companion`) |
extension ValueReader {
    /// Whether a value that is not a list is one filter: the name of a filter that needs no parameter, or a map from
    /// the name of a filter, which may be misspelt.
    static func isFilter(_ node: Document.Node) -> Bool {
        if case .map(let map) = node.value {
            guard let entry = map.entries.first, map.entries.count == 1 else { return false }
            if FilterCatalog.specification(named: entry.key) != nil { return true }
            // An unknown name is refused as that of a filter, unless a correction knows what else the map means.
            if case .list = entry.value.value { return false }
            return !entry.value.isNull && FilterCorrection.named(map) == nil
        }
        guard let name = node.text else { return false }
        return FilterCatalog.specification(named: name)?.standsAlone == true
    }

    /// The parameters for which a value without a name stands; nil if it does not have the type of any of them, or if
    /// there are several readings.
    static func shortForm(
        _ node: Document.Node, of specification: FilterSpecification
    ) -> [Document.Entry]? {
        if specification.takesSides, let text = node.text, let sides = sides(text) {
            func entry(_ name: ByteString, _ value: Int) -> Document.Entry {
                Document.Entry(
                    key: name, at: node.place,
                    value: Document.Node(.integer(value), at: node.place))
            }
            return [entry("width", sides.width), entry("height", sides.height)]
                + companion(of: specification, at: node.place)
        }
        guard let parameter = specification.mainParameter else { return nil }
        let fits =
            switch parameter.kind {
            case .number, .integer, .oneOf: node.number != nil
            // A number or a boolean in YAML, which could also be a name, is more likely to be a mistake.
            case .image, .colour, .choice:
                node.text != nil && node.number == nil && node.boolean == nil
            case .boolean: false
            }
        guard fits else { return nil }
        return [Document.Entry(key: ByteString(parameter.name), at: node.place, value: node)]
            + companion(of: specification, at: node.place)
    }

    private static func companion(
        of specification: FilterSpecification, at place: Document.Place
    ) -> [Document.Entry] {
        guard let (name, word) = specification.companion else { return [] }
        let value = Document.Node(.text(ByteString(word)), at: place)
        return [Document.Entry(key: ByteString(name), at: place, value: value)]
    }

    /// `800x600`: two decimal numbers without a sign, a space or a leading zero. `0x600` has a side of 0, it is not
    /// hexadecimal.
    private static func sides(_ text: ByteString) -> (width: Int, height: Int)? {
        guard text.utf8.count <= 40 else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "x"), omittingEmptySubsequences: false)
        guard parts.count == 2, let width = side(Array(parts[0])),
            let height = side(Array(parts[1]))
        else { return nil }
        return (width, height)
    }

    private static func side(_ digits: [UInt8]) -> Int? {
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit),
            digits.count == 1 || digits[0] != UInt8(ascii: "0")
        else { return nil }
        return Int(String(decoding: digits, as: UTF8.self))
    }
}

extension FilterSpecification {
    /// The parameter that a value without a name means; nil if it could mean several.
    fileprivate var mainParameter: FilterParameter? {
        if takesSides { return parameters.first }
        if parameters.count == 1 { return parameters[0] }
        let required = parameters.filter(\.isRequired)
        return required.count == 1 ? required[0] : nil
    }

    package var standsAlone: Bool {
        !parameters.contains(where: \.isRequired)
            && (try? make(FilterArguments([:], for: self))) != nil
    }
}
