import TestPictures
import Testing

@testable import DarkroomPicture

/// Files that are broken, too large or of a kind that is not read: each fails, with a code of its own.
struct JPEGDamageTests {
    static func maker(_ scans: JPEGMaker.Scans, channels: Int = 3) -> JPEGMaker {
        var maker = JPEGMaker.noise(width: 17, height: 9, channels: channels)
        maker.scans = scans
        return maker
    }

    @Test(arguments: JPEGMaker.Scans.allCases)
    func everyTruncationFails(scans: JPEGMaker.Scans) throws {
        var maker = Self.maker(scans)
        maker.early = [.jfif(unit: 0, x: 1, y: 1), .exif(orientation: 6)]
        let file = maker.encoded
        // Without the end-of-image marker all rows are complete.
        for count in 0..<file.count - 2 {
            let error = JPEGReader.failure(of: Array(file[..<count]))
            #expect(error?.kind == .jpegTruncated, "\(count) of \(file.count) bytes")
            #expect(error?.isTransient == false)
        }
    }

    /// Changes to a whole file, and what they come to.
    struct Damage: CustomTestStringConvertible {
        let name: String
        let code: PictureError.Code
        var scans = JPEGMaker.Scans.one
        var channels = 3
        var prepare: @Sendable (inout JPEGMaker) -> Void = { _ in }
        let change: @Sendable (inout [UInt8]) -> Void

        var file: [UInt8] {
            var maker = JPEGDamageTests.maker(scans, channels: channels)
            prepare(&maker)
            var file = maker.encoded
            change(&file)
            return file
        }

        var testDescription: String { name }
    }

    /// The place of a marker.
    static func place(_ marker: UInt8, in file: [UInt8]) -> Int {
        file.indices.first { file[$0] == 0xFF && $0 + 1 < file.count && file[$0 + 1] == marker }
            ?? 0
    }

    static let damages: [Damage] = [
        Damage(name: "data cut off before the end marker", code: .jpegData) { file in
            file.removeSubrange(file.count - 40..<file.count - 2)
        },
        Damage(name: "progressive data cut off", code: .jpegData, scans: .progressive) { file in
            file.removeSubrange(file.count - 40..<file.count - 2)
        },
        Damage(name: "bytes left over", code: .jpegData) { file in
            // Up to eight are gone with the bits that libjpeg reads ahead.
            file.insert(contentsOf: [UInt8](repeating: 1, count: 9), at: file.count - 2)
        },
        Damage(
            name: "bytes left over before a restart marker", code: .jpegData,
            prepare: { $0.restartInterval = 1 },
            change: { file in
                // Up to eight are gone with the bits that libjpeg reads ahead.
                file.insert(contentsOf: [UInt8](repeating: 1, count: 9), at: place(0xD1, in: file))
            }),
        Damage(name: "a code that there is not", code: .jpegData) { file in
            let data = place(0xDA, in: file) + 14
            file.replaceSubrange(data..<data + 8, with: [0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0])
        },
        Damage(
            name: "restart markers out of order", code: .jpegData,
            prepare: { $0.restartInterval = 1 },
            change: { file in file[place(0xD1, in: file) + 1] = 0xD5 }),
        Damage(
            name: "a component that never comes", code: .jpegData, scans: .apart,
            prepare: { $0.missingScans = [1] }, change: { _ in }),
        Damage(
            name: "progressive without its means", code: .jpegHeader, scans: .progressive,
            prepare: { $0.missingScans = [0] }, change: { _ in }),
        Damage(
            name: "a second frame of pixels", code: .jpegData,
            prepare: { $0.lastScanCount = 2 }, change: { _ in }),
        Damage(
            name: "scans without end", code: .jpegInvalid, scans: .apart,
            prepare: { $0.lastScanCount = 120 }, change: { _ in }),

        Damage(name: "no start", code: .jpegHeader) { file in file[0] = 0 },
        Damage(name: "a segment shorter than its length", code: .jpegHeader) { file in
            file.insert(contentsOf: [0xFF, 0xE5, 0, 1], at: 2)
        },
        Damage(name: "no rows", code: .jpegHeader) { file in
            file.replaceSubrange(
                place(0xC0, in: file) + 5..<place(0xC0, in: file) + 7, with: [0, 0])
        },
        Damage(name: "no columns", code: .jpegHeader) { file in
            file.replaceSubrange(
                place(0xC0, in: file) + 7..<place(0xC0, in: file) + 9, with: [0, 0])
        },
        Damage(name: "no quantisers", code: .jpegHeader) { file in
            file.removeSubrange(place(0xDB, in: file)..<place(0xDB, in: file) + 69)
        },
        // libjpeg takes the standard ones, as for the frames of Motion JPEG.
        Damage(name: "no codes", code: .jpegData) { file in
            file.removeSubrange(place(0xC4, in: file)..<place(0xC4, in: file) + 33)
        },
        Damage(name: "tables only", code: .jpegHeader) { file in
            file.removeSubrange(place(0xC0, in: file)..<file.count - 2)
        },
        Damage(name: "an end before the pixels", code: .jpegHeader) { file in
            file.removeSubrange(place(0xDA, in: file)..<file.count - 2)
        },

        Damage(name: "two components", code: .jpegUnsupported, channels: 2) { _ in },
        Damage(name: "12 bits", code: .jpegUnsupported) { file in
            file[place(0xC0, in: file) + 4] = 12
        },
        Damage(
            name: "lossless", code: .jpegUnsupported, prepare: { $0.frameMarker = 0xC3 },
            change: { _ in }),
        Damage(
            name: "hierarchical", code: .jpegUnsupported, prepare: { $0.frameMarker = 0xC5 },
            change: { _ in }),
        Damage(name: "wider than libjpeg takes", code: .tooManyPixels) { file in
            let size = place(0xC0, in: file) + 5
            file.replaceSubrange(size..<size + 4, with: [0, 1, 0xFF, 0xFF])
        },
    ]

