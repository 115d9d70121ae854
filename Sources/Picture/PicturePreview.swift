import Glibc
package import SystemPackage

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
    /// One row after the other.
    package private(set) var samples: [UInt8] = []
    /// The layout of the whole picture.
    private var picture: PixelLayout?
    /// The meaning of the picture's values. Of it, the profile and the gamma are used.
    var colour = PNGColour()
    /// The size of the picture in its file, if it is decoded at a smaller one; upright.
    var storedSize: (width: Int, height: Int)?
    /// How a viewer turns the picture, because its file says so. The copy's file then says it, too.
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
        let pixels = width.multipliedReportingOverflow(by: height)
        let factor =
            (Double(pixels.overflow ? .max : pixels.partialValue) / Double(mostPixelsWithout))
            .squareRoot()
        return min(sides.upperBound, Int(Double(sides.lowerBound) * min(100, factor)))
    }

    /// Whether a page needs a copy of a result of this size.
    package static func isNeeded(forWidth width: Int, height: Int) -> Bool {
        let pixels = width.multipliedReportingOverflow(by: height)
        return pixels.overflow || pixels.partialValue > mostPixelsWithout
    }

    /// Whether a page needs this copy, if it is of a result.
    package var isNeeded: Bool {
        picture.map { Self.isNeeded(forWidth: $0.width, height: $0.height) } ?? false
    }

    /// The stage that looks at the rows of `upstream`.
    ///
    /// - Parameter palette: if the rows are indices: their colours.
    func stage(on upstream: any Stage, _ palette: FilteredPalette? = nil) -> any Stage {
        layout = nil
        samples = []
        orientation = .topLeft
        storedSize = nil
        let picture = palette?.layout ?? upstream.layout
        self.picture = picture
        let size = Self.size(ofWidth: picture.width, height: picture.height)
        let small = PixelLayout(
            width: size.width, height: size.height, channels: picture.colourChannels, depth: 8)
        return PreviewStage(upstream, PreviewSampler(picture, palette, small)) { [self] samples in
            layout = small
            self.samples = samples
        }
    }

    /// A copy that is bright where the copies of two pictures of the same size differ: the absolute difference of each
    /// channel. nil if the sizes are not the same, or a copy is not complete.
    package func difference(from other: PicturePreview) -> PicturePreview? {
        guard let picture, let otherPicture = other.picture, let layout,
            let otherLayout = other.layout,
            picture.width == otherPicture.width, picture.height == otherPicture.height
        else { return nil }
        let result = PicturePreview()
        result.picture = picture
        let channels = max(layout.channels, otherLayout.channels)
        result.layout = PixelLayout(
            width: layout.width, height: layout.height, channels: channels, depth: 8)
        // A gray sample stands for all channels.
        let (step, otherStep) = (
            layout.channels == channels ? 1 : 3, otherLayout.channels == channels ? 1 : 3
        )
        let pixels = layout.width * layout.height
        result.samples = [UInt8](unsafeUninitializedCapacity: pixels * channels) { buffer, count in
            samples.withUnsafeBufferPointer { own in
                other.samples.withUnsafeBufferPointer { other in
                    guard step != 1 || otherStep != 1 else {
                        // Without a division, this takes a tenth of the time.
                        for index in buffer.indices {
                            let (a, b) = (Int16(own[index]), Int16(other[index]))
                            buffer[index] = UInt8(truncatingIfNeeded: abs(a - b))
                        }
                        count = buffer.count
                        return
                    }
                    for index in buffer.indices {
                        let (a, b) = (Int16(own[index / step]), Int16(other[index / otherStep]))
                        buffer[index] = UInt8(truncatingIfNeeded: abs(a - b))
                    }
                }
            }
            count = buffer.count
        }
        return result
    }

    /// Writes the copy as a JPEG, if there is one. The file is neither synced nor closed.
    ///
    /// - Parameters:
    ///   - difference: a copy of the same size that is written below this one, see `PreviewPair`.
    ///   - orientation: how a viewer is to turn it.
    package func write(
        to file: FileDescriptor, name: String, above difference: PicturePreview? = nil,
        orientation: Orientation = .topLeft
    ) throws(PictureError) {
        guard let layout, let picture else { return }
        let isReduced = layout.width < picture.width || layout.height < picture.height
        let rows = try PreviewRows(self, above: difference, colour.gammaTable)
        let profile = colour.profile.flatMap {
            $0.isGray == (rows.layout.channels == 1) ? $0 : nil
        }
        try JPEGWriter.writeSmall(
            rows, to: file, name: name, profile: profile,
            exif: Exif.stating(
                orientation, width: storedSize?.width ?? picture.width,
                height: storedSize?.height ?? picture.height),
            // A picture of a few pixels would lose its colours.
            quality: isReduced ? 75 : 92,
            hasFullChroma: !isReduced)
    }
}

