import DarkroomCore
import Foundation

/// Kinds of settings: how a text becomes a number, a size, a time, a choice or a list.
extension Setting {
    /// In seconds.
    static let decade = 3650.0 * 86400

    static func integer(
        _ key: String, _ defaultValue: String, _ range: ClosedRange<Int>, _ help: String,
        _ path: WritableKeyPath<Configuration, Int> & Sendable
    ) -> Setting {
        Setting(key, defaultValue, help) { text, configuration throws(SettingError) in
            guard let value = Int(text), range.contains(value) else {
                throw SettingError(
                    expected: "a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            configuration[keyPath: path] = value
        }
    }

    static func bytes(
        _ key: String, _ defaultValue: String, _ range: ClosedRange<Int>, _ help: String,
        _ path: WritableKeyPath<Configuration, Int> & Sendable
    ) -> Setting {
        Setting(key, defaultValue, help) { text, configuration throws(SettingError) in
            guard let value = Quantity.bytes(text), range.contains(value) else {
                let correction = Quantity.correctedSize(text)
                let isTaken = correction.flatMap(Quantity.bytes).map(range.contains) == true
                throw SettingError(
                    expected: "a number of bytes such as 4096, 512KiB, 64MiB or 1GiB, from "
                        + "\(Quantity.text(bytes: range.lowerBound)) to "
                        + Quantity.text(bytes: range.upperBound),
                    correction: isTaken ? correction : nil)
            }
            configuration[keyPath: path] = value
        }
    }

    static func seconds(
        _ key: String, _ defaultValue: String, _ range: ClosedRange<Double>, _ help: String,
        _ path: WritableKeyPath<Configuration, Double> & Sendable
    ) -> Setting {
        Setting(key, defaultValue, help) { text, configuration throws(SettingError) in
            guard let value = Quantity.seconds(text), range.contains(value) else {
                let correction = Quantity.correctedTime(text)
                let isTaken = correction.flatMap(Quantity.seconds).map(range.contains) == true
                throw SettingError(
                    expected: "a time such as 500ms, 30s, 5min, 1h or 30d, from "
                        + "\(Quantity.text(seconds: range.lowerBound)) to "
                        + Quantity.text(seconds: range.upperBound),
                    correction: isTaken ? correction : nil)
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

    /// A YAML list of strings, or one string, which stands for a list of itself.
    static func list(_ text: String) throws(SettingError) -> [String] {
        do {
            return try ConfigurationFile.strings(yaml: text)
        } catch {
            throw SettingError(expected: "a list of texts such as [/srv/a, /srv/b]")
        }
    }

    /// The list that is meant by one text that has several entries, as in `/srv/a,/srv/b`; nil for any other text.
    static func several(
        in text: String, separators: String, isEntry: (String) -> Bool
    ) -> String? {
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
