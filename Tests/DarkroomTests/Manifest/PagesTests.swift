import Synchronization
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomPicture

/// `pages: all`: an image for each page, what they are called, and what is refused.
struct PagesTests {
    /// Files with as many pages as the number in their names; `unknown` is not known here.
    private static let finder = SourceFinder.live { pattern, _ in
        pattern.text == "scans/*" ? .files(["scans/a.jpg", "scans/b3.tif"]) : .unknown
    } pages: { source, limit in
        if source == "unknown.tif" { return nil }
        if source == "copies.tif" { return .tooManyCopies }
        let count = Int(String(source.string.filter(\.isNumber))) ?? 1
        return count <= limit.pages ? .pages(count, copies: 1) : .tooMany
    }

    private static let recipes = RecipeBook(
        [
            ("all", "pages: all\n"), ("first", "pages: first\n"),
            ("sizes", "pages: all\nvariants: [{suffix: -s}, {suffix: -m}]\n"),
        ].compactMap { try? Recipe(named: $0, text: $1) })

    private static func read(
        _ text: String, images: Int = 100, with finder: SourceFinder = finder
    ) throws(ManifestRejection) -> Manifest {
        try DarkroomManifestTests.read(
            text, .yaml, limits: ManifestLimits(images: images), defaults: [], recipes: recipes,
            finder: finder)
    }

