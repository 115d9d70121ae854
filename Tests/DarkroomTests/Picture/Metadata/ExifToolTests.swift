import Foundation
import TestSupport
import Testing

@testable import DarkroomPicture

private enum ExifTool {
    static let path = "/usr/bin/exiftool"
    static let isThere = access(path, X_OK) == 0
}

/// Results as exiftool sees them, which knows the standards and what programs make of them.
@Suite(
    .enabled(if: ExifTool.isThere, "skipped: there is no exiftool (libimage-exiftool-perl)"))
struct ExifToolTests {
    /// What exiftool says of results, by the ways that made them.
    private static func found(
        _ choice: MetadataChoice, _ filters: [Filter] = []
    ) throws -> [(way: MetadataWaysTests.Way, tags: [String: Any])] {
        let folder = try ScratchDirectory()
        // Version 12 does not read JPEG XL without another program.
        let ways = MetadataWaysTests.Way.all.filter { $0.to != .jpegXL }
        for (number, way) in ways.enumerated() {
            let file = try MetadataWaysTests.run(way, choice, filters: filters).file
            let name = String(format: "%02d.", number) + way.to.rawValue
            try Data(file).write(to: folder.url.appending(path: name))
        }
        let (_, output) = try SystemProgram.run(
            ExifTool.path,
            ["-j", "-G1", "-a", "-n", "-validate", "-warning", "-all:all", folder.path])
        let parsed = try JSONSerialization.jsonObject(with: output)
        let tags = try #require(parsed as? [[String: Any]]).sorted {
            "\($0["SourceFile"] ?? "")" < "\($1["SourceFile"] ?? "")"
        }
        try #require(tags.count == ways.count)
        return zip(ways, tags).map { ($0, $1) }
    }

    /// What exiftool has against a file, except what it has against each TIFF of libtiff: the compression of 2002, the
    /// type of IPTC; and that a place has no method, which the source does not have either.
    private static func warnings(
        _ way: MetadataWaysTests.Way, _ tags: [String: Any]
    ) -> [String] {
        let known = ["0x0103 Compression", "0x83bb IPTC-NAA", "GPSProcessingMethod"]
        return tags.filter { $0.key.contains("Warning") }.map { "\($0.value)" }
            .filter { words in way.to != .tiff || !known.contains { words.contains($0) } }
    }

    @Test func allIsValid() throws {
        let all = MetadataChoice(Set(MetadataChoice.Item.allCases))
        let resize = Filter.resize(Filter.Resize(width: 15))
        for (way, tags) in try Self.found(all, [resize]) {
            #expect(Self.warnings(way, tags) == [], "\(way.testDescription)")
            #expect(tags["IFD0:Artist"] as? String == "Ann Ö", "\(way.testDescription)")
            #expect(tags["IFD0:Copyright"] as? String == "© Ann & Co")
            #expect(tags["IFD0:Orientation"] as? Int == 1)
            #expect(tags["XMP-dc:Creator"] as? [String] == ["Ann & Bob", "Cid"])
            #expect(tags["GPS:GPSLatitude"] as? Double == 47.5)
            #expect(tags["ExifIFD:ColorSpace"] as? Int == 1)
            #expect(tags["XMP-tiff:Orientation"] == nil)
            if way.to != .tiff {
                #expect(tags["ExifIFD:ExifImageWidth"] as? Int == 15)
                // In these, the container says the orientation, and the sample's is upright.
                let isUpright = [.avif, .tiff, .jpegXL].contains(way.from)
                #expect(tags["ExifIFD:ExifImageHeight"] as? Int == (isUpright ? 11 : 20))
            }
            #expect(!tags.keys.contains { $0.contains("Thumbnail") || $0.contains("Maker") })
        }
    }

    @Test func placesAreGone() throws {
        let choice = MetadataChoice(Set(MetadataChoice.Item.allCases), keepsPlaces: false)
        for (way, tags) in try Self.found(choice) {
            #expect(Self.warnings(way, tags) == [], "\(way.testDescription)")
            let places = tags.keys.filter { key in
                ["GPS", "City", "Location", "Country"].contains { key.contains($0) }
            }
            #expect(places == [], "\(way.testDescription)")
            #expect(tags["IFD0:Artist"] as? String == "Ann Ö")
        }
    }

    @Test func theCopyrightStays() throws {
        for (way, tags) in try Self.found(MetadataChoice([.copyright])) {
            #expect(Self.warnings(way, tags) == [], "\(way.testDescription)")
            #expect(tags["IFD0:Artist"] as? String == "Ann Ö")
            #expect(tags["XMP-dc:Rights"] as? String == "© Ann")
            #expect(tags["XMP-xmpRights:UsageTerms"] as? String == "Ask <me>")
            if [.jpeg, .tiff].contains(way.from), [.jpeg, .tiff].contains(way.to) {
                #expect(tags["IPTC:By-line"] as? String == "Ann Ö")
                #expect(tags["IPTC:Keywords"] == nil)
            }
            #expect(tags["IFD0:Make"] == nil && tags["XMP-dc:Subject"] == nil)
        }
    }
}
