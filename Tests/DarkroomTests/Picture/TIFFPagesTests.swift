import Foundation
import TestPictures
import TestSupport
import Testing

@testable import DarkroomPicture

/// The pages of a TIFF are counted by the chain of its directories, as the program does that reads them.
struct TIFFPagesTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    private func count(
        _ bytes: [UInt8], pages: Int = TIFFPages.most, copies: Int = 100
    ) throws -> TIFFPages.Count {
        let url = scratch.url.appending(path: "x.tif")
        try Data(bytes).write(to: url)
        let file = try FileHandle(forReadingFrom: url)
        return TIFFPages.count(
            in: .init(rawValue: file.fileDescriptor),
            TIFFPages.Limit(pages: pages, copies: copies))
    }

    /// The number in the warning of the reader, whose program counts with libtiff; nil if it cannot read the file.
    private func counted(byReaderOf bytes: [UInt8]) -> Int? {
        let input = PictureDecoder.Input(.content(bytes), name: "x")
        guard let reader = try? PictureDecoder.reader(of: input) else { return nil }
        let word = reader.warnings.first { $0.hasPrefix("it has ") }?.split(separator: " ")[2]
        return word.flatMap { Int($0) } ?? 1
    }

    struct Sample: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let pages: Int
        var copies = 0
        /// Whether libtiff reads it at all.
        var isReadable = true
        /// Whether there should be one more page.
        var lacksOne = false

        init(
            _ words: String, _ pages: Int, copies: Int = 0, isReadable: Bool = true,
            lacksOne: Bool = false, _ maker: TIFFMaker, change: (inout [UInt8]) -> Void = { _ in }
        ) {
            testDescription = words
            var bytes = maker.bytes
            change(&bytes)
            self.bytes = bytes
            self.pages = pages
            self.copies = copies
            self.isReadable = isReadable
            self.lacksOne = lacksOne
        }
    }

    private static func maker(
        _ pages: Int, little: Bool = true, big: Bool = false, end: Int = 0
    ) -> TIFFMaker {
        var maker = TIFFMaker(pages: pages)
        maker.isLittleEndian = little
        maker.isBig = big
        maker.end = end
        return maker
    }

    private static let withCopies = TIFFMaker([
        .init(10), .init(20, kind: 1), .init(30, kind: 4), .init(40, kind: 2), .init(50, kind: 0),
    ])

    static let samples = [
        Sample("one page", 1, maker(1)),
        Sample("little endian", 3, maker(3)),
        Sample("big endian", 3, maker(3, little: false)),
        Sample("BigTIFF", 3, maker(3, big: true)),
        Sample("BigTIFF, big endian", 12, maker(12, little: false, big: true)),
        Sample("smaller copies and masks", 3, copies: 2, withCopies),
        Sample("only a smaller copy", 1, copies: 1, TIFFMaker([.init(10, kind: 1)])),
        Sample("back to the first", 3, maker(3, end: 8)),
        Sample("to itself", 3, maker(3, end: maker(3).place(of: 2))),
        Sample("outside of the file", 3, lacksOne: true, maker(3, end: 100_000)),
        Sample("at the last byte", 3, lacksOne: true, maker(3, end: maker(3).bytes.count - 1)),
        Sample("no place of the next", 1, maker(1)) { $0.removeLast(5) },
        Sample("no directory", 1, isReadable: false, maker(0)),
        Sample("the first outside", 1, isReadable: false, maker(0, end: 4_000_000_000)),
        Sample("BigTIFF: outside of all files", 1, isReadable: false, maker(0, big: true, end: -1)),
        Sample("a directory without entries", 2, lacksOne: true, maker(3)) { bytes in
            bytes[maker(3).place(of: 2)] = 0
        },
        Sample("too many entries", 2, lacksOne: true, maker(3)) { bytes in
            bytes[maker(3).place(of: 2) + 1] = 0x20
        },
        Sample("BigTIFF: places of another size", 1, isReadable: false, maker(3, big: true)) {
            $0[4] = 4
        },
    ]

    @Test(arguments: samples) func counts(sample: Sample) throws {
        let expected = sample.pages + (sample.lacksOne ? 1 : 0)
        #expect(try count(sample.bytes) == .pages(expected, copies: sample.copies))
        // The pixels of a file that is cut are missing, but not its pages.
        if sample.testDescription == "no place of the next" { return }
        #expect(counted(byReaderOf: sample.bytes) == (sample.isReadable ? sample.pages : nil))
        guard sample.lacksOne else { return }
        let lost = "page \(expected) cannot be read: the file is cut off or damaged there"
        let file = PictureInput.content(sample.bytes)
        let first = try PictureDecoder.reader(of: PictureDecoder.Input(file, name: "x", page: 1))
        #expect(first.warnings == [lost])
        #expect(throws: PictureError(.pictureTruncated, "x: reading the header: \(lost)")) {
            try PictureDecoder.reader(of: PictureDecoder.Input(file, name: "x", page: expected))
        }
    }

    /// The former tag says it, too; the last directory of a file may lack the place of the next.
    @Test func knowsTheFormerTag() throws {
        var bytes = TIFFMaker([.init(10), .init(20, kind: 2), .init(30)]).bytes
        let entry = TIFFMaker([.init(10)]).place(of: 1) + 2
        #expect(bytes[entry] == 254)
        bytes[entry] = 255
        #expect(try count(bytes) == .pages(2, copies: 1))
    }

    @Test(arguments: [
        [], [0x49], [0x49, 0x49, 42, 0], [0x49, 0x49, 42, 0, 8, 0, 0],
        Array("II*\u{0}".utf8) + [16, 0, 0, 0] + Array("CR".utf8) + [2, 0], CodecSamples.gif,
        Array("this is a text".utf8),
    ]) func otherFilesHaveOne(bytes: [UInt8]) throws {
        #expect(try count(bytes) == .one)
    }

    /// A directory may have more entries than the first piece that is read.
    @Test(arguments: [20, 21, 200, 4096]) func readsPastManyEntries(entries: Int) throws {
        func directory(next: Int) -> [UInt8] {
            var bytes = [UInt8(entries & 255), UInt8(entries >> 8)]
            for index in 0..<entries {
                bytes += [0, 1] + [UInt8](repeating: UInt8(index & 1), count: 10)
            }
            return bytes + (0..<4).map { UInt8(next >> (8 * $0) & 255) }
        }
        let head: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0]
        let first = directory(next: 8 + 2 + entries * 12 + 4)
        #expect(try count(head + first + directory(next: 0)) == .pages(2, copies: 0))
        // The entries of the second are not all there, and then there is no third.
        for missing in [5, 4] {
            let file = head + first + directory(next: 1 << 20).dropLast(missing)
            #expect(try count(file) == .pages(2, copies: 0))
        }
        #expect(try count(head + first + directory(next: 1 << 20)) == .pages(3, copies: 0))
    }

    /// A directory of one entry has 18 bytes. Directories may overlap, and so does a chain in a small file.
    @Test func endsAtTheLimits() throws {
        let maker = TIFFMaker(pages: TIFFPages.most + 1)
        #expect(try count(maker.bytes) == .tooMany)
        #expect(try count(TIFFMaker(pages: TIFFPages.most).bytes) == .pages(65_535, copies: 0))
        #expect(try count(maker.bytes, pages: 5) == .tooMany)
        #expect(try count(TIFFMaker(pages: 5).bytes, pages: 5) == .pages(5, copies: 0))
        let copies = TIFFMaker((0..<50).map { _ in .init(1, kind: 1) })
        #expect(try count(copies.bytes, copies: 49) == .tooManyCopies)
        #expect(try count(copies.bytes, copies: 50) == .pages(1, copies: 50))
    }

    /// A hole of any length takes no time: there is no directory in it, but there should be one.
    @Test func aSparseFileTakesNoTime() throws {
        var maker = TIFFMaker(pages: 2)
        maker.isBig = true
        maker.end = 1 << 40
        let url = scratch.url.appending(path: "sparse.tif")
        try Data(maker.bytes).write(to: url)
        let file = try FileHandle(forUpdating: url)
        try file.truncate(atOffset: 1 << 41)
        #expect(
            TIFFPages.count(
                in: .init(rawValue: file.fileDescriptor), TIFFPages.Limit(pages: 9, copies: 9))
                == .pages(3, copies: 0))
    }
}
