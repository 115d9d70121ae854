import TestPictures
import Testing

@testable import DarkroomManifest
@testable import DarkroomPicture

/// `thumbnail` keeps the whole picture in all its forms, unless `fit: cover` stands there.
struct ThumbnailTests {
    struct Row: Sendable {
        let filter: String
        let picture: (width: Int, height: Int)
        let result: (width: Int, height: Int)
        var remarks: [String] = []
    }

    static func remark(_ whole: String, _ cut: String) -> [String] {
        [
            "thumbnail without ‘fit’: the whole picture is kept, with \(whole) pixels; older versions cut it to "
                + "\(cut). ‘fit: cover’ cuts, and ‘fit: inside’ keeps the whole"
        ]
    }

    static let rows = [
        Row(filter: "{thumbnail: 16}", picture: (64, 32), result: (16, 8)),
        Row(filter: "{thumbnail: 16x4}", picture: (64, 32), result: (8, 4)),
        Row(
            filter: "{thumbnail: {size: 16}}", picture: (64, 32), result: (16, 8),
            remarks: remark("16 × 8", "16 × 16")),
        Row(
            filter: "{thumbnail: {width: 16, height: 10}}", picture: (64, 32), result: (16, 8),
            remarks: remark("16 × 8", "16 × 10")),
        // A smaller picture is not enlarged.
        Row(filter: "{thumbnail: 100}", picture: (64, 32), result: (64, 32)),
        Row(
            filter: "{thumbnail: {size: 100}}", picture: (64, 64), result: (64, 64),
            remarks: remark("64 × 64", "100 × 100")),
        // Nothing was cut.
        Row(filter: "{thumbnail: {size: 16}}", picture: (64, 64), result: (16, 16)),
        Row(filter: "{thumbnail: {size: 16, fit: inside}}", picture: (64, 32), result: (16, 8)),
        Row(filter: "{thumbnail: {size: 16, fit: cover}}", picture: (64, 32), result: (16, 16)),
        Row(filter: "{thumbnail: {size: 16, fit: contain}}", picture: (64, 32), result: (16, 16)),
    ]

    @Test(arguments: rows.indices) func hasOneMeaning(index: Int) throws {
        let row = Self.rows[index]
        let filters = try FilterList.read(yaml: Array("[\(row.filter)]".utf8))
        let context = StageContext(limits: PictureLimits())
        let grid = PixelGrid.noise(row.picture.width, row.picture.height, channels: 3)
        let stage = try FilterStage.chain(
            filters, upstream: GridStage(grid), context: context)
        #expect(stage.layout.width == row.result.width)
        #expect(stage.layout.height == row.result.height)
        #expect(context.remarks == row.remarks)
    }

    @Test(arguments: [
        ("{thumbnail: 16}", []),
        ("{thumbnail: {size: 16, fit: cover}}", []),
        ("{thumbnail: {size: 16, fit: inside}}", []),
        (
            "{thumbnail: {size: 16}}",
            [
                "thumbnail without ‘fit’ (of 2 images, first of a) keeps the whole picture; older versions cut it to "
                    + "the box. ‘fit: cover’ cuts, and ‘fit: inside’ keeps the whole"
            ]
        ),
    ]) func isToldOfAManifest(filter: String, warnings: [String]) throws {
        let manifest = try ManifestReader.read(
            Array("images: [a.png, b.png]\nfilters: [\(filter)]\n".utf8), format: .yaml,
            defaultFilters: [])
        #expect(manifest.warnings == warnings)
    }
}
