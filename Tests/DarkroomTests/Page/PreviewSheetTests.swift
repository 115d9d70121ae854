import Foundation
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomPage
@testable import DarkroomPicture
@testable import DarkroomSpool

/// The small copies of a batch: their log, their sheets, and how they are found for a page.
final class PreviewSheetTests: SpoolSuite {
    override init() throws {
        try super.init()
        try makeFolders()
    }

    private static func copy(
        _ mark: UInt8, width: Int = 96, height: Int = 64, isPair: Bool = true,
        orientation: Orientation = .topLeft
    ) -> EncodedPreview {
        EncodedPreview(
            facts: PreviewFacts(
                width: width, height: height, isPair: isPair, orientation: orientation,
                sourceWidth: 9 * width, sourceHeight: 9 * height),
            jpeg: [0xFF, 0xD8, mark, 0xFF, 0xD9])
    }

    private func add(_ index: Int, _ copy: EncodedPreview?, hasAfter: Bool = false) throws {
        try PreviewLog.add(index, before: copy, hasAfter: hasAfter, of: folders)
    }

    private func append(_ text: String) throws {
        let file = try spool.active.append(to: "x/previews")
        try file.write(Array(text.utf8), path: "previews")
    }

    private func lines() throws -> [(PreviewLog.Line, [UInt8])] {
        var result: [(PreviewLog.Line, [UInt8])] = []
        try PreviewLog.forEachLine(in: folders.active()) { line, base64 throws(FileError) in
            let jpeg = Data(base64Encoded: Data(base64)) ?? Data()
            result.append((line, Array(jpeg)))
        }
        return result
    }

    /// Makes a page, and gives what it finds.
    @discardableResult
    private func page(
        _ count: Int, isReduced: Bool = true
    ) throws -> [PagePreviews.Copies] {
        var result: [PagePreviews.Copies] = []
        try AnswerPage(of: folders).make { _, folders in
            var previews = try PagePreviews(in: folders, of: count) { true }
            result = (0..<count).map { previews.copies(of: $0, isReduced: isReduced) }
            previews.removeUnused()
        }
        return result
    }

    private func sheets() throws -> [FileName] {
        try Directory(path: "\(scratch.path)/outbox/x/page/previews").names()
            .filter(PreviewSheet.isName)
    }

    /// The JPEG that a sheet shows at a place.
    private func shown(_ place: PreviewSheet.Place?) throws -> [UInt8]? {
        guard let place else { return nil }
        let text = try scratch.text("outbox/x/page/previews/\(place.sheet.text)")
        let images = text.components(separatedBy: "data:image/jpeg;base64,").dropFirst()
        let image = try #require(images.dropFirst(place.copy).first)
        return Data(base64Encoded: String(image.prefix { $0 != "\"" })).map(Array.init)
    }

    @Test func eachImageHasALine() throws {
        #expect(try lines().isEmpty)
        try add(0, Self.copy(1))
        try add(123_456_789, Self.copy(2, width: 1, isPair: false, orientation: .leftBottom))
        try add(5, nil, hasAfter: true)
        let found = try lines()
        #expect(found.map(\.0.index) == [0, 123_456_789, 5])
        #expect(found.map(\.1) == [Self.copy(1).jpeg, Self.copy(2).jpeg, []])
        #expect(found[0].0.facts == Self.copy(1).facts)
        #expect(found[1].0.facts?.orientation == .leftBottom)
        #expect(found[2].0 == .init(index: 5, facts: nil, hasAfter: true))
    }

    /// What a kill or a full disk leaves, and what is none of ours.
    @Test(
        arguments: [
            "", "\n", "\n1", "\n1 96 64", "\n1 96 64 1 1 800 500 0 8 /9j/", "\n1 2 3\n",
            "\n1 96 64 1 9 800 500 0 4 AAAA\n", "\n1 96 64 1 1 800 500 0 -4 AAAA\n",
            "\n1 268435456 64 1 1 800 500 0 4 AAAA\n", "\nx 96 64 1 1 800 500 0 4 AAAA\n",
            "\n99999999999999999999 96 64 1 1 800 500 0 4 AAAA\n", "\u{0}\u{1}",
            // Markup, and Base64 of a wrong length.
            "\n1 96 64 1 1 800 500 0 4 \"/><\n", "\n1 96 64 1 1 800 500 0 3 AAA\n",
            "\n1 96 64 1 1 800 500 0 4 A===\n", "\n1 96 64 1 1 800 500 0 4 A=AA\n",
        ]) func aDamagedLineLosesItselfOnly(text: String) throws
    {
        try add(0, Self.copy(1))
        try append(text)
        try add(2, Self.copy(3))
        #expect(try lines().map(\.0.index) == [0, 2])
    }

