import CDarkroomShims
import DarkroomCore
import Glibc

/// A small copy of a picture for a page, made of the rows that pass a place of the pipeline: the source, upright, before
/// its filters, or the result before its writer.
///
/// It costs little beside the picture: it looks at a few samples only, and of each of its pixels at the same number. Each
/// side of the picture is divided into as many equal parts as there are samples, and the pixel in the middle of a part
/// is taken. A pixel of the copy is the rounded mean of its samples. Transparent pixels are laid over white, and 16 bits
/// are cut to 8. The file has the picture's colour profile, or its samples are converted from the picture's gamma, so
/// that a browser shows the copy as it shows the picture.
///
/// It belongs to one thread at a time.
package final class PicturePreview {
    /// A browser shows a result with at most this many pixels as fast as a copy.
    package static let mostPixelsWithout = 1 << 19

    /// The longest side of the copy of a picture with at most `mostPixelsWithout`, in pixels.
    private static let smallSide = 96
    /// The longest side of the copy of a picture with one pixel more, and of any copy. In between, its number of pixels
    /// grows with that of the picture, and so do the costs of both.
    private static let sides = 160...512

    /// The layout of the copy: gray or RGB; nil before the last row.
    package private(set) var layout: PixelLayout?
    /// One row after the other; nil before the last row.
    private(set) var samples: FilterBuffer<UInt8>?
    /// The layout of the whole picture.
    private var picture: PixelLayout?
    /// The meaning of the picture's values. Of it, the profile and the gamma are used.
    var colour = PictureColour()
    /// The size of the picture in its file, if it is decoded at a smaller one; upright.
    var storedSize: (width: Int, height: Int)?
    /// How a viewer turns the picture, because its file says so.
    package internal(set) var orientation = Orientation.topLeft

    package init() {}

    /// The size of the copy of a picture.
    package static func size(ofWidth width: Int, height: Int) -> (width: Int, height: Int) {
        let side = side(ofWidth: width, height: height)
        let longest = max(width, height)
        guard longest > side else { return (width, height) }
        return (max(1, width * side / longest), max(1, height * side / longest))
    }

    private static func side(ofWidth width: Int, height: Int) -> Int {
        guard isNeeded(forWidth: width, height: height) else { return smallSide }
        let pixels = Double(width.saturatingMultiply(height))
        let factor = (pixels / Double(mostPixelsWithout)).squareRoot()
        return min(sides.upperBound, Int(Double(sides.lowerBound) * min(100, factor)))
    }

    /// Whether a page needs a copy of a result of this size.
    package static func isNeeded(forWidth width: Int, height: Int) -> Bool {
        width.saturatingMultiply(height) > mostPixelsWithout
    }

    /// Whether a page needs this copy, if it is of a result.
    package var isNeeded: Bool {
        picture.map { Self.isNeeded(forWidth: $0.width, height: $0.height) } ?? false
    }

    /// The stage that looks at the rows of `upstream`.
    ///
    /// - Parameter palette: if the rows are indices: their colours.
    /// - Throws: `outOfMemory`.
    func stage(
        on upstream: any Stage, _ palette: FilteredPalette? = nil
    ) throws(PictureError) -> any Stage {
        layout = nil
        samples = nil
        orientation = .topLeft
        storedSize = nil
        let picture = palette?.layout ?? upstream.layout
        self.picture = picture
        let size = Self.size(ofWidth: picture.width, height: picture.height)
        let small = PixelLayout(
            width: size.width, height: size.height, channels: picture.colourChannels, depth: 8)
        var sampler = try PreviewSampler(picture, palette, small)
        let bytesPerRow = upstream.layout.bytesPerRow
        // This precedes the borrower, who may change the rows.
        return InPlaceStage(upstream) { [self] band in
            guard sampler.add(band, bytesPerRow: bytesPerRow) else { return }
            (layout, samples) = (small, sampler.result)
        }
    }

    /// A copy that is bright where the copies of two pictures of the same size differ: the absolute difference of each
    /// channel. nil if the sizes are not the same, or a copy is not complete.
    ///
    /// - Throws: `outOfMemory`.
    package func difference(from other: PicturePreview) throws(PictureError) -> PicturePreview? {
        guard let picture, let otherPicture = other.picture, let ownLayout = self.layout,
            let otherLayout = other.layout, let samples, let otherSamples = other.samples,
            picture.width == otherPicture.width, picture.height == otherPicture.height
        else { return nil }
        let layout = ownLayout.with(channels: max(ownLayout.channels, otherLayout.channels))
        let result = try FilterBuffer<UInt8>(count: layout.bytes)
        let own = try HeldRows(ownLayout, [samples]).held(channels: layout.channels)
        let others = try HeldRows(otherLayout, [otherSamples]).held(channels: layout.channels)
        let (first, second, target) = (own.start, others.start, result.start)
        for index in 0..<layout.bytes {
            let (a, b) = (Int16(first[index]), Int16(second[index]))
            target[index] = UInt8(truncatingIfNeeded: abs(a - b))
        }
        let difference = PicturePreview()
        difference.picture = picture
        difference.layout = layout
        difference.samples = result
        return difference
    }

    /// The file of the copy of a result, a JPEG; nil if there is no copy. It says how a viewer turns it, as the result
    /// does.
    package func file() throws(PictureError) -> [UInt8]? {
        guard let rows = try rows() else { return nil }
        return try encoded(
            rows, name: "the small copy of the result",
            exif: orientation == .topLeft ? nil : Exif.stating(orientation))
    }

    /// The copy of a source as a JPEG, as a viewer shows the result; nil if there is no copy.
    ///
    /// - Parameters:
    ///   - difference: a copy of the same size that stands below this one, see `PreviewPair`.
    ///   - orientation: how a viewer turns the result.
    package func encoded(
        above difference: PicturePreview? = nil, orientation: Orientation = .topLeft
    ) throws(PictureError) -> EncodedPreview? {
        guard let picture, let upper = try self.rows(orientation) else { return nil }
        let layout = upper.layout
        var rows = upper
        if let lower = try difference?.rows(orientation) { rows = try upper.paired(with: lower) }
        let stored = storedSize ?? (picture.width, picture.height)
        let (width, height) =
            orientation.isTransposed ? (stored.height, stored.width) : (stored.width, stored.height)
        return EncodedPreview(
            facts: PreviewFacts(
                width: layout.width, height: layout.height,
                isPair: rows.layout.height > layout.height,
                orientation: orientation, sourceWidth: width, sourceHeight: height),
            jpeg: try encoded(rows, name: "the small copy of the source", exif: nil))
    }

    private func encoded(
        _ rows: any Stage, name: String, exif: [UInt8]?
    ) throws(PictureError) -> [UInt8] {
        guard let layout, let picture else { return [] }
        let isReduced = layout.width < picture.width || layout.height < picture.height
        let profile = colour.profile.flatMap {
            $0.isGray == (rows.layout.channels == 1) ? $0 : nil
        }
        return try JPEGWriter.small(
            rows, name: name, profile: profile, exif: exif,
            // A picture of a few pixels would lose its colours.
            quality: isReduced ? 75 : 92, hasFullChroma: !isReduced)
    }

    /// The rows of the copy, with samples of sRGB if the picture only states its gamma; nil if there is no copy.
    ///
    /// - Parameter orientation: how a viewer turns them. They are turned.
    private func rows(_ orientation: Orientation = .topLeft) throws(PictureError) -> (any Stage)? {
        guard let layout, let samples else { return nil }
        // A later stage may change its rows in place, and the samples must stay.
        var rows: any Stage = try RowStage(HeldRows(layout, [samples]), layout: layout) {
            $1.copyMemory(from: $0, byteCount: layout.bytesPerRow)
        }
        if let gammaTable = colour.gammaTable {
            let table = try SampleTable(depth: 8) {
                $0.copyMemory(from: gammaTable, byteCount: gammaTable.count)
            }
            rows = ColourFilters.mapped(.colour, by: table, rows)
        }
        return try FilterStage.chain(
            orientation.filters, upstream: rows, context: StageContext(limits: PictureLimits()))
    }
}

