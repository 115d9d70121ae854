import TestPictures
import Testing

@testable import DarkroomPicture

struct IPTCRecordTests {
    private static func kept(_ items: Set<MetadataChoice.Item>, _ keepsPlaces: Bool) -> [String]? {
        IPTCRecord(MetadataSample.iptc)?.kept(MetadataChoice(items, keepsPlaces: keepsPlaces))?
            .datasets.map { "\($0.record):\($0.number)" }
    }

    @Test func keepsWhatIsChosen() {
        let notices = ["1:90", "2:0", "2:80", "2:110", "2:116"]
        #expect(Self.kept([.copyright], true) == notices)
        #expect(Self.kept([.copyright], false) == notices)
        #expect(
            Self.kept([.iptc], true)
                == ["1:90", "2:0", "2:25", "2:80", "2:90", "2:101", "2:110", "2:116"])
        #expect(Self.kept([.iptc], false) == ["1:90", "2:0", "2:25", "2:80", "2:110", "2:116"])
        #expect(Self.kept([.exif, .xmp], true) == nil)
    }

    @Test func readsTexts() throws {
        let record = try #require(IPTCRecord(MetadataSample.iptc))
        #expect(record.bylines == ["Ann Ö"] && record.copyrightNotice == "© Ann")
        // Latin-1, which says nothing of itself.
        let latin = try #require(IPTCRecord([0x1C, 2, 80, 0, 2, 0x41, 0xD6]))
        #expect(latin.bylines == ["AÖ"])
        #expect(IPTCRecord(record.bytes) == record)
    }

    @Test func findsTheResourceAmongOthers() {
        let data = Array(MetadataSample.photoshop.data.dropFirst(14))
        #expect(PhotoshopResources.iptc(in: data) == MetadataSample.iptc)
        for count in data.indices {
            let found = PhotoshopResources.iptc(in: Array(data[..<count]))
            #expect(found == nil || found == MetadataSample.iptc)
        }
    }

    @Test func isReadUpToDamage() throws {
        for count in MetadataSample.iptc.indices {
            let record = IPTCRecord(Array(MetadataSample.iptc[..<count]))
            #expect(record.map { MetadataSample.iptc.starts(with: $0.bytes) } ?? (count < 8))
        }
        var random = SplitMix64(seed: 21)
        for _ in 0..<2000 {
            var bytes = MetadataSample.photoshop.data
            for _ in 0..<4 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                    UInt8.random(in: 0...255, using: &random)
            }
            let found = PhotoshopResources.iptc(in: Array(bytes.dropFirst(14)))
            let kept = found.flatMap(IPTCRecord.init)?.kept(
                MetadataChoice([.iptc], keepsPlaces: false))
            #expect(kept?.hasPlaces != true)
            #expect(kept?.bytes.count ?? 0 <= bytes.count)
        }
    }
}