    @Test func aLineWithoutAnEndHidesNoOther() throws {
        try add(0, Self.copy(1))
        try append(String(repeating: "A", count: 65 << 20))
        try add(2, Self.copy(3))
        #expect(try lines().map(\.0.index) == [0, 2])
    }

    @Test func linesOfUnknownImagesAreIgnored() throws {
        try add(0, Self.copy(1))
        try add(7, Self.copy(2))
        let place = try #require(try page(1).first?.before)
        #expect(try shown(place) == Self.copy(1).jpeg)
        let text = try scratch.text("outbox/x/page/previews/\(place.sheet.text)")
        #expect(text.components(separatedBy: "<image").count == 2)
    }

    /// More than is read at once.
    @Test func aLongLogIsRead() throws {
        var large = Self.copy(0)
        large = EncodedPreview(
            facts: large.facts, jpeg: [UInt8](repeating: 7, count: 300_000))
        for index in 0..<5 { try add(index, index % 2 == 0 ? large : Self.copy(UInt8(index))) }
        let found = try lines()
        #expect(found.map(\.0.index) == [0, 1, 2, 3, 4])
        #expect(found[2].1 == large.jpeg && found[3].1 == Self.copy(3).jpeg)
    }

    @Test func sheetsHaveAFewCopiesEach() throws {
        for index in 0..<40 {
            try add(index, Self.copy(UInt8(index), height: 40 + index, isPair: index % 3 > 0))
        }
        let found = try page(41)
        #expect(found[40].before == nil)
        #expect(try sheets().count == 3)
        for index in 0..<40 {
            #expect(try shown(found[index].before) == Self.copy(UInt8(index)).jpeg)
        }
        let link = try #require(found[17].before).link(.difference).text
        #expect(link.hasPrefix("previews/sheet-") && link.hasSuffix(".svg#difference-2"))
    }

    /// Or one, if it is large.
    @Test func aLargeCopyFillsASheet() throws {
        let small = Self.copy(1)
        let large = EncodedPreview(
            facts: small.facts, jpeg: [UInt8](repeating: 7, count: 60_000))
        for index in 0..<4 { try add(index, index == 1 ? small : large) }
        let found = try page(4)
        #expect(try sheets().count == 3)
        #expect(found.map { $0.before?.copy } == [0, 0, 1, 0])
        #expect(try shown(found[2].before) == large.jpeg)
    }