/// Two small copies of one size in one file, because a second file would cost as much as its content: the upper one,
/// rows that are not shown, the lower one.
package struct PreviewPair: Sendable, Equatable {
    /// The rows of each copy.
    package let rows: Int

    package init(rows: Int) { self.rows = rows }

    /// The rows in between repeat the ones beside them. So a browser that enlarges the copies does not mix them, and
    /// neither does JPEG: the lower copy and its 8 rows before it begin with blocks of their own.
    package var gap: Int {
        let least = 9
        return least + (16 - (rows + least) % 16) % 16
    }

    /// The rows of the file.
    package var height: Int { 2 * rows + gap }
}

extension PictureColour {
    /// The samples of sRGB for the samples of a picture that only states its gamma; nil if they are nearly the same. A
    /// JPEG cannot state a gamma. (PNG 3, section 13.13; of sRGB, the exponent 1 / 2.2 is near enough.)
    fileprivate var gammaTable: [UInt8]? {
        guard let gamma, gamma > 0, profile == nil, renderingIntent == nil, codePoints == nil
        else { return nil }
        let exponent = 1 / (2.2 * Double(gamma) / 100_000)
        guard abs(exponent - 1) > 0.02 else { return nil }
        return (0...255).map {
            UInt8((pow(Double($0) / 255, exponent) * 255).rounded())
        }
    }
}

extension Stage {
    /// Two previews of one size, gray or RGB each, in one picture, see `PreviewPair`.
    fileprivate func paired(with lower: any Stage) throws(PictureError) -> any Stage {
        precondition(lower.layout.width == layout.width && lower.layout.height == layout.height)
        let layout = layout.with(channels: max(layout.channels, lower.layout.channels))
        let first = try held(channels: layout.channels)
        let second = try lower.held(channels: layout.channels)
        let pair = PreviewPair(rows: layout.height)
        let bytes = layout.bytesPerRow
        let gap = try FilterBuffer<UInt8>(count: pair.gap * bytes)
        for row in 0..<pair.gap {
            gap.at(row * bytes).update(
                from: row < pair.gap - 8 ? first.at((pair.rows - 1) * bytes) : second.start,
                count: bytes)
        }
        return HeldRows(layout.with(height: pair.height), [first, gap, second])
    }

    /// All samples of a gray or RGB picture, with so many channels. A gray sample stands for all of them.
    fileprivate func held(channels: Int) throws(PictureError) -> FilterBuffer<UInt8> {
        let picture = try WholePicture(
            expanded(toChannels: channels), PictureMemory(limit: .max), for: "a small copy")
        _ = try picture.start()
        return picture.memory
    }
}
