import Testing

@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomSpool

/// Which images a retry cannot repeat when the pictures of a batch are gone.
struct LostImagesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The images of the manifest in JSON; sources that begin with `gone` are gone.
        let images: String
        /// The images without an output.
        let repeated: Set<Int>
        let lost: [Int]
    }

    static let rows = [
        Row(
            testDescription: "its own picture",
            images: #"{"a": "gone-a", "b": "there", "c": "http://h/c.png"}"#,
            repeated: [0, 1, 2], lost: [0]),
        Row(
            testDescription: "the pixels of one that fails again",
            images: #"{"a": "gone", "b": {"from": "a"}, "c": {"from": "b"}}"#,
            repeated: [0, 1, 2], lost: [0, 1, 2]),
        Row(
            testDescription: "pixels in a lossless output",
            images: #"{"a": "gone", "b": {"from": "a"}}"#, repeated: [1], lost: [0]),
        Row(
            testDescription: "pixels of a JPEG, which are made again",
            images: #"{"a": {"source": "gone", "output": "jpeg"}, "b": {"from": "a"}}"#,
            repeated: [1], lost: [0, 1]),
        Row(
            testDescription: "a logo without an output",
            images:
                #"{"a": {"source": "gone", "publish": false}, "b": {"source": "there", "filters": [{"overlay": {"from": "a"}}]}}"#,
            repeated: [1], lost: [0, 1]),
        Row(
            testDescription: "a chain through an output",
            images: #"{"a": "gone", "b": {"from": "a"}, "c": {"from": "b"}}"#,
            repeated: [0, 2], lost: [0, 1]),
    ]

    @Test(arguments: rows) func areThoseThatNeedALostPicture(row: Row) throws {
        let text = #"{"images": \#(row.images)}"#
        let manifest = try ManifestReader.read(
            Array(text.utf8), format: .json, limits: ManifestLimits(), defaultFilters: [])
        let lost = LostImages(manifest, isRepeated: row.repeated) {
            $0.text.string.hasPrefix("gone")
        }
        #expect(manifest.images.indices.filter(lost.contains) == row.lost)
    }
}
