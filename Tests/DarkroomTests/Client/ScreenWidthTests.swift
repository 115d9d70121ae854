import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import Foundation
import Testing

/// What the views say on screens of any width, with the names that people give.
struct ScreenWidthTests {
    private static let ids = [
        "a", "holiday-2026", "winter-holiday-in-the-mountains-of-norway-2026-batch-three-of-twelve",
        "旅行の写真-2026", "👩‍👩‍👧 family", "cafe\u{301}-cre\u{300}me", "with two spaces",
        String(repeating: "x", count: 200),
    ]
    private static let names = [
        "moon", "DSC_20261121_134501_winter-in-the-mountains-panorama-stitched-final-version-3",
        "写真 with spaces and a long name", "a\u{301}",
    ]

    private static func image(_ name: String, isFailed: Bool) -> ImageStatus {
        let failure = Failure(
            code: "source-missing",
            message: "photos/of-the-year/\(name).png: no such file in sources.roots (/srv/photos)",
            isTransient: name.count > 8)
        var image = ClientSpool.image(
            name, isFailed ? .failed : .filtered, isFailed ? failure : nil)
        image.output?.bytes = 12_345_678
        image.output?.width = 6000
        image.output?.height = 4000
        return image
    }

    private let spool: ClientSpool

    init() throws {
        spool = try ClientSpool()
        for (place, id) in Self.ids.enumerated() {
            let images = Self.names.enumerated().map {
                Self.image($1, isFailed: (place + $0).isMultiple(of: 2))
            }
            try spool.write(
                ClientSpool.status(
                    id, .completedWithErrors, images: images, received: 9000, started: 8000,
                    finished: 7000))
        }
    }

    /// The words of lines, in their order.
    private static func words(_ lines: [String]) -> [Substring] {
        lines.flatMap { $0.split(separator: " ") }
    }

    @Test(arguments: [200, 80, 60, 40, 20])
    func listsEachIDWhole(width: Int) throws {
        let lines = try spool.list().lines(on: .screen(width))
        for id in Self.ids {
            let rows = lines.filter { $0 == id || $0.hasPrefix("\(id) ") }
            #expect(rows.count == 1, "\(id): \(rows)")
        }
        for line in lines where !Self.ids.contains(line) {
            #expect(DisplayWidth.of(line) <= width, "\(line)")
        }
        // The state is never left out, and is not cut to that of a batch without errors.
        #expect(
            lines.count { $0.contains(" completedWithErrors") || $0.contains(" withErrors") }
                == Self.ids.count)
    }

    @Test(arguments: [BatchDetails.Images.firstFailed, .failed, .all], [200, 80, 60, 40])
    func showsWholeWords(images: BatchDetails.Images, width: Int) throws {
        for id in Self.ids {
            let details = try spool.details(of: id, images)
            let lines = try details.lines(on: .screen(width))
            let names = Self.names + [details.folder, "\(id).yaml", id]
            for line in lines where DisplayWidth.of(line) > width {
                // Only what cannot be divided is longer than the screen.
                let rest = names.reduce(line) { $0.replacing($1, with: "") }
                #expect(DisplayWidth.of(rest) < width, "\(line)")
            }
            let shown = Self.words(lines)
            for name in Self.names where images == .all {
                #expect(lines.contains { $0 == name || $0.hasPrefix("\(name) ") }, "\(name)")
            }
            guard images != .all else { continue }
            #expect(try shown == Self.words(details.lines(on: .pipe)))
        }
    }

    /// The paths and commands of a message can be copied.
    @Test func keepsCommandsOnOneLine() throws {
        let details = try spool.details(of: "with two spaces", .failed)
        let lines = try details.lines(on: .screen(40))
        #expect(lines.contains { $0.hasSuffix("darkroom retry 'with two spaces'") }, "\(lines)")
        #expect(lines.contains { $0.contains("\(details.folder)") })
    }

    @Test func pipedTablesAreNeverCut() throws {
        let lines = try spool.list().lines(on: .pipe)
        #expect(lines.count == Self.ids.count + 1)
        #expect(lines.count { $0.contains("completedWithErrors") } == Self.ids.count)
        #expect(!lines.joined().contains("…"))
    }
}
