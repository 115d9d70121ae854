import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomPicture

/// `sizes.json`, and the lines of `darkroom show --srcset`.
struct ResultSizesTests {
    private static func image(
        _ name: String, _ file: String, _ width: Int, of variantOf: String? = nil
    ) -> ImageStatus {
        let format: OutputFormat = file.hasSuffix(".webp") ? .webp : .png
        return ImageStatus(
            name: name, source: "s.png", variantOf: variantOf, state: .filtered,
            output: .init(
                file: file, format: format, sha256: "0f", bytes: 7, width: width, height: 3,
                depth: 8, channels: 3))
    }

    private static func lines(_ images: [ImageStatus]) -> [String] {
        var sizes = ResultSizes(id: "x")
        var found = images.compactMap { sizes.add($0) }
        if let last = sizes.endLast() { found.append(last) }
        return found.flatMap { image in image.sourceSets.map { "\(image.name): \($0.text)" } }
    }

    @Test(arguments: [
        ([image("a", "a.png", 8)], ["a: a.png 8w"]),
        ([], []),
        ([ImageStatus(name: "a", state: .failed), image("b", "b.png", 8)], ["b: b.png 8w"]),
        (
            [image("a-4", "a-4.webp", 4, of: "a"), image("a-8", "a-8.webp", 8, of: "a")],
            ["a: a-4.webp 4w, a-8.webp 8w"]
        ),
        // Each width once: a small picture was not enlarged.
        (
            [image("a-4", "a-4.webp", 3, of: "a"), image("a-8", "a-8.webp", 3, of: "a")],
            ["a: a-4.webp 3w"]
        ),
        // A line for each format, and for each image.
        (
            [
                image("a-4", "a-4.webp", 4, of: "a"), image("a-5", "a-5.png", 5, of: "a"),
                image("b-4", "b-4.webp", 4, of: "b"), image("c", "c.png", 1),
                image("d", "d.png", 1),
            ],
            ["a: a-4.webp 4w", "a: a-5.png 5w", "b: b-4.webp 4w", "c: c.png 1w", "d: d.png 1w"]
        ),
        // A failed variant is left out.
        (
            [
                image("a-4", "a-4.webp", 4, of: "a"),
                ImageStatus(name: "a-6", variantOf: "a", state: .failed),
                image("a-8", "a-8.webp", 8, of: "a"),
            ],
            ["a: a-4.webp 4w, a-8.webp 8w"]
        ),
        (
            [image("a", "x y/ä,\"<&'.png", 8)],
            ["a: x%20y/%C3%A4%2C%22%3C%26%27.png 8w"]
        ),
    ]) func isReadyForHTML(images: [ImageStatus], lines: [String]) {
        #expect(Self.lines(images) == lines)
    }

    /// Images that need no such file.
    @Test(arguments: [
        (image("a", "a.png", 8), false), (image("a.png", "a.png", 8), false),
        (image("a", "a.jpeg", 8), false), (image("a", "b/a.png", 8), true),
        (image("a", "a-8.png", 8), true), (image("a", "a.png", 8, of: "b"), true),
        (ImageStatus(name: "a", variantOf: "b", state: .failed), false),
        (ImageStatus(name: "a", state: .filtered), false),
    ]) func isThereIfItIsUseful(image: ImageStatus, isUseful: Bool) {
        #expect(ResultSizes.areUseful(for: [image]) == isUseful)
        var sizes = ResultSizes(id: "x")
        sizes.add(image)
        #expect(sizes.areUseful == isUseful)
    }

    @Test func agreesWithItsSchema() throws {
        var sizes = ResultSizes(id: "x")
        for image in [
            Self.image("a-4", "a-4.webp", 4, of: "a"), Self.image("a-8", "a-8.png", 8, of: "a"),
        ] {
            sizes.add(image)
        }
        // Piece by piece, too.
        let text = sizes.take() + sizes.end()
        let schema = try JSONSchema(file: "sizes.schema.json")
        let paths = try JSONSchema.paths(of: text)
        #expect(
            paths.subtracting(["images.srcset.image/webp", "images.srcset.image/png"])
                == Set(schema.members.keys))
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any])
        let images = try #require(object["images"] as? [[String: Any]])
        #expect(
            images[0]["srcset"] as? [String: String] == [
                "image/webp": "a-4.webp 4w", "image/png": "a-8.png 8w",
            ])
    }
}
