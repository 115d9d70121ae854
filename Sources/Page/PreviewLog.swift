import DarkroomAnswer
import DarkroomCore
import DarkroomPicture
import DarkroomSpool
import Foundation

/// The small copies of a batch in work: one file to which each image adds a line, `active/ID/previews`.
///
/// A file for each copy would cost as much as its content, and many times as much on an ext4 without a journal from which
/// other files have just been removed. When the batch ends, the copies go from here into sheets, see `PreviewSheet`.
///
/// A line has the fields of `Line` as numbers, then the JPEG in Base64. A filter writes its line in one call, before its
/// image is in the journal. So after a kill an image has its line or is repeated, and the last line of an image counts.
/// A line that was cut off is followed by an empty one, and has another length than it says.
package enum PreviewLog {
    struct Line: Equatable {
        var index: Int
        /// nil if the source has no copy.
        var facts: PreviewFacts?
        /// Whether there is a file with a copy of the result.
        var hasAfter: Bool
    }

    // MARK: Writing

    /// Adds the line of an image.
    ///
    /// - Parameters:
    ///   - before: the copy of its source; nil if there is none.
    ///   - hasAfter: whether there is a file with a copy of its result.
    package static func add(
        _ index: Int, before: EncodedPreview?, hasAfter: Bool, of batch: BatchFolders
    ) throws(FileError) {
        let base64 = before.map { Data($0.jpeg).base64EncodedData() } ?? Data()
        let facts = before?.facts.numbers ?? [0, 0, 0, 1, 0, 0]
        let numbers = [index] + facts + [hasAfter ? 1 : 0, base64.count]
        var line: [UInt8] = []
        line.reserveCapacity(base64.count + 80)
        line.append(newline)
        for number in numbers {
            line += "\(number)".utf8
            line.append(space)
        }
        line += base64
        line.append(newline)
        let name = FileName(batch.id) / BatchFile.previews
        let file = try batch.spool.active.append(to: name)
        try file.write(line, path: "the small copies")
        try file.close(path: "the small copies")
    }

    // MARK: Reading

    /// Calls `body` with each line that is whole, in their order; the second argument is the JPEG in Base64.
    static func forEachLine(
        in active: Directory,
        _ body: (Line, UnsafeBufferPointer<UInt8>) throws(FileError) -> Void
    ) throws(FileError) {
        guard let file = try active.openIfExists(BatchFile.previews) else { return }
        let path = active.path(of: BatchFile.previews)
        var splitter = LineSplitter()
        while true {
            let more = try file.readAll(upTo: Descriptor.piece, path: path)
            if more.isEmpty { return }
            try splitter.append(more) { line throws(FileError) in
                try line.dropLast().withUnsafeBufferPointer { bytes throws(FileError) in
                    if let (line, base64) = parsed(bytes) { try body(line, base64) }
                }
            }
            // A longer line is none of ours. Its rest has another length than it says.
            if splitter.begun.count > mostBytes { splitter = LineSplitter() }
        }
    }

    private static let mostBytes = 4 << 20
    private static let newline = UInt8(ascii: "\n")
    private static let space = UInt8(ascii: " ")

    private static func parsed(
        _ line: UnsafeBufferPointer<UInt8>
    ) -> (line: Line, base64: UnsafeBufferPointer<UInt8>)? {
        var place = 0
        /// The number up to the next space.
        func number() -> Int? {
            var value = 0
            let start = place
            while place < line.count, line[place] != space {
                guard line[place] >= UInt8(ascii: "0"), line[place] <= UInt8(ascii: "9"),
                    place - start < 18
                else { return nil }
                value = value * 10 + Int(line[place] - UInt8(ascii: "0"))
                place += 1
            }
            guard place > start, place < line.count else { return nil }
            place += 1
            return value
        }
        guard let index = number(),
            let facts = PreviewFacts(numbers: (0..<6).compactMap { _ in number() }),
            let hasAfter = number(), let length = number(), line.count - place == length,
            isBase64(line[place...])
        else { return nil }
        let result = Line(index: index, facts: length == 0 ? nil : facts, hasAfter: hasAfter == 1)
        return (result, UnsafeBufferPointer(rebasing: line[place...]))
    }

    /// The text goes into a sheet as it is. So it must not contain anything else, such as markup.
    private static func isBase64(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard text.count.isMultiple(of: 4) else { return false }
        var digits = text
        for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
        return digits.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
    }
}
