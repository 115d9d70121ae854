import Foundation
import Testing

@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest

struct PropertyListReaderTests {
    /// Pictures by name and URL, as the tutorials on operations have them.
    private static let photos = [
        "Whirlpool": "https://pictures.example.org/m51.jpg",
        "Comet & tail": "https://pictures.example.org/comet.png?size=<large>",
        "Ásgarð": "https://pictures.example.org/%C3%A1.png",
        "Bubble": "https://pictures.example.org/ngc7635.png",
    ]

    /// What Foundation writes is what we read, in both formats.
    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func readsWhatFoundationWrites(format: PropertyListSerialization.PropertyListFormat) throws {
        let data = try PropertyListSerialization.data(
            fromPropertyList: Self.photos, format: format, options: 0)
        let manifest = try ManifestReader.read(
            Array(data), format: .plist, defaultFilters: [.sepia(intensity: 0.8)])
        #expect(manifest.images.map(\.name) == ["Bubble", "Comet & tail", "Whirlpool", "Ásgarð"])
        for image in manifest.images {
            #expect(
                image.origin
                    == .source(
                        SourceReference(ByteString(try #require(Self.photos[image.name.string])))))
            #expect(image.filters == [.sepia(intensity: 0.8)])
        }
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func readsAManifest(format: PropertyListSerialization.PropertyListFormat) throws {
        let long = ByteString(String(repeating: "ü", count: 300))
        let root: [String: Any] = [
            "priority": "low",
            "filters": ["mono", ["resize": ["width": 70000, "withoutEnlargement": true]]] as [Any],
            "images": [
                "a/one.png",
                ["name": "two", "from": "one", "filters": [["sepia": ["intensity": 0.25]]]]
                    as [String: Any],
                [
                    "name": "three", "source": long.string, "after": ["one", "two"],
                    "filters": [String](),
                ]
                    as [String: Any],
            ] as [Any],
        ]
        let data = try PropertyListSerialization.data(
            fromPropertyList: root, format: format, options: 0)
        let manifest = try ManifestReader.read(Array(data), format: .plist, defaultFilters: [])
        #expect(
            manifest
                == Manifest(
                    images: [
                        .init(
                            name: "one", origin: .source("a/one.png"),
                            filters: [
                                .mono, .resize(.init(width: 70000, withoutEnlargement: true)),
                            ]),
                        .init(name: "two", origin: .image(0), filters: [.sepia(intensity: 0.25)]),
                        .init(
                            name: "three", origin: .source(SourceReference(long)), after: [0, 1]),
                    ], priority: .low))
    }

    /// A value of `intensity` as Foundation writes it, and the problems with it. Booleans are
    /// numbers to Foundation, not to us.
    static let values: [(value: any Sendable, expected: [String])] = [
        (1, []), (0, []), (0.5, []), (Float(0.5), []), (true, ["wrong-type"]),
        (false, ["wrong-type"]), ("1", ["wrong-type"]), (2, ["out-of-range"]),
        (-1, ["out-of-range"]), (Int.min, ["out-of-range"]), (Int.max, ["out-of-range"]),
        (UInt64.max, ["out-of-range"]),
        (Double.nan, ["out-of-range"]), (-Double.infinity, ["out-of-range"]),
        (Date(timeIntervalSince1970: 0), ["wrong-type"]), (Data([1]), ["wrong-type"]),
        ([Int](), ["wrong-type"]), ([String: Int](), ["wrong-type"]),
    ]

    @Test(arguments: values.indices)
    func checksValuesOfBothFormats(index: Int) throws {
        let (value, expected) = Self.values[index]
        let root: [String: Any] = [
            "images": ["a"], "filters": [["sepia": ["intensity": value]]],
        ]
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let data = try PropertyListSerialization.data(
                fromPropertyList: root, format: format, options: 0)
            let found = problems(Array(data), .plist)
            #expect(found.map(\.code) == expected, "\(value)")
            #expect(found.allSatisfy { $0.path == "filters[0].sepia.intensity" })
            #expect(found.allSatisfy { ($0.line == nil) == (format == .binary) })
        }
    }

    private static func dict(_ entries: String) -> String { xml("<dict>\(entries)</dict>") }

    /// A property list's text and everything wrong with it.
    static let texts: [(String, [String])] = [
        ("", ["1:1 syntax"]),
        ("{ images = (a); }", ["1:1 syntax"]),
        ("( a, b )", ["1:1 syntax"]),
        ("bplist", ["syntax"]),
        ("bplist01" + String(repeating: "\0", count: 40), ["syntax"]),
        ("<html/>", ["1:1 syntax"]),
        ("<plist/>", ["1:9 syntax"]),
        ("<plist></plist>", ["1:8 syntax"]),
        ("<plist><dict/></plist>", ["1:8 no-images"]),
        ("<plist><array/></plist>", ["1:8 wrong-type"]),
        ("<plist><dict/><dict/></plist>", ["1:15 syntax"]),
        ("<plist><dict/></plist>x", ["1:23 syntax"]),
        ("<plist><dict></plist>", ["1:14 syntax"]),
        ("<plist><dict><string>a</string></dict></plist>", ["1:14 syntax"]),
        ("<plist><dict><key>a</key></dict></plist>", ["1:26 syntax"]),
        ("<plist><dict><key>a</dict>", ["1:20 syntax"]),
        ("<plist><dict><key>a", ["1:14 syntax"]),
        ("<plist><array><strin>a</strin></array></plist>", ["1:15 syntax"]),
        ("<plist><string id=\"1\">a</string></plist>", ["1:16 syntax"]),
        ("<plist><string>&nbsp;</string></plist>", ["1:16 syntax"]),
        ("<plist><string>&#xD800;</string></plist>", ["1:16 syntax"]),
        ("<plist><string>&#12</string></plist>", ["1:16 syntax"]),
        ("<plist><string><![CDATA[a</string></plist>", ["1:16 syntax"]),
        ("<plist><!-- a </plist>", ["1:8 syntax"]),
        ("<plist><integer>1.5</integer></plist>", ["1:8 syntax"]),
        ("<plist><integer/></plist>", ["1:8 syntax"]),
        ("<plist><real>one</real></plist>", ["1:8 syntax"]),
        ("<plist><true>1</true></plist>", ["1:8 syntax"]),
        ("<plist version='1.0", ["1:7 syntax"]),
        ("<?xml version='1.0' encoding=\"ISO-8859-1\"?><plist/>", ["1:1 syntax"]),
        ("<!DOCTYPE plist [<!ENTITY a 'b'>]><plist/>", ["1:1 syntax"]),
        (
            dict("<key>a</key><integer>1</integer><key>b</key><string>x</string>"),
            ["3:19 wrong-type a"]
        ),
        (
            dict("<key>a</key><string>x</string>\n<key>a</key><string>y</string>"),
            ["4:1 duplicate-key a"]
        ),
        (dict("<key>imags</key><array/>"), ["3:1 missing-key", "3:7 unknown-key imags → images"]),
        (dict("<key>images</key><array><date>x</date></array>"), ["3:31 wrong-type images[0]"]),
        (
            dict(
                "<key>images</key><array><string>a</string></array>"
                    + "<key>priority</key><string>x</string>"),
            ["3:76 unknown-value priority"]
        ),
    ]

    @Test(arguments: texts)
    func tellsEveryProblem(text: String, expected: [String]) {
        #expect(problems(text, .plist).map(summary) == expected)
    }

    @Test func readsXMLInAllItsWays() throws {
        let text = """
            \u{FEFF}<?xml version="1.0" encoding='utf-8'?><!-- made by hand -->
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0" note="a > b">
            <dict >
              <key>a&amp;&#98;<!-- c --><![CDATA[<d>]]></key><string>x&#x26;y</string>
              <!-- nothing --><key>e</key><string>é&quot;&apos;&lt;&gt;</string>
            </dict>
            </plist>
            """
        let images = try read(text, .plist).images
        #expect(images.map(\.name) == ["a&b<d>", "e"])
        #expect(images.map(\.origin) == [.source("x&y"), .source("é\"'<>")])
    }

    static let hostile: [String: (bytes: [UInt8], code: String)] = [
        "arrays in XML": (
            Array(xml(String(repeating: "<array>", count: 100_000)).utf8), "too-deep"
        ),
        "dictionaries in XML": (
            Array(xml(String(repeating: "<dict><key>a</key>", count: 100_000)).utf8), "too-deep"
        ),
        "values in XML": (
            Array(xml("<array>" + String(repeating: "<true/>", count: 200_000) + "</array>").utf8),
            "too-large"
        ),
        "entities in XML": (
            Array(
                ("<!DOCTYPE plist [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]>" + xml("<dict/>")).utf8),
            "syntax"
        ),
        "arrays": (binary((0..<100_000).map { [0xA1] + reference($0 + 1) } + [[0x09]]), "too-deep"),
        // The outer arrays come last, so each array's content is whole and shared when it is read.
        "arrays bottom up": (
            binary(
                [[0xAF, 0x12, 0, 0, 0, 100] + (1...100).reversed().flatMap { reference($0) }]
                    + (1..<100).map { [0xA1] + reference($0 + 1) } + [[0x09]]), "too-deep"
        ),
        "an array in itself": (binary([[0xA1] + reference(0)]), "syntax"),
        "two arrays in each other": (
            binary([[0xA1] + reference(1), [0xA1] + reference(0)]), "syntax"
        ),
        "laughs": (
            binary((0..<40).map { [0xA2] + reference($0 + 1) + reference($0 + 1) } + [[0x09]]),
            "too-many-aliases"
        ),
        "a dangling reference": (binary([[0xA1] + reference(7)]), "syntax"),
        "a long array": (binary([[0xAF, 0x13] + [UInt8](repeating: 0x7F, count: 8)]), "syntax"),
        "a long text": (binary([[0x5F, 0x12, 0x7F, 0, 0, 0]]), "syntax"),
        "a long integer": (binary([[0x1F, 0]]), "syntax"),
        "a length that is no number": (binary([[0x5F, 0x51, 0x61]]), "syntax"),
        "a key that is no text": (
            binary([[0xD1] + reference(1) + reference(1), [0x09]]), "syntax"
        ),
        "an unknown kind": (binary([[0xF0]]), "syntax"),
        "half a surrogate pair": (binary([[0x61, 0xD8, 0x00]]), "syntax"),
        "text that is not ASCII": (binary([[0x51, 0xE9]]), "syntax"),
        "many objects in one place": (overlapping, "syntax"),
        "an offset into the table": (binary([[0x09]], offset: 9), "syntax"),
        "an offset into the header": (binary([[0x09]], offset: 3), "syntax"),
        "a trailer of ones": (
            Array("bplist00".utf8) + [UInt8](repeating: 0xFF, count: 40), "syntax"
        ),
    ]

    @Test(arguments: hostile.keys.sorted())
    func refusesHostileFiles(what: String) async throws {
        let (bytes, code) = try #require(Self.hostile[what])
        let found = await onSmallStack {
            problems(bytes, .plist, limits: ManifestLimits(images: 1000))
        }
        #expect(found.map(\.code) == [code])
    }

    // MARK: Binary property lists by hand

    /// A reference of four bytes to the object of this number.
    private static func reference(_ number: Int) -> [UInt8] { bigEndian(number, count: 4) }

    private static func bigEndian(_ number: Int, count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    /// A file of these objects, the first of which is the root.
    ///
    /// - Parameters:
    ///   - offset: stands in place of every offset.
    ///   - width: the number of bytes of a reference.
    static func binary(_ objects: [[UInt8]], offset: Int? = nil, width: UInt8 = 4) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(offset ?? bytes.count)
            bytes += object
        }
        return bytes + end(offsets, at: bytes.count, width: width)
    }

    /// The table of the offsets, and the trailer.
    private static func end(_ offsets: [Int], at place: Int, width: UInt8 = 4) -> [UInt8] {
        offsets.flatMap { bigEndian($0, count: 4) } + [0, 0, 0, 0, 0, 0, 4, width]
            + [offsets.count, 0, place].flatMap { bigEndian($0, count: 8) }
    }

    /// An array of 10,000 objects, which the table says are one and the same text of 10,000 bytes.
    private static var overlapping: [UInt8] {
        let count = 10_000
        let text: [UInt8] =
            [0x5F, 0x12] + bigEndian(count, count: 4) + [UInt8](repeating: 0x61, count: count)
        let list: [UInt8] =
            [0xAF, 0x12] + bigEndian(count, count: 4) + (1...count).flatMap { reference($0) }
        let bytes = Array("bplist00".utf8) + list
        let offsets = [8] + Array(repeating: bytes.count, count: count)
        return bytes + text + end(offsets, at: bytes.count + text.count)
    }
}
