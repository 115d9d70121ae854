import DarkroomAnswer
import DarkroomCore
import DarkroomPicture
import DarkroomSpool

/// A file with the small copies of several sources: an SVG that contains their JPEGs. A page shows one of them by the name
/// of its view, `sheet-….svg#before-1`.
///
/// The copies come from the log of the batch, see `PreviewLog`.
///
/// ```
/// <svg xmlns="http://www.w3.org/2000/svg">
/// <!-- 1 IMAGE WIDTH HEIGHT PAIR ORIENTATION SOURCE-WIDTH SOURCE-HEIGHT … -->
/// <image y="0" width="768" height="1152" preserveAspectRatio="none" href="data:image/jpeg;base64,…"/>
/// <view id="before-1" preserveAspectRatio="none" viewBox="0 0 768 512"/>
/// <view id="difference-1" preserveAspectRatio="none" viewBox="0 640 768 512"/>
/// …
/// </svg>
/// ```
///
/// The unit of the drawing is a pixel of the source, so that a browser gives a copy the exact proportions of its source.
/// The drawing has no size of its own, whose proportions a browser would prefer.
///
/// The comment is for the page after a retry: the version of this format, then seven numbers for each copy. An image that
/// was filtered again may have two, of which the second one counts. So the views have the numbers of the copies.
enum PreviewSheet {
    /// A browser reads the whole sheet for each of its copies. So a sheet ends with this many, or with so many bytes.
    private static let mostCopies = 16
    private static let enoughBytes = 64 << 10
    /// More than any sheet has.
    static let mostBytes = 64 << 20

    private static let prefix = "sheet-"
    private static let suffix = ".svg"

    /// A name that comes after those of all earlier sheets. (The time in microseconds has 10 digits until 2085.)
    static func newName() -> FileName {
        FileName(prefix + String(Int(Clock.wall * 1_000_000), radix: 36) + suffix)
    }

    static func isName(_ name: FileName) -> Bool {
        name.bytes.starts(with: prefix.utf8) && name.hasSuffix(suffix)
    }

    enum View: String { case before, difference }

    struct Place: Equatable {
        let facts: PreviewFacts
        let sheet: FileName
        /// Its number in the sheet, from 0 on.
        let copy: Int

        /// A view of it, from the folder of the page.
        func link(_ view: View) -> PageLink {
            PageLink(AnswerPage.previews.text, sheet.text).with(fragment: name(view, copy))
        }
    }

    private static func name(_ view: View, _ copy: Int) -> String { "\(view.rawValue)-\(copy + 1)" }

    // MARK: Content

    struct Draft {
        let sheet = newName()
        private(set) var count = 0
        private var facts = ""
        private var body: [UInt8] = []
        /// Of all JPEGs so far.
        private var height = 0

        /// - Parameters:
        ///   - index: of the image.
        ///   - base64: the JPEG.
        mutating func add(
            _ index: Int, _ copy: PreviewFacts, base64: UnsafeBufferPointer<UInt8>
        ) -> Place {
            if body.isEmpty { body.reserveCapacity(enoughBytes) }
            facts += ([index + 1] + copy.numbers).map { " \($0)" }.joined()
            // A browser that enlarges a few pixels would blur them.
            let rendering =
                max(copy.width, copy.height) < 32 ? " image-rendering=\"pixelated\"" : ""
            func stretched(_ rows: Int) -> Int {
                (rows * copy.sourceHeight + copy.height / 2) / max(1, copy.height)
            }
            let whole = stretched(copy.rows)
            body +=
                "<image y=\"\(height)\" width=\"\(copy.sourceWidth)\" height=\"\(whole)\"\(rendering) preserveAspectRatio=\"none\" href=\"data:image/jpeg;base64,"
                .utf8
            body += base64
            body += "\"/>\n".utf8
            add(.before, of: copy, from: height)
            if copy.isPair {
                let above = copy.height + PreviewPair(rows: copy.height).gap
                add(.difference, of: copy, from: height + stretched(above))
            }
            height += whole
            defer { count += 1 }
            return Place(facts: copy, sheet: sheet, copy: count)
        }

        private mutating func add(_ view: View, of copy: PreviewFacts, from row: Int) {
            body +=
                "<view id=\"\(name(view, count))\" preserveAspectRatio=\"none\" viewBox=\"0 \(row) \(copy.sourceWidth) \(copy.sourceHeight)\"/>\n"
                .utf8
        }

        var isFull: Bool { count == mostCopies || body.count >= enoughBytes }

        var content: [UInt8] {
            let head =
                "<svg xmlns=\"http://www.w3.org/2000/svg\">\n<!-- \(version)\(facts) -->\n"
            return Array(head.utf8) + body + end
        }
    }

    private static let version = 1
    private static let end = Array("</svg>\n".utf8)

    /// The copies in a sheet, by the indices of their images; nil if it is not whole, or not one of this version.
    static func places(in bytes: [UInt8], of sheet: FileName) -> [Int: Place]? {
        guard bytes.suffix(end.count).elementsEqual(end) else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 2)
        guard lines.count == 3 else { return nil }
        let words = String(decoding: lines[1], as: UTF8.self).split(separator: " ")
        let numbers = words.dropFirst().dropLast().compactMap { Int($0) }
        guard words.first == "<!--", words.last == "-->", numbers.count == words.count - 2,
            numbers.first == version, numbers.count % 7 == 1
        else { return nil }
        var result: [Int: Place] = [:]
        for start in stride(from: 1, to: numbers.count, by: 7) {
            guard (0..<1 << 28).contains(numbers[start]),
                let facts = PreviewFacts(numbers: numbers[(start + 1)..<(start + 7)])
            else { return nil }
            result[numbers[start] - 1] = Place(facts: facts, sheet: sheet, copy: start / 7)
        }
        return result
    }
}

extension PreviewFacts {
    /// As a log and a sheet have them.
    var numbers: [Int] {
        [width, height, isPair ? 1 : 0, orientation.rawValue, sourceWidth, sourceHeight]
    }

    /// - Returns: nil if they are not those of a copy.
    init?(numbers: some Collection<Int>) {
        let all = Array(numbers)
        guard all.count == 6, all.allSatisfy({ (0..<1 << 28).contains($0) }),
            let orientation = Orientation(rawValue: all[3])
        else { return nil }
        self.init(
            width: all[0], height: all[1], isPair: all[2] == 1, orientation: orientation,
            sourceWidth: all[4], sourceHeight: all[5])
    }
}
