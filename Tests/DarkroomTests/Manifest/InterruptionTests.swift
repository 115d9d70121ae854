import Foundation
import Testing

@testable import DarkroomCore
@testable import DarkroomManifest

/// A stop does not wait for a manifest to be read: each reader asks on the way.
struct InterruptionTests {
    private static let urls = (0..<3000).map { "\"a\($0).png\"" }
    private static let long = String(repeating: "a", count: 1 << 20)
    private static let comment = String(repeating: "# nothing\n", count: 100_000)

    /// Manifests that are read without objection, in so many values or so long a text that each is come to.
    static let manifests: [(String, ManifestFormat, String)] = [
        ("values", .json, "{\"images\": [\(urls.joined(separator: ","))]}"),
        ("a text", .json, "{\"images\": \"\(long)\"}"),
        ("white space", .json, String(repeating: " ", count: 1 << 20) + "{\"images\": [\"a\"]}"),
        ("values", .yaml, "images: [\(urls.joined(separator: ","))]"),
        ("comments", .yaml, comment + "images: [a]"),
        ("a text", .yaml, "images: \(long)"),
        ("values", .plist, plist(urls.map { "<string>\($0)</string>" }.joined())),
        ("a text", .plist, plist("<string>\(long)</string>")),
        ("a comment", .plist, plist("<!-- \(long) --><string>a</string>")),
    ]

    private static func plist(_ items: String) -> String {
        "<plist version=\"1.0\"><array>\(items)</array></plist>"
    }

    @Test(arguments: manifests.indices) func breaksOff(index: Int) throws {
        let (_, format, text) = Self.manifests[index]
        _ = try format.read(Array(text.utf8), NodeBudget(images: 10_000))
        try checkBroken(Array(text.utf8), format)
    }

    @Test func breaksOffABinaryPropertyList() throws {
        let list = (0..<3000).map { "a\($0)" }
        let data = try PropertyListSerialization.data(
            fromPropertyList: list, format: .binary, options: 0)
        _ = try ManifestFormat.plist.read(Array(data), NodeBudget(images: 10_000))
        try checkBroken(Array(data), .plist)
    }

    private func checkBroken(_ bytes: [UInt8], _ format: ManifestFormat) throws {
        let stop = CancellationFlag()
        stop.set()
        #expect(throws: ManifestProblem.self) {
            _ = try format.read(bytes, NodeBudget(images: 10_000, stop: stop))
        }
        #expect(throws: ManifestRejection.self) {
            try ManifestReader.read(bytes, format: format, defaultFilters: [], stop: stop)
        }
    }

    /// The images of a document that was read before the stop.
    @Test func leavesOutTheImages() {
        let stop = CancellationFlag()
        stop.set()
        var reader = ValueReader(notation: .json, stop: stop)
        var images = ImageListReader(
            limits: ManifestLimits(),
            defaultValue: ImageSettings(filters: FilterDrafts(filters: [])))
        let items = (0..<3).map { Document.Node(.text("\($0).png"), at: .none) }
        images.read(
            Document.Node(.list(Document.List(items)), at: .none), at: .root, sorted: false,
            with: &reader)
        #expect(images.drafts.isEmpty)
    }
}
