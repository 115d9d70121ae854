import Foundation
import Synchronization
import TestPictures
import TestSupport
import Testing

@testable import DarkroomPicture

extension PictureRows {
    /// The samples of all rows; checks that the rows follow each other.
    mutating func allSamples() throws(PictureError) -> [UInt8] {
        var (samples, taken) = ([UInt8](), 0)
        try forEachBand { lent, rows in
            precondition(rows.lowerBound == taken && !rows.isEmpty)
            taken = rows.upperBound
            for index in lent.indices { samples.append(lent[index]) }
        }
        precondition(taken == layout.height)
        return samples
    }
}

/// Rows as other packages read them.
struct PictureRowsTests {
    /// Of 16 bits they are loaded as numbers of the machine.
    @Test func samplesOf16BitsAreNumbers() throws {
        let maker = PNGMaker.noise(width: 9, height: 5, colourType: .rgba, depth: 16)
        let file = try PictureConverterTests.Folder(maker.encoded)
        var rows = try PictureRows(contentsOf: file.source)
        var numbers: [UInt16] = []
        try rows.forEachBand { samples, _ in
            for offset in stride(from: 0, to: samples.count, by: 2) {
                numbers.append(samples.bytes.unsafeLoad(fromByteOffset: offset, as: UInt16.self))
            }
        }
        #expect(numbers == maker.reference.samples)
    }

