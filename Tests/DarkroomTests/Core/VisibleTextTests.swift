import DarkroomCore
import Testing

struct VisibleTextTests {
    @Test(arguments: [
        ("a b", "a b"), ("a\nb", "a\\nb"), ("a\tb", "a\\tb"), ("\u{1B}[31m", "\\u{1B}[31m"),
        ("gnp.\u{202E}exe", "gnp.\\u{202E}exe"), ("\u{85}\u{2028}", "\\u{0085}\\u{2028}"),
        ("日本", "日本"),
    ])
    func showsControlCharacters(text: String, result: String) {
        #expect(text.visible == result)
    }

    @Test(arguments: [
        ("holiday", "holiday"), ("a b", "'a b'"), ("", "''"), ("it's", "'it'\\''s'"),
        ("-f", "'-f'"),
        ("ferien-é", "ferien-é"), ("a;b", "'a;b'"), ("a#b", "'a#b'"), ("~", "'~'"),
    ])
    func quotesForAShell(text: String, result: String) {
        #expect(text.shellQuoted == result)
    }
}
