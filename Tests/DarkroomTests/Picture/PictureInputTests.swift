import SystemPackage
import TestPictures
import Testing

@testable import DarkroomPicture

/// A picture that is read from memory has the pixels, the remarks and the errors that its file has.
struct PictureInputTests {
    /// - Returns: how both were read.
    @discardableResult
    private func compare(
        _ bytes: [UInt8], divisor: Int = 1, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Reading {
        let file = try UnnamedFile(bytes)
        let expected = Reading(.file(file.descriptor), divisor: divisor)
        let found = Reading(.content(bytes), divisor: divisor)
        let areEqual = found == expected
        #expect(
            areEqual, "\(found.warnings) \(found.error?.message ?? "whole"), \(bytes.count) bytes",
            sourceLocation: sourceLocation)
        return found
    }

    @Test func saysWhyAFileCannotBeRead() throws {
        let folder = try FileDescriptor.open("/", .readOnly)
        defer { try? folder.close() }
        let input = PictureDecoder.Input(.file(folder), name: "x")
        let errors = try [
            #require(throws: PictureError.self) { try PNGReader(input) },
            #require(throws: PictureError.self) { try JPEGReader(input) },
        ]
        #expect(errors.allSatisfy { $0.kind == .readFailed && $0.isTransient })
        #expect(
            errors.map(\.message) == [
                "x: reading the first bytes: Is a directory",
                "x: reading the header: Is a directory",
            ])
    }

    @Test(arguments: PixelKind.all) func aPNGIsReadAsItsFile(kind: PixelKind) throws {
        var maker = kind.noise(width: 48, height: 24)
        maker.bytesPerIDAT = 150
        #expect(try compare(maker.encoded).error == nil)
    }

    @Test(arguments: PNGDamage.failing) func aBrokenPNGFailsAsItsFile(damage: PNGDamage) throws {
        let broken = try compare(damage.file(from: PNGDamageTests.maker()))
        #expect(broken.error?.kind == damage.code)
    }

    @Test(arguments: JPEGMaker.Scans.allCases, [1, 8])
    func aJPEGIsReadAsItsFile(scans: JPEGMaker.Scans, divisor: Int) throws {
        var maker = JPEGDamageTests.maker(scans)
        maker.early = [.jfif(unit: 0, x: 1, y: 1), .exif(orientation: 6)]
        #expect(try compare(maker.encoded, divisor: divisor).error == nil)
    }

    /// For most of them libjpeg takes over in the midst of the data, and reads them again.
    @Test(arguments: JPEGDamageTests.damages, [1, 8])
    func aBrokenJPEGFailsAsItsFile(damage: JPEGDamageTests.Damage, divisor: Int) throws {
        #expect(try compare(damage.file, divisor: divisor).error != nil)
    }

    @Test func everyTruncationFailsAsItsFile() throws {
        let files = [
            PNGDamageTests.maker().encoded, PNGDamageTests.maker(interlaced: true).encoded,
            JPEGDamageTests.maker(.one).encoded, JPEGDamageTests.maker(.progressive).encoded,
        ]
        for file in files {
            for count in file.indices {
                // A JPEG without its end-of-image marker has all rows.
                let isComplete = file.starts(with: [0xFF, 0xD8]) && count >= file.count - 2
                #expect((try compare(Array(file[..<count])).error == nil) == isComplete)
            }
        }
    }

    /// Bytes after the end give a remark. The largest content fills a reader's buffer.
    @Test(arguments: [1, 2000, PictureInput.mostBytes])
    func bytesAfterTheEndAreNoticed(count: Int) throws {
        for file in [PNGDamageTests.maker().encoded, JPEGDamageTests.maker(.one).encoded] {
            let rest = max(1, min(count, PictureInput.mostBytes - file.count))
            let found = try compare(file + [UInt8](repeating: 1, count: rest))
            #expect(found.error == nil && !found.warnings.isEmpty)
        }
    }

    /// Results of one picture begin it several times.
    @Test(arguments: [false, true]) func variantsAreThoseOfTheFile(isBroken: Bool) throws {
        let wishes = [100, 50, 25].map { width in
            PictureVariantsTests.Wish(
                filters: [.resize(Filter.Resize(width: width))],
                options: OutputOptions(format: .jpeg, quality: 82))
        }
        for scans in JPEGMaker.Scans.allCases {
            var maker = JPEGMaker.gradient(width: 200, height: 152, channels: 3)
            maker.scans = scans
            var source = maker.encoded
            try #require(source.count <= PictureInput.mostBytes)
            if isBroken { source[source.count / 2..<source.count / 2 + 40] = [] }
            let expected = try PictureVariantsTests.together(source, wishes)
            let found = try PictureVariantsTests.together(source, isContent: true, wishes)
            #expect(found == expected)
            #expect(expected.allSatisfy { ($0.error != nil) == isBroken })
        }
    }
}