    @Test(arguments: damages)
    func damageFails(_ damage: Damage) throws {
        let error = try #require(JPEGReader.failure(of: damage.file))
        #expect(error.kind == damage.code, "\(error.message)")
        #expect(error.message.hasPrefix("x.jpg: "))
        #expect(!error.isTransient)
    }

    /// What libjpeg would only warn of, and what changes no pixel.
    typealias Remark = (words: String, change: @Sendable (inout [UInt8]) -> Void)
    static let remarks: [Remark] = [
        (
            "Invalid SOS parameters for sequential JPEG (libjpeg)",
            // Behind the number of components and two bytes for each: some encoders write zeros.
            { file in file[place(0xDA, in: file) + 4 + 1 + 2 * 3 + 1] = 0 }
        ),
        (
            "JFIF of an unknown revision, 2.01",
            { file in
                var jfif = JPEGSegment.jfif(unit: 0, x: 1, y: 1).bytes
                jfif.replaceSubrange(9..<11, with: [2, 1])
                file.insert(contentsOf: jfif, at: 2)
            }
        ),
        (
            "Unknown Adobe color transform code 7 (libjpeg)",
            { file in
                let adobe = JPEGSegment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 7])
                file.insert(contentsOf: adobe.bytes, at: 2)
            }
        ),
    ]

    @Test(arguments: remarks.indices) func harmlessRemarksAreNoDamage(number: Int) throws {
        let maker = Self.maker(.one)
        var file = maker.encoded
        Self.remarks[number].change(&file)
        let (bytes, reader) = try JPEGReader.pixels(of: file)
        #expect(bytes == (try JPEGReader.pixels(of: maker.encoded).bytes))
        #expect(reader.warnings == [Self.remarks[number].words])
    }

    @Test func whatFollowsTheEndIsWarnedOf() throws {
        let maker = Self.maker(.one)
        let (bytes, reader) = try JPEGReader.pixels(of: maker.encoded + [0, 0, 0])
        #expect(largestDifference(bytes, maker.samples) <= 2)
        #expect(reader.warnings == ["there are more bytes after the end of the picture"])
    }

    /// A few bytes may announce 4 gigapixels.
    @Test func sizesAreCheckedFirst() throws {
        var file = Self.maker(.one).encoded
        let size = Self.place(0xC0, in: file) + 5
        file.replaceSubrange(size..<size + 4, with: [0xEA, 0x60, 0xEA, 0x60])
        let error = try #require(JPEGReader.failure(of: file))
        #expect(error.kind == .tooManyPixels)
        #expect(error.message.hasPrefix("x.jpg: reading the header: 60000 × 60000 pixels"))
        let limits = PictureLimits { $0.side = 16 }
        #expect(
            JPEGReader.failure(of: Self.maker(.one).encoded, limits: limits)?.kind == .tooManyPixels
        )
    }

    /// 17 × 9 pixels are 4 × 2 blocks of 136 bytes, for each component: rows have a multiple of four.
    @Test(arguments: [JPEGMaker.Scans.apart, .progressive])
    func wholePicturesAreCounted(scans: JPEGMaker.Scans) throws {
        var limits = PictureLimits()
        limits.wholePictureBytes = 3 * 4 * 2 * 136
        let maker = Self.maker(scans)
        let (bytes, _) = try JPEGReader.pixels(of: maker.encoded, limits: limits)
        #expect(largestDifference(bytes, maker.samples) <= 2)
        limits.wholePictureBytes -= 1
        #expect(JPEGReader.failure(of: maker.encoded, limits: limits)?.kind == .tooManyPixels)
        // One in a single scan holds a few rows.
        _ = try JPEGReader.pixels(of: Self.maker(.one).encoded, limits: limits)
    }

    /// A wrong bit anywhere is found or makes a picture of the same size; nothing else happens.
    @Test(arguments: JPEGMaker.Scans.allCases)
    func wrongBitsDoNoHarm(scans: JPEGMaker.Scans) throws {
        var limits = PictureLimits()
        limits.pixels = 1 << 16
        limits.wholePictureBytes = 1 << 20
        let file = Self.maker(scans).encoded
        var found = 0
        for place in stride(from: 0, to: file.count, by: 3) {
            var damaged = file
            damaged[place] ^= 1 << UInt8(place % 8)
            do {
                _ = try JPEGReader.pixels(of: damaged, limits: limits)
            } catch let error as PictureError {
                found += 1
                #expect(error.message.hasPrefix("x.jpg: "))
            }
        }
        #expect(found > file.count / 12)
    }
}
