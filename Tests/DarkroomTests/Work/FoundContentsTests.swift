import Testing

@testable import DarkroomBoard
@testable import DarkroomFetch
@testable import DarkroomWork

/// Which contents are kept, and for how long.
struct FoundContentsTests {
    private let time = ManualTime()
    private let contents: FoundContents
    private let rules = LocalSources(roots: ["/a"], view: nil)

    private static let lifetime = Double(FoundContents.lifetime) / 1e9
    private static let large = [UInt8](repeating: 1, count: 64 << 10)

    init() {
        contents = FoundContents(time: time.source)
    }

    @Test func eachIsGivenAwayOnce() {
        contents.keep([1, 2], of: "s", 1, by: rules)
        contents.keep([3], of: "t", 1, by: rules)
        contents.keep([4], of: "s", 2, by: rules)
        #expect(contents.bytes == 3 * FoundContents.leastCount)
        #expect(contents.taken("s", of: 1, by: rules) == [1, 2])
        #expect(contents.taken("s", of: 1, by: rules) == nil)
        #expect(contents.taken("t", of: 2, by: rules) == nil)
        #expect(contents.taken("t", of: 1, by: rules) == [3])
        #expect(contents.taken("s", of: 2, by: rules) == [4])
        #expect(contents.bytes == 0)
    }

    /// The seconds after which it is asked for, and whether it is given.
    @Test(arguments: [(0, true), (lifetime, true), (lifetime + 0.001, false)])
    func oldOnesAreNotGiven(seconds: Double, isGiven: Bool) {
        contents.keep([1], of: "s", 1, by: rules)
        time.advance(by: seconds)
        #expect(contents.taken("s", of: 1, by: rules) == (isGiven ? [1] : nil))
        #expect(contents.bytes == 0)
    }

    @Test func theNewerOneCounts() {
        contents.keep(Self.large, of: "s", 1, by: rules)
        contents.keep([2], of: "s", 1, by: rules)
        #expect(contents.bytes == FoundContents.leastCount)
        #expect(contents.taken("s", of: 1, by: rules) == [2])
    }

    @Test(arguments: [1, 4 << 10, 64 << 10]) func theirSumIsBounded(size: Int) {
        let content = [UInt8](repeating: 1, count: size)
        let fitting = FoundContents.mostBytes / max(size, FoundContents.leastCount)
        for number in 0...fitting { contents.keep(content, of: "s\(number)", 1, by: rules) }
        #expect(contents.bytes == FoundContents.mostBytes)
        // There was no room for the last one.
        #expect(contents.taken("s\(fitting)", of: 1, by: rules) == nil)
        #expect(contents.taken("s0", of: 1, by: rules) == content)
        contents.keep(content, of: "more", 2, by: rules)
        #expect(contents.taken("more", of: 2, by: rules) == content)
    }

    @Test func oldOnesMakeRoom() {
        for number in 0..<32 { contents.keep(Self.large, of: "s\(number)", 1, by: rules) }
        time.advance(by: Self.lifetime / 2)
        for number in 32..<64 { contents.keep(Self.large, of: "s\(number)", 1, by: rules) }
        #expect(contents.bytes == FoundContents.mostBytes)
        time.advance(by: Self.lifetime / 2 + 1)
        contents.keep(Self.large, of: "new", 2, by: rules)
        #expect(contents.bytes == 33 * Self.large.count)
        #expect(contents.taken("s31", of: 1, by: rules) == nil)
        #expect(contents.taken("s32", of: 1, by: rules) == Self.large)
        #expect(contents.taken("new", of: 2, by: rules) == Self.large)
    }
}

extension FoundContents {
    fileprivate func keep(
        _ bytes: [UInt8], of source: SourceReference, _ batch: BatchKey, by rules: LocalSources
    ) {
        keep(FoundFile(bytes: bytes, identity: nil), of: source, batch, by: rules)
    }

    fileprivate func taken(
        _ source: SourceReference, of batch: BatchKey, by rules: LocalSources
    ) -> [UInt8]? {
        take(source, of: batch, by: rules)?.bytes
    }
}
