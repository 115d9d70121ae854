import TestPictures
import Testing

@testable import DarkroomPicture

struct XMPTests {
    private static func kept(_ bytes: [UInt8], places: Bool = true) throws -> String? {
        try XMPScanner.read(bytes).kept(keepsPlaces: places).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test func losesWhatIsNotValid() throws {
        let text = try #require(try Self.kept(MetadataSample.xmp))
        for word in [
            "Thumbnails", "VEhV", "Orientation", "4000", "<!--", "ImageWidth", "PixelXDimension",
        ] {
            #expect(!text.contains(word), "\(word)")
        }
        for word in ["Rating=\"4\"", "GPSLatitude", "City='Bern'", "sea", "&#xA9; Ann", "Location"]
        {
            #expect(text.contains(word), "\(word)")
        }
        let again = Array(text.utf8)
        #expect(try XMPScanner.read(again).kept(keepsPlaces: true) == again)
    }

    @Test func losesPlaces() throws {
        let text = try #require(try Self.kept(MetadataSample.xmp, places: false))
        #expect(!text.contains("Bern") && !text.contains("GPS") && !text.contains("47"))
        #expect(text.contains("sea") && text.contains("Ann"))
    }

    /// Where a creature was found, in feeds, and in addresses.
    @Test(arguments: [
        ("http://rs.tdwg.org/dwc/terms/", "locality"), ("http://www.georss.org/georss", "point"),
        ("http://purl.org/dc/terms/", "spatial"), ("u:x", "Lat"), ("u:x", "verbatimCoordinates"),
        ("http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/", "CiAdrCity"),
    ]) func losesPlacesOfOtherNamespaces(space: String, name: String) throws {
        let packet = MetadataSample.xmp(
            "<rdf:Description xmlns:a=\"\(space)\" a:\(name)=\"Bern\" a:other=\"1\"/>")
        #expect(try Self.kept(packet)?.contains("Bern") == true)
        #expect(try Self.kept(packet, places: false)?.contains("Bern") != true)
    }

    /// A prefix means what its element says, and not what is usual.
    @Test func goesByNamespacesAndNotByPrefixes() throws {
        let packet = MetadataSample.xmp(
            #"<rdf:Description xmlns:a="http://ns.adobe.com/tiff/1.0/" xmlns:tiff="u:x" a:Orientation="6" tiff:Orientation="7"/>"#
        )
        let text = try #require(try Self.kept(packet))
        #expect(!text.contains("\"6\"") && text.contains("tiff:Orientation=\"7\""))
    }

    @Test func isNothingWithoutProperties() throws {
        let packet = MetadataSample.xmp(
            #"<rdf:Description rdf:about="" xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6"/>"#
        )
        #expect(try Self.kept(packet) == nil)
        #expect(try XMPScanner.read(Array("<a><b/></a>".utf8)).kept(keepsPlaces: true) == nil)
    }

    private static let form = "is not well-formed XML"

    private static let many: String = "<a>" + String(repeating: "<a/>", count: 20_000)

    private static let refused: [(String, String)] = [
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "has a declaration (DOCTYPE or another)"),
        ("<a><!ENTITY b 'c'></a>", "has a declaration (DOCTYPE or another)"),
        ("<a>&b;</a>", "refers to an entity"), ("<a b='&c;'/>", "refers to an entity"),
        ("<b:a/>", "has a name of an unknown namespace"), ("<a></b>", form),
        ("<a>", form), ("<a/><b/>", form),
        ("<a b=c/>", form), ("<a b='<'/>", form),
        ("<a b='1'c='2'/>", form), ("a", form),
        ("", form), ("<a>&#0;</a>", form),
        ("<a>&#xD800;</a>", form), ("<a>\u{1}</a>", "is not a text in UTF-8"),
        (String(repeating: "<a>", count: 100), "is nested too deeply"),
        (
            many,
            "has too many elements"
        ),
        (String(repeating: " ", count: 600_000), "is too large"),
    ]

    @Test(arguments: refused)
    func isRefused(text: String, words: String) {
        #expect(throws: XMPScanner.Damage(words: words)) {
            try XMPScanner.read(Array(text.utf8))
        }
    }

    @Test func readsReferencesAndSections() throws {
        let document = try XMPScanner.read(
            Array("<a b='&lt;&#65;'>x&amp;&#x42;<![CDATA[<c>&d;]]><e/>y</a>".utf8))
        #expect(document.elements[0].text == Array("x&B<c>&d;y".utf8))
        #expect(document.elements[0].attributes.map(\.value) == ["<A"])
        #expect(document.elements[1].parent == 0)
    }

    @Test func isRefusedInOtherEncodings() {
        let wide = Array("<a/>".utf16).flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        for bytes in [[0xFF, 0xFE] + wide, wide, [0x3C, 0x61, 0xFF, 0x2F, 0x3E]] {
            #expect(throws: XMPScanner.Damage(words: "is not a text in UTF-8")) {
                try XMPScanner.read(bytes)
            }
        }
        // A zero at the end is no encoding.
        #expect(throws: Never.self) { try XMPScanner.read(Array("<a/>\0\0".utf8)) }
    }

    @Test func aNoticeHasOnlyThat() throws {
        let document = try XMPScanner.read(MetadataSample.xmp)
        let packet = try #require(CopyrightNotice(document).packet)
        let text = String(decoding: packet, as: UTF8.self)
        #expect(text.contains("<rdf:li>Ann &amp; Bob</rdf:li><rdf:li>Cid</rdf:li>"))
        #expect(text.contains("<rdf:li xml:lang=\"x-default\">© Ann</rdf:li>"))
        #expect(text.contains("<xmpRights:Marked>True</xmpRights:Marked>"))
        #expect(text.contains("Ask &lt;me&gt;"))
        #expect(!text.contains("Bern") && !text.contains("sea") && !text.contains("Rating"))
        let again = try XMPScanner.read(packet)
        #expect(CopyrightNotice(again).packet == packet)
        #expect(CopyrightNotice(nil).packet == nil)
    }

    @Test func aNoticeTakesIPTC() throws {
        var notice = CopyrightNotice(nil)
        notice.add(try #require(IPTCRecord(MetadataSample.iptc)))
        let text = String(decoding: try #require(notice.packet), as: UTF8.self)
        #expect(text.contains("Ann Ö") && text.contains("© Ann") && text.contains("Agency"))
    }

    @Test func canBeCutAnywhere() {
        for count in MetadataSample.xmp.indices { check(Array(MetadataSample.xmp[..<count])) }
    }

    @Test func canBeDamagedAnywhere() {
        var random = SplitMix64(seed: 22)
        let marks = Array("<>&;/:\"'=!?-[] x".utf8)
        for _ in 0..<2000 {
            var bytes = MetadataSample.xmp
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] =
                    Bool.random(using: &random)
                    ? marks.randomElement(using: &random) ?? 0
                    : UInt8.random(in: 0...255, using: &random)
            }
            check(bytes)
        }
    }

    /// Whatever is kept can be read again, and has nothing that had to go.
    private func check(_ bytes: [UInt8]) {
        guard let document = try? XMPScanner.read(bytes) else { return }
        for packet in [document.kept(keepsPlaces: false), CopyrightNotice(document).packet] {
            guard let packet else { continue }
            guard let again = try? XMPScanner.read(packet) else {
                Issue.record("cannot be read again: \(String(decoding: packet, as: UTF8.self))")
                continue
            }
            #expect(!again.hasPlaces && !again.hasThumbnail)
        }
    }
}
