import TestPictures
import Testing

@testable import DarkroomPicture

/// What holds for every filter: the bands it is given make no difference, errors pass through, and small
/// and narrow pictures are pictures.
struct FilterStageTests {
    static let filters: [Filter] = [
        .sepia(intensity: 0.8), .mono, .grayscale(amount: 1), .grayscale(amount: 0.5),
        .invert(amount: 1), .brightness(amount: 1.2), .contrast(amount: 0.7), .saturate(amount: 2),
        .hueRotate(angle: 77), .opacity(amount: 0.5), .gamma(2.2), .threshold(level: 0.4),
        .posterize(levels: 5), .vignette(Filter.Vignette(amount: 0.9, radius: 0.1)),
        .flatten(background: .white), .flatten(background: Colour(red: 200, green: 9, blue: 90)),
        .overlay(Filter.Overlay(from: "rgba 8 5x4", gravity: .southeast, x: 1, opacity: 0.7)),
        .overlay(Filter.Overlay(from: "grayAlpha 16 60x50")), .trim(tolerance: 0.04),
        .pad(Filter.Pad(.margins(top: 1, right: 2, bottom: 0, left: 3))),
        .pad(Filter.Pad(.atLeast(width: 50, height: nil, .east), background: .white)), .flip, .flop,
        .rotate(.quarter),
        .rotate(.half), .rotate(.threeQuarters), .blur(sigma: 1.5), .blur(sigma: 17),
        .sharpen(sigma: 1, amount: 1, threshold: 0.02),
        .sharpen(sigma: 20, amount: 2, threshold: 0),
        .crop(.gravity(.center, width: 1, height: 1)),
        .resize(Filter.Resize(width: 9)), .resize(Filter.Resize(width: 40, linear: true)),
        .resize(Filter.Resize(width: 9, height: 30, fit: .contain, kernel: .mitchell)),
        .resize(Filter.Resize(width: 9, height: 30, fit: .cover, kernel: .cubic)),
        .resize(Filter.Resize(width: 9, height: 30, fit: .fill, kernel: .nearest)),
    ]
    static let layouts = GeometryFilterTests.layouts

    /// The list above leaves out no filter. Two are other names of what it has.
    @Test func listsEveryFilter() {
        let names = Set(Self.filters.map { String("\($0)".prefix { $0.isLetter }) })
        let catalogue = Set(FilterCatalog.all.map(\.name))
        #expect(names == catalogue.subtracting(["thumbnail", "watermark"]))
    }

    @Test(arguments: filters, layouts)
    func bandsMakeNoDifference(_ filter: Filter, layout: (Int, Int)) throws {
        let grid = PixelGrid.noise(19, 23, channels: layout.0, depth: layout.1)
        let whole = try grid.developed(filter, rowsPerBand: 23)
        for rowsPerBand in [1, 2, 5, 22] {
            #expect(try grid.developed(filter, rowsPerBand: rowsPerBand) == whole)
        }
    }

    @Test(arguments: filters, [(1, 1), (1, 40), (40, 1), (2, 3)])
    func acceptsSmallAndNarrowPictures(_ filter: Filter, size: (Int, Int)) throws {
        for (channels, depth) in Self.layouts {
            let grid = PixelGrid.noise(size.0, size.1, channels: channels, depth: depth)
            let result = try grid.developed(filter)
            #expect(result.layout.depth == depth)
            if case .flatten = filter {
                #expect(!result.layout.hasAlpha)
            } else {
                #expect(!grid.layout.hasAlpha || result.layout.hasAlpha)
            }
        }
    }

    @Test(arguments: filters)
    func passesErrorsOn(_ filter: Filter) throws {
        for failingRow in [0, 11, 22] {
            let source = GridStage(
                .noise(19, 23, channels: 3), rowsPerBand: 1, failingRow: failingRow)
            #expect(throws: GridStage.failure) {
                // `trim` reads when it is made, the others later.
                let stage = try FilterStage.make(
                    filter, upstream: source, limits: PictureLimits())
                _ = try PixelGrid(pulling: stage)
            }
        }
    }

    @Test func chainsApplyFiltersInOrder() throws {
        let grid = PixelGrid.noise(50, 41, channels: 3)
        let filters: [Filter] = [
            .crop(.rectangle(x: 3, y: 5, width: 40, height: 30)), .sepia(intensity: 0.8),
            .rotate(.quarter), .blur(sigma: 1), .opacity(amount: 0.5),
            .resize(Filter.Resize(width: 20, height: 20, fit: .contain)), .flip,
            .sharpen(sigma: 1, amount: 0.5, threshold: 0), .mono, .flop, .sepia(intensity: 1),
        ]
        // One by one, each from a grid of its own, must be the same as all together.
        var expected = grid
        for filter in filters { expected = try expected.developed(filter) }
        for rowsPerBand in [1, 4, 41] {
            #expect(try grid.developed(by: filters, rowsPerBand: rowsPerBand) == expected)
        }
    }

    /// Rows longer than a band is meant to be: a band is then one row.
    @Test(arguments: [
        Filter.sepia(intensity: 1), .opacity(amount: 0.5), .flop, .blur(sigma: 1), .gamma(2),
        .posterize(levels: 3), .threshold(level: 0.3), .vignette(Filter.Vignette()),
        .trim(tolerance: 0), .overlay(Filter.Overlay(from: "rgb 8 9x4", gravity: .east)),
        .pad(Filter.Pad(.margins(top: 0, right: 1, bottom: 0, left: 1))),
        .resize(Filter.Resize(width: 70_001, height: 2, fit: .fill)),
    ])
    func acceptsVeryWideRows(_ filter: Filter) throws {
        let grid = PixelGrid.noise(70_000, 2, channels: 2)
        let result = try grid.developed(filter, rowsPerBand: 1)
        #expect(result.layout.height == 2)
        #expect(result.layout.width >= 70_000)
        #expect(try grid.developed(filter, rowsPerBand: 2) == result)
    }
}
