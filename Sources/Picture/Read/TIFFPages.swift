import DarkroomCore
package import SystemPackage

/// How many pages a TIFF has, without its pictures: the daemon knows it before any of them is read.
///
/// A TIFF is a chain of directories, and each has the place of the next (TIFF 6.0, section 2; BigTIFF has longer numbers).
/// Only this chain is followed. A directory is a page unless its tag `NewSubfileType` or `SubfileType` says that it is a
/// smaller copy or a mask, as for the program that reads TIFF files (`Sources/CodecTIFF/chain.c`). The tags of a directory
/// are sorted, so these are among the first, which come with one read.
///
/// Nothing here may be trusted, and nothing is said of a damaged file. The chain ends where libtiff gives up: at a place that
/// was visited before or is outside of the file, and at a directory without entries or with more than 4096. The page that
/// should be there is counted too, so that it is not lost in silence: what is counted and cannot be read fails later, as
/// an image.
package struct TIFFPages {
    /// The highest number that a page may have.
    package static let most = 65_535
    /// Stands for a number of pages that is too large, or behind too many smaller copies, and for the page of the image
    /// that such a file becomes. It fails (`PictureDecoder.reader`).
    package static let uncountable = most + 1
    /// libtiff's limit of the entries of a directory.
    private static let mostEntries = 4096
    /// The bytes that are read of a directory at first. Most have fewer than 20 entries.
    private static let pieceBytes = 256

    /// How far a chain is followed.
    package struct Limit: Sendable, Equatable {
        /// The maximum number of pages.
        package var pages: Int
        /// The maximum number of smaller copies and masks.
        package var copies: Int

        package init(pages: Int, copies: Int) {
            self.pages = pages
            self.copies = copies
        }
    }

    package enum Count: Sendable, Equatable {
        /// - Parameter copies: how many directories were passed over.
        case pages(Int, copies: Int)
        /// There are more pages than the limit.
        case tooMany
        /// There are more smaller copies and masks than the limit.
        case tooManyCopies

        /// A picture of a kind without pages.
        package static let one = Count.pages(1, copies: 0)
    }

    /// Counts the pages of an open file, whatever its position is. Any other file than a TIFF has one, and so has a file
    /// that cannot be read.
    package static func count(in file: FileDescriptor, _ limit: Limit) -> Count {
        guard var pages = TIFFPages(file) else { return .one }
        return pages.count(limit)
    }

    private let file: FileDescriptor
    private let isLittleEndian: Bool
    private let isBig: Bool
    /// The place of the next directory; 0 if there is none.
    private var next: UInt64

    /// nil for another kind of file.
    private init?(_ file: FileDescriptor) {
        self.file = file
        let head = Self.read(16, of: file, at: 0)
        guard InputFormat(prefix: head[...]) == .tiff, head.count >= 8 else { return nil }
        isLittleEndian = head[0] == UInt8(ascii: "I")
        isBig = head[isLittleEndian ? 2 : 3] == 43
        next = 0
        if isBig {
            // Places have eight bytes.
            guard head.count == 16, number(head[4..<6]) == 8, number(head[6..<8]) == 0 else {
                return nil
            }
            next = number(head[8..<16])
        } else {
            next = number(head[4..<8])
        }
    }

    private mutating func count(_ limit: Limit) -> Count {
        var (pages, copies) = (0, 0)
        var seen: Set<UInt64> = []
        while next != 0, seen.insert(next).inserted {
            let isPage = step()
            if isPage ?? true { pages += 1 } else { copies += 1 }
            if isPage == nil { next = 0 }
            if pages > limit.pages { return .tooMany }
            if copies > limit.copies { return .tooManyCopies }
        }
        // A file whose only picture says that it is a smaller copy has that one.
        return .pages(max(1, pages), copies: copies)
    }

    /// Goes past a directory.
    ///
    /// - Returns: whether it is a page; nil if it is not a directory.
    private mutating func step() -> Bool? {
        let (head, entry, place) = isBig ? (8, 20, 8) : (2, 12, 4)
        let piece = Self.read(Self.pieceBytes, of: file, at: next)
        guard piece.count >= head else { return nil }
        let entries = number(piece[..<head])
        guard (1...UInt64(Self.mostEntries)).contains(entries) else { return nil }
        let end = head + Int(entries) * entry
        let (after, isOverflow) = next.addingReportingOverflow(UInt64(end))
        guard !isOverflow else { return nil }
        var link: ArraySlice<UInt8>
        if end + place <= piece.count {
            link = piece[end..<end + place]
        } else {
            // With one byte before it, which shows whether the entries are all there.
            let rest = Self.read(place + 1, of: file, at: after - 1)
            guard !rest.isEmpty else { return nil }
            link = rest.dropFirst()
        }
        let known = min(Int(entries), (piece.count - head) / entry)
        let isPage = isPage(
            (0..<known).map { piece[(head + $0 * entry)..<(head + ($0 + 1) * entry)] })
        // A file that ends here has a last directory without a place of the next one.
        next = link.count == place ? number(link) : 0
        return isPage
    }

    private func isPage(_ entries: [ArraySlice<UInt8>]) -> Bool {
        func value(of tag: UInt64) -> UInt64? {
            guard let entry = entries.first(where: { number($0.prefix(2)) == tag }) else {
                return nil
            }
            let content = entry.dropFirst(isBig ? 12 : 8)
            switch number(entry.dropFirst(2).prefix(2)) {
            case 1: return number(content.prefix(1))
            case 3: return number(content.prefix(2))
            case 4: return number(content.prefix(4))
            default: return nil
            }
        }
        // Bit 0 is a smaller copy, bit 2 a mask.
        if let kind = value(of: 254) { return kind & 0b101 == 0 }
        // The former tag: 2 is a smaller copy.
        return value(of: 255) != 2
    }

    private func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        isLittleEndian
            ? bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
            : bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Fewer bytes at the end of the file; none outside of it, or if it cannot be read.
    private static func read(_ count: Int, of file: FileDescriptor, at place: UInt64) -> [UInt8] {
        guard let place = Int(exactly: place), place <= Int.max - count else { return [] }
        return (try? file.bytes(count, at: place)) ?? []
    }
}
