import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomRun

/// What a run that goes on knows of the results of the one before.
struct FormerResultsTests {
    @Test(arguments: ["a.png", "deep/er/a.png"]) func comeBackFromTheirFile(file: String) throws {
        let scratch = try ScratchDirectory()
        let folder = try Directory(path: scratch.path)
        var image = ImageStatus(name: "a", source: "a.png")
        image.state = .filtered
        image.output = .init(
            file: file, format: .png, sha256: "0f", bytes: 9, width: 2, height: 1, depth: 8,
            channels: 3)
        var result = ImageComparison.Result()
        result.verdicts = [.stands, .made(.source)]
        result.formers = [1: FormerResult(image, isComparable: true)]
        try FormerResults(result).write(in: folder, durably: false)
        let found = try FormerResults(in: folder).entries
        #expect(found.mapValues(\.former) == result.formers)
        #expect(found[1]?.makeReason == .source)
    }
}