    /// The names of images, with their pages.
    @Test(
        arguments: pairs(
            #"""
            pages: all\nimages: [x3.tif] ⇒ x3-1 1, x3-2 2, x3-3 3
            images: [{source: x2.tif, pages: all}, x2.tif] ⇒ x2-1 1, x2-2 2, x2
            pages: all\nimages: [a.jpg] ⇒ a
            pages: all\nimages: [{source: x3.tif, pages: first}] ⇒ x3
            pages: first\nimages: [x3.tif] ⇒ x3
            // What chooses a page needs no others.
            pages: all\nimages: [{source: x3.tif, page: 2}] ⇒ x3 2
            // A name that somebody has given.
            images: {book: {source: x2.tif, pages: all}} ⇒ book-1 1, book-2 2
            pages: all\nimages: [{name: book.png, source: x2.tif}] ⇒ book-1.png 1, book-2.png 2
            pages: all\nimages: [{name: book, source: a.tif}, {name: c, from: book}] ⇒ book, c
            // A folder with both.
            pages: all\nimages: [scans/*] ⇒ a, b3-1 1, b3-2 2, b3-3 3
            // The suffix of a variant comes last.
            pages: all\nvariants: [{suffix: -s}, {suffix: -m}]\nimages: [x2.tif, {name: n, source: x2.tif}]
                x2-1-s 1, x2-1-m 1, x2-2-s 2, x2-2-m 2, n-1-s 1, n-1-m 1, n-2-s 2, n-2-m 2
            pages: all\nimages: [{source: a.tif, variants: [{name: v}]}] ⇒ v
            // Recipes.
            recipe: all\nimages: [x2.tif] ⇒ x2-1 1, x2-2 2
            recipe: all\npages: first\nimages: [x2.tif] ⇒ x2
            pages: all\nimages: [{source: x2.tif, recipe: first}, b.tif] ⇒ x2, b
            images: [{source: x2.tif, recipe: sizes}] ⇒ x2-1-s 1, x2-1-m 1, x2-2-s 2, x2-2-m 2
            recipe: all\nimages: [{source: x2.tif, recipe: first, pages: all}] ⇒ x2-1 1, x2-2 2
            // One that only others need has one page, unless it asks for them.
            pages: all\nimages: [{name: l, source: x2.tif, publish: false}, {source: a.png, filters: {overlay: l}}]
                l, a
            images: [{name: l, source: x2.tif, publish: false, pages: all}, {source: a.png, filters: {overlay: l-2}}]
                l-1 1, l-2 2, a
            // A URL has one image, and so has what is no source.
            pages: all\nimages: ['https://h/x3.tif', 'ftp://h/x3.tif'] ⇒ x3, x3-2
            """#, breaks: true) + [
                // Two of one name.
                (
                    "pages: all\nimages: [x2.tif, y/x2.tif, x2-1.tif]",
                    "x2-1 1, x2-2 2, x2-1-2 1, x2-2-2 2"
                        + (1...21).map { ", x2-1-\($0 < 10 ? "0" : "")\($0) \($0)" }.joined()
                )
            ])
    func makesAnImageOfEachPage(text: String, expected: String) throws {
        let manifest = try Self.read(text)
        let found = manifest.images.map { $0.name.string + ($0.page.map { " \($0)" } ?? "") }
        #expect(found.joined(separator: ", ") == expected)
        // What was counted counts, whatever there is now.
        let again = try Self.read(text, with: .recorded(manifest.found))
        #expect(again == manifest)
        #expect(manifest.found.pages == nil || !manifest.found.isEmpty)
    }

    /// With several pages, the numbers have as many digits as that of the last one, so that the names sort.
    @Test func numbersSort() throws {
        for (count, first, last) in [
            (9, "x9-1", "x9-9"), (10, "x10-01", "x10-10"), (100, "x100-001", "x100-100"),
        ] {
            let names = try Self.read("pages: all\nimages: [x\(count).tif]").images.map(\.name)
            #expect(names.count == count && names == names.sorted())
            #expect(names.first?.string == first && names.last?.string == last)
        }
    }

    @Test func recordsWhatWasCounted() throws {
        let manifest = try Self.read("pages: all\nimages: [x2.tif, a.jpg, scans/*, x2.tif]")
        #expect(
            manifest.found
                == SourceRecord(
                    [FoundSources(pattern: "scans/*", files: ["scans/a.jpg", "scans/b3.tif"])],
                    pages: [
                        FoundPages(source: "x2.tif", pages: 2),
                        FoundPages(source: "scans/b3.tif", pages: 3),
                    ]))
        // That no file has several is worth to be known, too.
        #expect(try Self.read("pages: all\nimages: [a.jpg]").found.pages == [])
        #expect(try Self.read("images: [x2.tif]").found.isEmpty)
    }

    @Test(
        arguments: cases(
            #"""
            pages: 3\nimages: [a]
                1:8 wrong-type pages
                ‘pages’ must be first or all, found 3; one page is chosen by an image: ‘page: 3’
            images: [{source: a, pages: 3}]
                1:29 wrong-type images[0].pages
                ‘pages’ must be first or all, found 3; one page is chosen by ‘page’: ‘page: 3’
            images: [{source: a, pages: -3}]
                1:29 wrong-type images[0].pages
                ‘pages’ must be first or all, found -3; one page is chosen by ‘page’: ‘page: 1’
            pages: every\nimages: [a]
                1:8 unknown-value pages
                ‘pages’ must be first or all, found ‘every’
            images: [{source: a, page: 2, pages: all}]
                1:38 conflicting-keys images[0].pages
                ‘page’ and ‘pages’ exclude each other
            images: [a, {name: b, from: a, pages: all}]
                1:39 conflicting-keys images[1].pages
                ‘pages’ is of a ‘source’; an image with ‘from’ has one page
            images: [{source: 'https://h/a.tif', pages: all}]
                1:45 conflicting-keys images[0].pages
                ‘pages: all’ is for files: the pages of a URL are not known when the manifest is taken; list an image for each page, such as ‘page: 2’
            pages: all\nimages: [{source: x2.tif, variants: [{name: v}]}]
                2:19 conflicting-keys images[0].source
                ‘x2.tif’ has several pages, so its variants need a ‘suffix’ and not a ‘name’
            pages: all\nimages: [x5.tif, x6.tif, x7.tif]
                2:18 too-many-images images[1]
                with the pages of ‘x6.tif’, there are more images than the limit of 10
            pages: all\nimages: [x10.tif, a.tif]
                2:19 too-many-images images[1]
                with their files and pages, there are more images than the limit of 10
            pages: all\nimages: [{source: x6.tif, variants: [{suffix: a}, {suffix: b}]}]
                2:19 too-many-images images[0].source
                with their variants, there are more images than the limit of 10
            images: [{name: x, source: x2.tif, pages: all}, {name: b, from: x}]
                1:65 unknown-image images[1].from → b
                no image has the name ‘x’
            """#, breaks: true))
    func isRefused(text: String, expected: [String]) {
        let found = problems(
            text, .yaml, limits: ManifestLimits(images: 10), recipes: Self.recipes,
            finder: Self.finder)
        #expect(said(found) == expected)
    }

    @Test func refusesNamesThatGrowTooLong() throws {
        let name = String(repeating: "n", count: 199)
        let error = #expect(throws: ManifestRejection.self) {
            try Self.read("images: {\(name): {source: x2.tif, pages: all}}")
        }
        #expect(error?.problems.map(\.code) == ["bad-name"])
        // That of a file is cut off.
        let file = String(repeating: "n", count: 199)
        let images = try Self.read("pages: all\nimages: ['2/\(file).tif']").images
        #expect(images.map(\.name.utf8.count) == [200, 200])
        #expect(images.map { $0.name.string.suffix(3) } == ["n-1", "n-2"])
    }

    /// Nobody can have all their pages as images. Such a file fails alone, also after a restart.
    @Test(arguments: ["x65536.tif", "copies.tif"]) func aFileHasAMostOfPages(file: String) throws {
        let text = "pages: all\nimages: [x2.tif, \(file), a.jpg]"
        let manifest = try Self.read(text, images: 100_000)
        #expect(
            manifest.images.map(\.page) == [1, 2, TIFFPages.uncountable, nil])
        #expect(
            manifest.found.pages == [
                FoundPages(source: "x2.tif", pages: 2),
                FoundPages(source: ByteString(file), pages: TIFFPages.uncountable),
            ])
        let again = try Self.read(text, images: 100_000, with: .recorded(manifest.found))
        #expect(again.images.map(\.page) == manifest.images.map(\.page))
        #expect(again.images.map(\.name) == manifest.images.map(\.name))
    }

    /// After a file with too many pages, no other one is opened; before it, none is asked for more than is left.
    @Test func countsNoFurtherThanTheLimit() throws {
        let asked = Asked()
        let finder = SourceFinder.live { _, _ in
            .unknown
        } pages: { source, limit in
            asked.note(source.string, limit.pages)
            return source == "big.tif" ? .tooMany : .pages(4, copies: 0)
        }
        let error = #expect(throws: ManifestRejection.self) {
            try Self.read(
                "pages: all\nimages: [a.tif, a.tif, b.tif, big.tif, c.tif, d.tif]", images: 20,
                with: finder)
        }
        #expect(error?.problems.count == 1)
        #expect(asked.all == ["a.tif 20", "b.tif 12", "big.tif 8"])
    }

    @Test func whatIsNotKnownIsSaid() throws {
        let manifest = try Self.read(
            "pages: all\nimages: [unknown.tif, {name: y, from: unknown-2}]")
        #expect(manifest.uncountedSources == 1 && manifest.hasUnknownSources)
        #expect(manifest.images.map(\.name) == ["unknown", "y"])
        #expect(manifest.found.isEmpty)
        #expect(try Self.read("pages: all\nimages: [x.tif]", with: .none).hasUnknownSources)
        #expect(try !Self.read("images: [x.tif]", with: .none).hasUnknownSources)
        let error = #expect(throws: ManifestRejection.self) {
            try Self.read("pages: all\nimages: [x.tif]", with: .recorded(SourceRecord()))
        }
        #expect(error?.problems.map(\.message) == ["how many pages ‘x.tif’ had is lost"])
    }

    @Test func aURLGetsAWarning() throws {
        #expect(
            try Self.read("pages: all\nimages: ['https://h/a.tif']").warnings
                == ["‘pages: all’ is for files; a URL gets one image, of the first page"])
        #expect(
            try Self.read("recipe: all\nimages: ['https://h/a.tif', 'http://h/b', c.png]").warnings
                == ["‘pages: all’ is for files; 2 URLs get one image each, of the first page"])
        #expect(
            try Self.read(
                "pages: all\nimages: [{source: 'https://h/a.tif', pages: first}, {source: 'https://h/a.tif', page: 2}]"
            ).warnings == [])
    }
}

/// What a finder was asked for.
private final class Asked: Sendable {
    private let list = Mutex<[String]>([])

    func note(_ source: String, _ limit: Int) { list.withLock { $0.append("\(source) \(limit)") } }

    var all: [String] { list.withLock(\.self) }
}
