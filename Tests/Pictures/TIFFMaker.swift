/// A TIFF of gray pages with one pixel each.
package struct TIFFMaker {
    package struct Page {
        package var gray: UInt8
        /// `NewSubfileType`: 1 is a smaller copy, 4 a mask; nil for none.
        package var kind: Int?

        package init(_ gray: UInt8, kind: Int? = nil) {
            self.gray = gray
            self.kind = kind
        }
    }

    package var pages: [Page]
    package var isLittleEndian = true
    /// Whether numbers of places have eight bytes.
    package var isBig = false
    /// The place that the last page has for the next one; 0 if it is the last.
    package var end = 0

    package init(_ pages: [Page]) { self.pages = pages }

    /// Pages with the grays 10, 20 and so on.
    package init(pages count: Int) {
        pages = (0..<count).map { Page(UInt8(truncatingIfNeeded: 10 * ($0 + 1))) }
    }

    /// The place of a page's directory.
    package func place(of page: Int) -> Int {
        headBytes + pages.prefix(page).reduce(0) { $0 + bytes(of: $1) }
    }

    package var bytes: [UInt8] {
        let size = isBig ? 8 : 4
        var file: [UInt8] = isLittleEndian ? [0x49, 0x49] : [0x4D, 0x4D]
        file += number(isBig ? 43 : 42, 2)
        if isBig { file += number(8, 2) + number(0, 2) }
        file += number(pages.isEmpty ? end : headBytes, size)
        let pixels = place(of: pages.count)
        var place = headBytes
        for (index, page) in pages.enumerated() {
            place += bytes(of: page)
            // The kind, the size, the bits, no compression, black is 0, the place of the pixel, and how much it is.
            let fields =
                (page.kind.map { [(254, $0)] } ?? []) + [
                    (256, 1), (257, 1), (258, 8), (259, 1), (262, 1), (273, pixels + index),
                    (277, 1), (278, 1), (279, 1),
                ]
            file += number(fields.count, isBig ? 8 : 2)
            for (tag, value) in fields {
                // A number of four bytes.
                file += number(tag, 2) + number(4, 2) + number(1, size) + number(value, 4)
                if isBig { file += number(0, 4) }
            }
            file += number(index + 1 < pages.count ? place : end, size)
        }
        return file + pages.map(\.gray)
    }

    private var headBytes: Int { isBig ? 16 : 8 }

    private func bytes(of page: Page) -> Int {
        let fields = page.kind == nil ? 9 : 10
        return isBig ? 8 + fields * 20 + 8 : 2 + fields * 12 + 4
    }

    private func number(_ value: Int, _ bytes: Int) -> [UInt8] {
        let ascending = (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return isLittleEndian ? ascending : ascending.reversed()
    }
}
