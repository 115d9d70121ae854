import DarkroomCore
import DarkroomManifest

/// Kinds of settings: how a text becomes a number, a size, a time, a choice or a list.
extension Setting {
    /// In seconds.
    static let decade = 3650.0 * 86400

    static func integer(
        _ key: String, _ defaultValue: String, _ range: ClosedRange<Int>, _ help: String,
        _ path: WritableKeyPath<Configuration, Int> & Sendable
    ) -> Setting {
        quantity(key, defaultValue, .count, range, help, path)
    }

    static func bytes(
        _ key: String, _ defaultValue: String, _ range: ClosedRange<Int>, _ help: String,
        _ path: WritableKeyPath<Configuration, Int> & Sendable
    ) -> Setting {
        quantity(key, defaultValue, .bytes, range, help, path)
    }

    static func seconds(
        _ key: String, _ defaultValue: String, _ range: ClosedRange<Double>, _ help: String,
        _ path: WritableKeyPath<Configuration, Double> & Sendable
    ) -> Setting {
        quantity(key, defaultValue, .seconds, range, help, path)
    }

    private static func quantity<Value>(
        _ key: String, _ defaultValue: String, _ kind: QuantityKind<Value>,
        _ range: ClosedRange<Value>, _ help: String,
        _ path: WritableKeyPath<Configuration, Value> & Sendable
    ) -> Setting {
        Setting(key, defaultValue, help) { text, configuration throws(SettingError) in
            guard let value = kind.value(text), range.contains(value) else {
                let correction = kind.corrected(text)
                let isTaken = correction.flatMap(kind.value).map(range.contains) == true
                throw SettingError(
                    expected: "\(kind.words) from \(kind.text(range.lowerBound)) to "
                        + kind.text(range.upperBound),
                    correction: isTaken ? correction : nil)
            }
            configuration[keyPath: path] = value
        }
    }

    static func boolean(
        _ key: String, _ defaultValue: String, _ help: String,
        _ path: WritableKeyPath<Configuration, Bool> & Sendable
    ) -> Setting {
        Setting(key, defaultValue, help) { text, configuration throws(SettingError) in
            guard let value = PlainScalar.boolean(ByteString(text)) else {
                throw SettingError(expected: "true or false")
            }
            configuration[keyPath: path] = value
        }
    }

    static func choice<Choice>(
        _ key: String, _ defaultValue: String, _ help: String,
        _ path: WritableKeyPath<Configuration, Choice> & Sendable
    ) -> Setting
    where Choice: RawRepresentable<String> & CaseIterable & Sendable {
        Setting(key, defaultValue, help) { text, configuration throws(SettingError) in
            guard let value = Choice(rawValue: text) else {
                let names = Choice.allCases.map(\.rawValue).joined(separator: " or ")
                throw SettingError(expected: names)
            }
            configuration[keyPath: path] = value
        }
    }

    /// A text; an empty one means none.
    ///
    /// - Parameter expected: what the text must be, in words.
    static func optional(
        _ key: String, _ help: String, _ expected: String, isURL: Bool = false,
        _ path: WritableKeyPath<Configuration, String?> & Sendable,
        isValid: @escaping @Sendable (String) -> Bool
    ) -> Setting {
        Setting(key, "", help, isURL: isURL) { text, configuration throws(SettingError) in
            guard text.isEmpty || isValid(text) else { throw SettingError(expected: expected) }
            configuration[keyPath: path] = text.isEmpty ? nil : text
        }
    }

    /// A YAML list of strings. A single string is a list with one element.
    static func list(_ text: String) throws(SettingError) -> [String] {
        do {
            return try ConfigurationFile.strings(yaml: text)
        } catch {
            throw SettingError(expected: "a list of texts such as [/srv/a, /srv/b]")
        }
    }

    /// The list that was probably meant by one text with several entries, such as `/srv/a,/srv/b`; nil for any other
    /// text.
    static func several(in text: String, separators: String, isEntry: (String) -> Bool) -> String? {
        let entries = text.split { separators.contains($0) || $0.isWhitespace }.map(String.init)
        guard entries.count > 1, entries.allSatisfy(isEntry) else { return nil }
        let texts = entries.map { entry in
            let isPlain =
                entry.first.map { $0.isLetter || $0.isNumber || $0 == "/" } == true
                && !entry.contains { ":#[]{}\"'".contains($0) }
            return isPlain ? entry : "\"\(entry)\""
        }
        return "[\(texts.joined(separator: ", "))]"
    }
}

/// A kind of number: how it is written, and its name in messages.
private struct QuantityKind<Value: Comparable & Sendable>: Sendable {
    /// The words before the range.
    let words: String
    let value: @Sendable (String) -> Value?
    /// The corrected text if its unit is written in a form that other programs use.
    var corrected: @Sendable (String) -> String? = { _ in nil }
    let text: @Sendable (Value) -> String
}

extension QuantityKind<Int> {
    static var count: Self { Self(words: "a whole number", value: { Int($0) }, text: { "\($0)" }) }

    static var bytes: Self {
        Self(
            words: "a number of bytes such as 4096, 512KiB, 64MiB or 1GiB,",
            value: Quantity.bytes, corrected: Quantity.correctedSize, text: Quantity.text(bytes:))
    }
}

extension QuantityKind<Double> {
    static var seconds: Self {
        Self(
            words: "a time such as 500ms, 30s, 5min, 1h or 30d,",
            value: Quantity.seconds, corrected: Quantity.correctedTime,
            text: Quantity.text(seconds:))
    }
}
