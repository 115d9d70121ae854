import Foundation
import TestSupport
import Testing

@testable import DarkroomConfiguration
@testable import DarkroomCore
@testable import DarkroomFetch

/// Holds darkroomd.yaml(5) against the settings: an item of each, whose first line says kind, range and default. Its
/// configurations are read by `DocumentTests`.
struct ManualConfigurationTests {
    static let page = Result { try ManualPage("darkroomd.yaml.5") }

    private static func items() throws -> [ManualPage.Item] { try page.get().items("KEYS") }

    private static func accepts(_ setting: Setting, _ text: String) -> Bool {
        var configuration = Configuration()
        return (try? setting.apply(text, &configuration)) != nil
    }

    @Test func hasEverySettingAndNoOther() throws {
        let names = try Self.items().flatMap(\.names)
        #expect(Set(names) == Set(Setting.all.map(\.key)))
        #expect(names.count == Setting.all.count)
    }

    @Test(arguments: Setting.all.map(\.key))
    func saysKindDefaultAndVariableOf(key: String) throws {
        let setting = try #require(Setting.named(key))
        let item = try #require(try Self.items().first { $0.names == [key] })
        let parts = item.lines[0].split(separator: ";", maxSplits: 1).map(String.init)
        let defaultValue = setting.defaultValue.isEmpty ? "empty" : setting.defaultValue
        try #require(parts.count == 2)
        #expect(parts[1] == " default \(defaultValue);")
        #expect(item.lines[1] == ".Ev \(setting.variable) .")
        #expect(item.lines.count > 2, "it says nothing about what the key is for")
        #expect(Self.accepts(setting, setting.defaultValue))
        try Self.check(setting, kind: parts[0])
    }

    /// Tries the bounds of the kind, and what lies beyond.
    private static func check(_ setting: Setting, kind: String) throws {
        if let match = kind.wholeMatch(of: /(Whole number|Size|Time) from (\S+) to (\S+)/) {
            let bounds = [match.2, match.3]
            if match.1 == "Time" {
                let times = bounds.compactMap(seconds)
                try #require(times.count == 2)
                let below = times[0] > 0 ? "\(times[0] * 0.99)" : "-1"
                expect(
                    setting, takes: times.map { "\($0)" }, refuses: [below, "\(times[1] + 1)"])
            } else {
                let numbers = bounds.compactMap(match.1 == "Size" ? size : { Int($0) })
                try #require(numbers.count == 2)
                expect(
                    setting, takes: numbers.map(String.init),
                    refuses: ["\(numbers[0] - 1)", "\(numbers[1] + 1)"])
            }
        } else if kind.hasPrefix("One of ") {
            try checkChoice(setting, words: kind.dropFirst("One of ".count))
        } else {
            let (good, bad) = try #require(samples[kind], "a kind without a sample: \(kind)")
            expect(setting, takes: good, refuses: bad)
        }
    }

    /// What a setting of a kind without a range takes, and what it does not.
    private static let samples: [String: ([String], [String])] = [
        "Absolute path": (["/x"], ["x"]),
        "Absolute path that ends in .prom": (["/x.prom"], ["/x", "x.prom"]),
        "File": ([""], ["no-such-file"]),
        "URL": (["http://proxy.example.org:3128", "socks5h://p"], ["ftp://proxy", "http://p/x"]),
        "Name of a recipe": (["", "web-2.x"], ["a b", "../x"]),
        "List of absolute paths": (["[/a, /b]", "/a"], ["[a]"]),
        "List of names": (["[\"*-draft.jpg\", old]", "*.bak.jpg"], ["[a/b]", "[\"\"]"]),
        "List of filters": (["[mono, {blur: {sigma: 2}}]"], ["[momo]"]),
        "List of folders": (
            ["[{path: /a, recipe: web}, {path: /b, recipe: web, originals: move}]"], ["[/a]"]
        ),
        "List of networks": (["[10.0.0.0/8, \"fd00::/8\"]", "10.0.0.1"], ["[10.0.0.0/33]"]),
        "List of hosts": (["[a.example, \"*.example.org\"]", "::1"], ["[\"a b\"]"]),
    ]

    private static func expect(_ setting: Setting, takes good: [String], refuses bad: [String]) {
        for text in good { #expect(accepts(setting, text), "\(setting.key) refuses \(text)") }
        for text in bad { #expect(!accepts(setting, text), "\(setting.key) takes \(text)") }
    }

    /// The page has the words that the setting itself names where it refuses another one.
    private static func checkChoice(_ setting: Setting, words: Substring) throws {
        let listed = words.split(separator: ", ").map(String.init)
        var configuration = Configuration()
        let refusal = #expect(throws: SettingError.self) {
            try setting.apply("no-such-word", &configuration)
        }
        let known = refusal?.expected.split { !$0.isLetter && !$0.isNumber }.map(String.init) ?? []
        #expect(known.filter { !["one", "of", "or"].contains($0) } == listed)
        for word in listed { #expect(accepts(setting, word)) }
    }

    private static func size(_ text: Substring) -> Int? {
        let units = ["B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40]
        let digits = text.prefix(while: \.isNumber)
        return Int(digits).map { $0 * (units[String(text.dropFirst(digits.count))] ?? 1) }
    }

    private static func seconds(_ text: Substring) -> Double? {
        let units = ["ms": 0.001, "s": 1, "min": 60, "h": 3600, "d": 86400]
        let digits = text.prefix(while: \.isNumber)
        return Double(digits).map { $0 * (units[String(text.dropFirst(digits.count))] ?? 1) }
    }

    /// The names are in the manual, and no others.
    @Test func hasTheNamesThatAreLeftAlone() throws {
        let lines = try Self.page.get().lines
        let section = lines.drop { $0 != ".Sh NAMES THAT ARE LEFT ALONE" }.dropFirst()
            .prefix { !$0.hasPrefix(".Sh") }.drop { !$0.hasPrefix(".Bl") }
        let names = section.compactMap { line -> String? in
            guard let start = line.firstRange(of: ".Li ") ?? line.firstRange(of: "Li ") else {
                return nil
            }
            let text = String(line[start.upperBound...])
            return text.hasSuffix(" ,") ? String(text.dropLast(2)) : text
        }
        #expect(names.sorted() == IgnoredNames.table.flatMap(\.names).map(\.string).sorted())
    }

    @Test func itsHeadersAreGood() throws {
        let examples = try Self.page.get().examples("headers")
        #expect(examples.count == 1)
        for example in examples {
            let file = OriginHeadersFile(path: "headers.yaml", text: example.text)
            #expect(file.problems == [])
            #expect(file.headers != OriginHeaders())
        }
    }

    /// A key that is mentioned anywhere in the manual is one. Variables (`Va`) are the keys of other files.
    @Test(arguments: ManualPage.names)
    func mentionsKeysThatThereAre(page: String) throws {
        let sections = Set(Setting.all.compactMap { $0.key.split(separator: ".").first })
        var mentioned = 0
        for line in try ManualPage(page).lines where line.hasPrefix(".") {
            if line.hasPrefix(".Va ") || line.hasPrefix(".It Va ") { continue }
            for word in line.split(whereSeparator: { " ,;=".contains($0) }) {
                let parts = word.split(separator: ".")
                guard parts.count == 2, sections.contains(parts[0]), parts[0] != "spool",
                    parts[1].allSatisfy(\.isLetter), !["json", "yaml"].contains(parts[1])
                else { continue }
                mentioned += 1
                #expect(Setting.named(String(word)) != nil, "\(page): \(word)")
            }
        }
        #expect(mentioned > 0)
    }
}
