package import SystemPackage

/// A small copy of a picture for a page, made of the rows that pass a place of the pipeline: the source, upright, before
/// its filters, or the result before its writer.
///
/// It costs little beside the picture: it looks at a few samples only, and of each of its pixels at the same number. Each
/// side of the picture is divided into as many equal parts as there are samples, and the pixel in the middle of a part
/// is taken. A pixel of the copy is the rounded mean of its samples. Transparent pixels are laid over white, 16 bits
/// are cut to 8, and a colour profile is not kept.
///
/// It belongs to one thread at a time.
package final class PicturePreview {
    /// A browser shows a result with at most this many pixels as fast as a copy.
    package static let mostPixelsWithout = 1 << 19

    /// The longest side of a copy of a picture with `mostPixelsWithout`, in pixels, and of any copy. In between, its
    /// number of pixels grows with that of the picture, and so do the costs of both.
    private static let sides = 96...512

    /// The layout of the copy: gray or RGB; nil before the last row.
    package private(set) var layout: PixelLayout?
    /// One row after the other.
    package private(set) var samples: [UInt8] = []
    /// The layout of the whole picture.
    private var picture: PixelLayout?

    package init() {}

    /// The size of the copy of a picture.
    package static func size(ofWidth width: Int, height: Int) -> (width: Int, height: Int) {
        let pixels = width.multipliedReportingOverflow(by: height)
        let factor =
            (Double(pixels.overflow ? .max : pixels.partialValue) / Double(mostPixelsWithout))
            .squareRoot()
        let side = min(
            sides.upperBound, Int(Double(sides.lowerBound) * min(100, max(1, factor))))
        let longest = max(width, height)
        guard longest > side else { return (width, height) }
        return (max(1, width * side / longest), max(1, height * side / longest))
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
    package func write(to file: FileDescriptor, name: String) throws(PictureError) {
        guard let layout else { return }
        _ = try JPEGWriter.write(
            try PreviewRows(layout, samples), to: file, name: name,
            options: OutputOptions(format: .jpeg, quality: 75))
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

/// Takes the samples of a preview from bands of rows.
struct PreviewSampler {
    /// The means, whose first `end` are complete.
    private(set) var result: [UInt8]
    private var end = 0

    private let width: Int
    /// 1 or 3.
    private let channels: Int
    /// From a sample of a pixel to its next one, in bytes.
    private let step: Int
    /// From the first sample of a pixel to its alpha, in bytes; nil if it has none.
    private let alpha: Int?
    /// If a row has indices: four samples of each.
    private let colours: [UInt8]
    /// The logarithm of the number of samples on each side of a pixel.
    private let shift: Int
    /// The places in a row from which samples are taken, in bytes.
    private let columns: [Int]
    /// The rows from which samples are taken.
    private let rows: [Int]
    /// The number of those that are done.
    private var done = 0
    private var sums: [UInt16]

    /// - Parameters:
    ///   - picture: the layout of the pixels.
    ///   - palette: if the rows are indices: their colours.
    ///   - small: the layout of the preview.
    init(_ picture: PixelLayout, _ palette: FilteredPalette?, _ small: PixelLayout) {
        width = small.width
        channels = small.channels
        shift = Self.shift(of: picture, small)
        colours = palette?.colours ?? []
        step = palette == nil ? picture.depth / 8 : 1
        // A palette always has four samples.
        alpha = picture.hasAlpha || palette != nil ? (palette == nil ? channels * step : 3) : nil
        let bytes = palette == nil ? picture.bytesPerPixel : 1
        // Of 16 bits in the machine's byte order, the byte with the higher bits.
        let high = palette == nil && picture.depth == 16 && 1.littleEndian == 1 ? 1 : 0
        columns = Self.places(small.width << shift, of: picture.width).map { $0 * bytes + high }
        rows = Self.places(small.height << shift, of: picture.height)
        sums = [UInt16](repeating: 0, count: small.width * small.channels)
        result = [UInt8](repeating: 0, count: small.bytes)
    }

    /// 2 × 2 samples for a pixel, or 4 × 4 if it stands for more than 16 × 16 pixels. One for a small picture, where a
    /// copy costs a larger part of the time.
    private static func shift(of picture: PixelLayout, _ small: PixelLayout) -> Int {
        guard PicturePreview.isNeeded(forWidth: picture.width, height: picture.height) else {
            return 0
        }
        return max(picture.width, picture.height) > 16 * max(small.width, small.height) ? 2 : 1
    }

    /// The middles of `count` equal parts of `length` pixels.
    private static func places(_ count: Int, of length: Int) -> [Int] {
        (0..<count).map { (2 * $0 + 1) * length / (2 * count) }
    }

    /// - Returns: whether this band has the last row that was needed.
    mutating func add(_ band: Band, bytesPerRow: Int) -> Bool {
        guard done < rows.count else { return false }
        while done < rows.count, rows[done] < band.rows.upperBound {
            let row =
                band.start.assumingMemoryBound(to: UInt8.self)
                + (rows[done] - band.rows.lowerBound) * bytesPerRow
            if colours.isEmpty {
                add(row)
            } else {
                add(indices: row)
            }
            done += 1
            if done % (1 << shift) == 0 { endRow() }
        }
        return done == rows.count
    }

    private mutating func add(_ row: UnsafePointer<UInt8>) {
        let (step, count, channels, alpha) = (step, 1 << shift, channels, alpha)
        columns.withUnsafeBufferPointer { columns in
            sums.withUnsafeMutableBufferPointer { sums in
                var column = 0
                for place in stride(from: 0, to: sums.count, by: channels) {
                    for _ in 0..<count {
                        let pixel = row + columns[column]
                        column &+= 1
                        if let alpha {
                            for channel in 0..<channels {
                                sums[place + channel] &+= Self.onWhite(
                                    pixel[channel * step], pixel[alpha])
                            }
                        } else if channels == 3 {
                            sums[place] &+= UInt16(pixel[0])
                            sums[place + 1] &+= UInt16(pixel[step])
                            sums[place + 2] &+= UInt16(pixel[2 * step])
                        } else {
                            sums[place] &+= UInt16(pixel[0])
                        }
                    }
                }
            }
        }
    }

    private mutating func add(indices row: UnsafePointer<UInt8>) {
        for index in columns.indices {
            // The reader has checked the indices.
            let colour = 4 * Int(row[columns[index]])
            guard colour + 3 < colours.count else { continue }
            for channel in 0..<channels {
                sums[(index >> shift) * channels + channel] &+= Self.onWhite(
                    colours[colour + channel], colours[colour + 3])
            }
        }
    }

    private static func onWhite(_ value: UInt8, _ alpha: UInt8) -> UInt16 {
        let (value, alpha) = (UInt32(value), UInt32(alpha))
        return UInt16((value * alpha + 255 * (255 - alpha) + 127) / 255)
    }

    /// Appends the means, without the checks of arrays: this is a large part of the cost of a copy.
    private mutating func endRow() {
        let bits = UInt16(2 * shift)
        let half: UInt16 = (1 << bits) / 2
        sums.withUnsafeMutableBufferPointer { sums in
            result.withUnsafeMutableBufferPointer { result in
                let row = UnsafeMutableBufferPointer(rebasing: result[end..<(end + sums.count)])
                for index in sums.indices {
                    row[index] = UInt8(truncatingIfNeeded: (sums[index] &+ half) &>> bits)
                    sums[index] = 0
                }
            }
        }
        end += sums.count
    }
}

/// The rows of a preview, in one band.
private final class PreviewRows: Stage {
    let layout: PixelLayout
    private let memory: FilterBuffer<UInt8>
    private var isLent = false

    init(_ layout: PixelLayout, _ samples: [UInt8]) throws(PictureError) {
        precondition(samples.count == layout.bytes)
        self.layout = layout
        memory = try FilterBuffer(count: layout.bytes)
        for (index, sample) in samples.enumerated() { memory.start[index] = sample }
    }

    func nextBand() throws(PictureError) -> Band? {
        if isLent { return nil }
        isLent = true
        return Band(start: UnsafeMutableRawPointer(memory.start), rows: 0..<layout.height)
    }
}
