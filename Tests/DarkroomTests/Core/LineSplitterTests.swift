import Testing

@testable import DarkroomCore
@testable import DarkroomFixtures

final class LineSplitterTests: FolderSuite {
    /// Lines come out the same wherever the pieces end.
    @Test func findsLinesAcrossPieces() {
        let text = Array("one\n\nthree is longer\nrest".utf8)
        for size in 1...text.count {
            var splitter = LineSplitter()
            var lines: [String] = []
            for start in stride(from: 0, to: text.count, by: size) {
                splitter.append(Array(text[start..<min(start + size, text.count)])) {
                    lines.append(String(decoding: $0, as: UTF8.self))
                }
            }
            #expect(lines == ["one\n", "\n", "three is longer\n"])
            #expect(splitter.begun == Array("rest".utf8))
        }
    }

    @Test func readsFilesLongerThanAPiece() throws {
        let lines = (0..<30_000).map { "line \($0) of many, so that they fill some pieces\n" }
        #expect(lines.joined().utf8.count > 4 * Descriptor.piece)
        try folder.write(Array((lines.joined() + "torn").utf8), to: "lines", durably: false)
        var read: [String] = []
        try folder.open("lines").readLines(path: "lines") {
            read.append(String(decoding: $0, as: UTF8.self))
        }
        #expect(read == lines)
    }
}
