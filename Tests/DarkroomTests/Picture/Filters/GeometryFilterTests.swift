import TestPictures
import Testing

@testable import DarkroomPicture

/// Crop, rotate, flip and flop against naive index mapping.
struct GeometryFilterTests {
    static let sizes = [(1, 1), (1, 7), (7, 1), (5, 4), (67, 35)]
    static let layouts = (1...4).flatMap { channels in [8, 16].map { (channels, $0) } }

    /// Checks that each pixel (x, y) of the result is the input's pixel `source(x, y)`.
    private func check(
        _ filter: Filter, _ grid: PixelGrid, width: Int, height: Int,
        source: (Int, Int) -> (Int, Int)
    ) throws {
        for rowsPerBand in [1, 2, 100] {
            let result = try grid.developed(filter, rowsPerBand: rowsPerBand)
            var layout = grid.layout
            (layout.width, layout.height) = (width, height)
            try #require(result.layout == layout)
            for (x, y) in result.places {
                let (sourceX, sourceY) = source(x, y)
                if result.pixel(x, y) != grid.pixel(sourceX, sourceY) {
                    Issue.record(
                        "\(filter), bands of \(rowsPerBand): pixel (\(x), \(y)) of \(grid)")
                    return
                }
            }
        }
    }

    @Test(arguments: sizes, layouts)
    func turnsThePicture(size: (Int, Int), layout: (Int, Int)) throws {
        let (width, height) = size
        let grid = PixelGrid.noise(width, height, channels: layout.0, depth: layout.1)
        try check(.flop, grid, width: width, height: height) { (width - 1 - $0, $1) }
        try check(.flip, grid, width: width, height: height) { ($0, height - 1 - $1) }
        try check(.rotate(.half), grid, width: width, height: height) {
            (width - 1 - $0, height - 1 - $1)
        }
        try check(.rotate(.quarter), grid, width: height, height: width) { ($1, height - 1 - $0) }
        try check(.rotate(.threeQuarters), grid, width: height, height: width) {
            (width - 1 - $1, $0)
        }
    }

    @Test(arguments: layouts)
    func cutsOutRectangles(layout: (Int, Int)) throws {
        let grid = PixelGrid.noise(13, 11, channels: layout.0, depth: layout.1)
        let rectangles = [
            (0, 0, 13, 11), (0, 0, 1, 1), (12, 10, 1, 1), (0, 3, 13, 4), (5, 0, 3, 11),
            (2, 7, 10, 4), (1, 1, 12, 10),
        ]
        for (x, y, width, height) in rectangles {
            let crop = Filter.crop(.rectangle(x: x, y: y, width: width, height: height))
            try check(crop, grid, width: width, height: height) { ($0 + x, $1 + y) }
        }
    }

    @Test(arguments: [
        (Filter.Gravity.northwest, 0, 0), (.north, 3, 0), (.northeast, 7, 0), (.west, 0, 2),
        (.center, 3, 2), (.east, 7, 2), (.southwest, 0, 5), (.south, 3, 5), (.southeast, 7, 5),
    ])
    func cutsOutByGravity(gravity: Filter.Gravity, x: Int, y: Int) throws {
        let grid = PixelGrid.noise(12, 9, channels: 3)
        let byGravity = try grid.developed(.crop(.gravity(gravity, width: 5, height: 4)))
        let byCorner = try grid.developed(.crop(.rectangle(x: x, y: y, width: 5, height: 4)))
        #expect(byGravity == byCorner)
    }

    @Test(arguments: [
        Filter.Crop.rectangle(x: 9, y: 0, width: 5, height: 4),
        .rectangle(x: 0, y: 6, width: 5, height: 4), .rectangle(x: 0, y: 0, width: 14, height: 1),
        .rectangle(x: .max, y: .max, width: 1, height: 1), .gravity(.center, width: 14, height: 9),
        .gravity(.southeast, width: 13, height: 10),
    ])
    func refusesRectanglesOutside(_ crop: Filter.Crop) {
        let source = GridStage(.noise(13, 9, channels: 1))
        expectFailure(.filterOutside, "13 × 9") {
            _ = try FilterStage.make(.crop(crop), upstream: source, limits: PictureLimits())
        }
    }

    /// A file that is damaged below the rectangle is damaged.
    @Test func cropReadsToTheEnd() throws {
        let source = GridStage(.noise(4, 20, channels: 1), rowsPerBand: 2, failingRow: 19)
        let crop = Filter.crop(.rectangle(x: 1, y: 1, width: 2, height: 2))
        let stage = try FilterStage.make(crop, upstream: source, limits: PictureLimits())
        #expect(throws: GridStage.failure) { _ = try PixelGrid(pulling: stage) }
    }
}