/// What the file of a small copy says.
package struct PreviewHeader: Sendable {
    /// The size of the copy.
    package let layout: PixelLayout
    /// How a viewer turns it.
    package let orientation: Orientation
    /// The size of the whole picture, in pixels; nil if the file does not say it.
    package let picture: (width: Int, height: Int)?

    /// - Parameter name: the name of the file in messages.
    package init(of file: FileDescriptor, name: String) throws(PictureError) {
        let reader = try PictureDecoder.reader(
            of: .file(file), name: name, limits: PictureLimits(), checkpoint: { true })
        layout = reader.layout
        orientation = reader.orientation
        picture = reader.exif.flatMap { Exif.statedSize($0) }
    }

    /// Whether the copy has fewer pixels than the picture.
    package var isReduced: Bool {
        picture.map { layout.width < $0.width || layout.height < $0.height } ?? true
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

extension PNGColour {
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

/// Lends the rows of `upstream` and looks at them before the borrower, who may change them.
private final class PreviewStage: Stage {
    let layout: PixelLayout
    private let upstream: any Stage
    private var sampler: PreviewSampler
    private let finish: ([UInt8]) -> Void

    init(
        _ upstream: any Stage, _ sampler: PreviewSampler, finish: @escaping ([UInt8]) -> Void
    ) {
        self.upstream = upstream
        self.sampler = sampler
        self.finish = finish
        layout = upstream.layout
    }

    func nextBand() throws(PictureError) -> Band? {
        guard let band = try upstream.nextBand() else { return nil }
        if sampler.add(band, bytesPerRow: layout.bytesPerRow) { finish(sampler.result) }
        return band
    }
}

/// The rows of a preview or of two, in one band.
private final class PreviewRows: Stage {
    let layout: PixelLayout
    private let memory: FilterBuffer<UInt8>
    private var isLent = false

    /// - Parameter table: the sample that is written for each sample of the upper one; nil for the same.
    init(
        _ upper: PicturePreview, above lower: PicturePreview?, _ table: [UInt8]?
    ) throws(PictureError) {
        guard let own = upper.layout else { preconditionFailure("a copy without rows") }
        var layout = own
        if let other = lower?.layout {
            precondition(other.width == own.width && other.height == own.height)
            layout.height = PreviewPair(rows: own.height).height
            layout.channels = max(own.channels, other.channels)
        }
        memory = try FilterBuffer(count: layout.bytes)
        self.layout = layout
        put(upper, at: 0, table)
        guard let lower else { return }
        let pair = PreviewPair(rows: own.height)
        let first = own.height + pair.gap
        put(lower, at: first, nil)
        for row in own.height..<first {
            copy(row < first - 8 ? own.height - 1 : first, to: row)
        }
    }

    private func put(_ preview: PicturePreview, at row: Int, _ table: [UInt8]?) {
        let target = memory.start + row * layout.bytesPerRow
        // A gray sample stands for all channels.
        let copies = preview.layout?.channels == layout.channels ? 1 : layout.channels
        guard table != nil || copies > 1 else {
            preview.samples.withUnsafeBufferPointer {
                if let start = $0.baseAddress { target.update(from: start, count: $0.count) }
            }
            return
        }
        for (index, sample) in preview.samples.enumerated() {
            let sample = table?[Int(sample)] ?? sample
            for copy in 0..<copies { target[index * copies + copy] = sample }
        }
    }

    private func copy(_ row: Int, to other: Int) {
        let bytes = layout.bytesPerRow
        (memory.start + other * bytes).update(from: memory.start + row * bytes, count: bytes)
    }

    func nextBand() throws(PictureError) -> Band? {
        if isLent { return nil }
        isLent = true
        return Band(start: UnsafeMutableRawPointer(memory.start), rows: 0..<layout.height)
    }
}