    /// What JPEG and PNG have that is not read, and files that are no pictures.
    @Test func refusesWhatItDoesNotRead() throws {
        let cases: [([UInt8], PictureError.Code)] = [
            (JPEGMaker.noise(width: 8, height: 8, channels: 2).encoded, .jpegUnsupported),
            (Array("8BPS".utf8) + [0, 1, 0, 0], .unsupportedFormat),
            (Array("<html>".utf8), .notAPicture), ([], .notAPicture),
        ]
        for (bytes, code) in cases {
            let file = try PictureConverterTests.Folder(bytes)
            let error = #expect(throws: PictureError.self) {
                _ = try PictureRows(contentsOf: file.source)
            }
            #expect(error?.kind == code)
            #expect(error?.code == code.rawValue)
            #expect(error?.isTransient == false)
            #expect(error?.message.hasPrefix("\(file.source): ") == true)
        }
    }

    @Test func turnsUprightUnlessItIsTold() throws {
        var maker = JPEGMaker.gradient(width: 16, height: 8, channels: 1)
        maker.early = [.exif(orientation: 6)]
        let file = try PictureConverterTests.Folder(maker.encoded)
        for (autoOrient, width, height) in [(true, 8, 16), (false, 16, 8)] {
            let rows = try PictureRows(contentsOf: file.source, autoOrient: autoOrient)
            let layout = rows.layout
            #expect(layout.width == width && layout.height == height)
        }
    }

    /// Filters change the layout, and are those of the pipeline.
    @Test func lendsFilteredRows() throws {
        let maker = PNGMaker.noise(width: 31, height: 23, colourType: .rgb, depth: 8)
        let file = try PictureConverterTests.Folder(maker.encoded)
        var rows = try PictureRows(
            contentsOf: file.source,
            filters: [.crop(x: 3, y: 4, width: 10, height: 5), .mono, .opacity(amount: 0.5)])
        let layout = rows.layout
        #expect(layout == PixelLayout(width: 10, height: 5, channels: 2, depth: 8))
        let (expected, _) = try PictureSteps(filters: [
            .crop(.rectangle(x: 3, y: 4, width: 10, height: 5)), .mono, .opacity(amount: 0.5),
        ]).run(maker.encoded)
        #expect(try rows.allSamples() == PNGDecoder.decode(expected).bytes)
    }

    /// Also where it lies behind the rows that the filters need, and again when it is asked again.
    @Test func damageIsThrownWhereverItLies() throws {
        let whole = PNGMaker.noise(width: 16, height: 16, colourType: .rgb, depth: 8).encoded
        let file = try PictureConverterTests.Folder(Array(whole.dropLast(20)))
        var rows = try PictureRows(
            contentsOf: file.source, filters: [.crop(x: 0, y: 0, width: 16, height: 1)])
        for _ in 0..<2 {
            do {
                _ = try rows.allSamples()
                Issue.record("the file is whole")
            } catch {
                #expect(error.kind == .pngTruncated)
                #expect(error.message.hasPrefix("\(file.source): reading "))
                #expect(error.localizedDescription == error.message)
                #expect("\(error)" == "\(error.message) [png-truncated]")
            }
        }
    }

    @Test func afterTheLastRowNothingComesAnyMore() throws {
        let maker = PNGMaker.noise(width: 2, height: 2, colourType: .gray, depth: 8)
        let file = try PictureConverterTests.Folder(maker.encoded)
        var rows = try PictureRows(contentsOf: file.source)
        var seen: [Range<Int>] = []
        for isLent in [true, false, false] {
            let found = try rows.next { seen.append($1) }
            #expect(found == isLent)
        }
        #expect(seen == [0..<2])
    }

    @Test func limitsAreKept() throws {
        let file = try PictureConverterTests.Folder(
            PNGMaker.noise(width: 31, height: 23, colourType: .rgb, depth: 8).encoded)
        var limits = PictureLimits()
        limits.pixels = 31 * 23
        _ = try PictureRows(contentsOf: file.source, limits: limits)
        limits.pixels -= 1
        expectFailure(.tooManyPixels) {
            _ = try PictureRows(contentsOf: file.source, limits: limits)
        }
    }

    static let badLimits: [(@Sendable (inout PictureLimits) -> Void, String)] = [
        ({ $0.pixels = 0 }, "limits: pixels must be 1 to 34359738352, not 0"),
        ({ $0.side = .max }, "limits: side must be 1 to 2147483647, not \(Int.max)"),
        (
            { $0.wholePictureBytes = -1 },
            "limits: wholePictureBytes must be 0 to 1125899906842624, not -1"
        ),
        ({ $0.ancillaryBytes = 0 }, "limits: ancillaryBytes must be 1 to 2147483647, not 0"),
    ]

    @Test(arguments: badLimits.indices) func limitsOfNoUseAreRefused(index: Int) {
        let (change, message) = Self.badLimits[index]
        #expect(throws: PictureError(.invalidArguments, message)) {
            _ = try PictureRows(contentsOf: "not-there.png", limits: PictureLimits(change))
        }
    }

    // MARK: Files

    @Test func saysWhatIsWrongWithTheFile() throws {
        let scratch = try ScratchDirectory()
        let missing = scratch.path + "/missing.png"
        let cases = [
            (missing, "\(missing): opening the file: No such file or directory"),
            (scratch.path, "\(scratch.path): opening the file: it is not a regular file"),
            ("/dev/null", "/dev/null: opening the file: it is not a regular file"),
            ("a.png\0b", "a.png\0b: opening the file: Invalid argument"),
        ]
        for (path, message) in cases {
            #expect(throws: PictureError(.readFailed, message)) {
                _ = try PictureRows(contentsOf: path)
            }
        }
    }

    /// Such as one in memory.
    @Test func readsAFileWithoutAName() throws {
        let maker = PNGMaker.noise(width: 9, height: 5, colourType: .rgb, depth: 8)
        let file = try UnnamedFile(maker.encoded)
        var rows = try PictureRows(contentsOf: "/dev/fd/\(file.descriptor.rawValue)")
        #expect(try rows.allSamples() == maker.reference.bytes)
    }

    /// A pipe that nobody writes to is not waited for.
    @Test func refusesAPipe() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/pipe"
        #expect(mkfifo(path, 0o600) == 0)
        #expect(
            throws: PictureError(.readFailed, "\(path): opening the file: it is not a regular file")
        ) { _ = try PictureRows(contentsOf: path) }
    }

    @Test func isCancelledBetweenBands() throws {
        let file = try PictureConverterTests.Folder(
            PNGMaker.noise(width: 600, height: 600, colourType: .rgb, depth: 8).encoded)
        let asked = Atomic(0)
        var rows = try PictureRows(
            contentsOf: file.source,
            isCancelled: { asked.add(1, ordering: .relaxed).newValue > 2 })
        expectFailure(.cancelled) { try rows.allSamples() }
    }

    /// By itself the task decides.
    @Test func endsWithItsTask() async throws {
        let file = try PictureConverterTests.Folder(
            PNGMaker.noise(width: 8, height: 8, colourType: .rgb, depth: 8).encoded)
        let kind = await Task { () -> PictureError.Code? in
            withUnsafeCurrentTask { $0?.cancel() }
            do throws(PictureError) {
                var rows = try PictureRows(contentsOf: file.source)
                try rows.forEachBand { _, _ in }
                return nil
            } catch {
                return error.kind
            }
        }.value
        #expect(kind == .cancelled)
    }
}
