import DarkroomClient
import Foundation
import Testing

struct DisplayWidthTests {
    @Test(arguments: [
        ("", 0), ("holiday", 7), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한국", 4),
        ("\u{1112}\u{1161}\u{11AB}", 2),
        ("ｶﾅ", 2), ("Ａ", 2), ("🌠", 2), ("עברית", 5), ("हिन्दी", 5), ("ไทย", 3), ("ที่", 1), ("…", 1),
        ("a\u{200B}b", 2), ("👩\u{200D}🚀", 4), ("🇸🇪", 2), ("№", 1), ("\u{600}1", 2),
    ])
    func countsColumns(text: String, width: Int) {
        #expect(DisplayWidth.of(text) == width)
    }

    /// The C library's table may be of another version of Unicode, so these are blocks that no version changes.
    @Test(arguments: [
        0x20...0x7E, 0xA0...0x24F, 0x300...0x36F, 0x370...0x373, 0x400...0x52F, 0x5D0...0x5EA,
        0x600...0x605,
        0x610...0x6DD, 0x900...0x963, 0xE01...0xE3A, 0x1100...0x11FF, 0x1E00...0x1EFF,
        0x2010...0x2027,
        0x2190...0x23FA, 0x2500...0x2767, 0x2E80...0x2E99, 0x3000...0x3029, 0x3041...0x3096,
        0x30A0...0x30FF,
        0x4E00...0x9FA5, 0xA000...0xA48C, 0xAC00...0xD7A3, 0xF900...0xFA2D, 0xFF01...0xFFBE,
        0x1F300...0x1F64F,
        0x20000...0x2A6D6,
    ])
    func agreesWithTheCLibrary(block: ClosedRange<UInt32>) throws {
        let locale = try #require(newlocale(LC_CTYPE_MASK, "C.UTF-8", nil))
        let former = uselocale(locale)
        defer {
            uselocale(former)
            freelocale(locale)
        }
        // Swift's module of glibc does not have it.
        typealias Width = @convention(c) (wchar_t) -> CInt
        let width = unsafeBitCast(try #require(dlsym(nil, "wcwidth")), to: Width.self)
        let others = block.compactMap(Unicode.Scalar.init).filter {
            Int(width(wchar_t($0.value))) != DisplayWidth.of($0)
        }
        #expect(others.map { String($0.value, radix: 16) } == [])
    }

    @Test(arguments: [
        ("holiday", 7, "holiday"), ("holiday", 6, "holid…"), ("holiday", 1, "…"),
        ("holiday", 0, ""),
        ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"),
        ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"), ("🇸🇪🇸🇪", 3, "🇸🇪…"),
    ])
    func cutsAtWholeCharacters(text: String, width: Int, result: String) {
        #expect(Array(text.cut(to: width).utf8) == Array(result.utf8))
    }

    @Test(arguments: [
        ("ab", false, "ab  "), ("ab", true, "  ab"), ("日", false, "日  "), ("abcde", false, "abcde"),
    ])
    func pads(text: String, right: Bool, result: String) {
        #expect(text.padded(to: 4, right: right) == result)
    }
}
