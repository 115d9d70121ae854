import Testing

@testable import DarkroomCore

/// What the scanner reads, and what it leaves to a decoder, which may be less strict.
struct JSONScannerTests {
    private static func scan(_ text: String) -> (
        number: Int?, map: [String: String]?, list: [String]?, isWrong: Bool
    ) {
        Array(text.utf8).withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes)
            var number: Int?
            var map: [String: String]?
            var list: [String]?
            scanner.whole { scanner in
                number = scanner.int("a")
                map = scanner.strings("b")
                list = scanner.list("c")
            }
            return (number, map, list, scanner.isWrong)
        }
    }

    @Test func readsItsMembers() {
        let found = Self.scan(#" {"a": -10, "b" : {"x":"1","y":"2"},"c":["p", "q"]} "#)
        #expect(!found.isWrong && found.number == -10)
        #expect(found.map == ["x": "1", "y": "2"] && found.list == ["p", "q"])
    }

    @Test(arguments: ["{}", #"{"a":0}"#, #"{"b":{}}"#, #"{"c":[]}"#, #"{"a":-0,"c":[""]}"#])
    func membersMayBeAbsent(text: String) {
        #expect(!Self.scan(text).isWrong)
    }

    @Test(arguments: [
        #"{"a":1,}"#, #"{,"a":1}"#, #"{"a":1,,"c":[]}"#, #"{"b":{"x":"1",}}"#, #"{"b":{,}}"#,
        #"{"c":["p",]}"#, #"{"c":[,]}"#, #"{"c":["p" "q"]}"#, #"{"c":["p"}"#, #"{"a":01}"#,
        #"{"a":-00}"#, #"{"a":00}"#, #"{"a":}"#, #"{"a":-}"#, #"{"a":1.0}"#, #"{"a":1e3}"#,
        #"{"a":1}}"#, #"{"a":1"#, "", #"{"c":[],"a":1}"#, #"{"a":1234567890123456789}"#,
    ]) func isStrict(text: String) {
        #expect(Self.scan(text).isWrong)
    }
}