    /// The views of a sheet show its copies, and the differences below them.
    @Test func aViewIsAPartOfTheSheet() throws {
        try add(0, Self.copy(1, width: 30, height: 20, isPair: false))
        try add(1, Self.copy(2))
        try page(2)
        let name = try #require(try sheets().first)
        let text = try scratch.text("outbox/x/page/previews/\(name.text)")
        let lines = text.split(separator: "\n").map { line in
            line.replacing(/base64,[^"]*/, with: "base64,…")
        }
        #expect(
            lines == [
                "<svg xmlns=\"http://www.w3.org/2000/svg\">",
                "<!-- 1 1 30 20 0 1 270 180 2 96 64 1 1 864 576 -->",
                "<image y=\"0\" width=\"270\" height=\"180\" image-rendering=\"pixelated\" preserveAspectRatio=\"none\" href=\"data:image/jpeg;base64,…\"/>",
                "<view id=\"before-1\" preserveAspectRatio=\"none\" viewBox=\"0 0 270 180\"/>",
                "<image y=\"180\" width=\"864\" height=\"1296\" preserveAspectRatio=\"none\" href=\"data:image/jpeg;base64,…\"/>",
                "<view id=\"before-2\" preserveAspectRatio=\"none\" viewBox=\"0 180 864 576\"/>",
                "<view id=\"difference-2\" preserveAspectRatio=\"none\" viewBox=\"0 900 864 576\"/>",
                "</svg>",
            ])
    }

    /// An image that was filtered again, in the same sheet or in another one.
    @Test(arguments: [0, 20]) func theLastLineOfAnImageCounts(between: Int) throws {
        try add(0, Self.copy(1), hasAfter: true)
        for index in 1..<(between + 1) { try add(index, Self.copy(9)) }
        try add(0, Self.copy(2))
        let found = try page(1)
        #expect(try shown(found[0].before) == Self.copy(2).jpeg)
        #expect(!found[0].hasAfter)
    }

    /// After a restart the sheets are written again, and those of before are removed.
    @Test func noSheetOfAnEarlierAttemptStays() throws {
        try add(0, Self.copy(1))
        try scratch.write("<svg></svg>\n", "active/x/page/previews/sheet-0.svg")
        try page(1)
        #expect(try sheets().count == 1)
        #expect(try !sheets().contains("sheet-0.svg"))
    }

    /// After a retry: the copies of images that were not repeated, from the sheets of the page before, and all of an image
    /// from one page.
    @Test func anEarlierPageGivesWhatIsMissing() throws {
        for index in 0..<4 { try add(index, index == 3 ? nil : Self.copy(UInt8(index))) }
        for index in [0, 1, 3] {
            try scratch.write("old", "active/x/page/previews/\(index + 1).jpg")
        }
        try add(1, Self.copy(11), hasAfter: true)
        try page(4)
        try spool.active.remove("x/previews")
        try add(0, Self.copy(100))
        try scratch.write("new", "active/x/page/previews/5.jpg")
        try add(4, Self.copy(104), hasAfter: true)

        let found = try page(6)
        #expect(try shown(found[0].before) == Self.copy(100).jpeg)
        #expect(try shown(found[1].before) == Self.copy(11).jpeg)
        #expect(try shown(found[2].before) == Self.copy(2).jpeg)
        #expect(found[3].before == nil)
        #expect(try shown(found[4].before) == Self.copy(104).jpeg)
        #expect(found[5].before == nil)
        #expect(found.map(\.hasAfter) == [false, true, false, true, true, false])
        #expect(try sheets().count == 2)
    }

    /// The process ended when the page was in the outbox: the copies of large results are there, too.
    @Test func theCopiesOfResultsComeBackFromTheOutbox() throws {
        try add(0, Self.copy(1), hasAfter: true)
        try add(1, Self.copy(2), hasAfter: true)
        try scratch.write("1", "active/x/page/previews/1.jpg")
        try scratch.write("", "active/x/page/previews/2.jpg")
        for _ in 0..<2 {
            let found = try page(2)
            #expect(try shown(found[0].before) == Self.copy(1).jpeg)
            // An empty one, as a failure of the machine leaves it.
            #expect(found.map(\.hasAfter) == [true, false])
            #expect(try sheets().count == 1)
        }
    }

    @Test(
        arguments: [
            "", "<svg>", "<svg></svg>\n", "<svg>\n<!-- 2 1 96 64 1 1 800 500 -->\n</svg>\n",
            "<svg>\n<!-- 1 1 96 64 1 1 268435456 500 -->\n</svg>\n",
            "<svg>\n<!-- 1 1 96 64 1 1 800 -500 -->\n</svg>\n",
            "<svg>\n<!-- 1 1 96 64 1 1 800 -->\n</svg>\n",
            "<svg>\n<!-- 1 1 96 64 1 0 800 500 -->\n</svg>\n",
            "<svg>\n<!-- 1 1 96 64 1 1 800 500 -->\n<image y=\"0\"",
        ]) func anotherFileIsNoSheet(text: String)
    {
        #expect(PreviewSheet.places(in: Array(text.utf8), of: "sheet-1.svg") == nil)
    }

    @Test func aStopEndsTheWork() throws {
        try add(0, Self.copy(1))
        let error = #expect(throws: FileError.self) {
            try AnswerPage(of: folders).make { _, folders in
                _ = try PagePreviews(in: folders, of: 100) { false }
            }
        }
        #expect(error?.errno == .canceled)
    }
}
