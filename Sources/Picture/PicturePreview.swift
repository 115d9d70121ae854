package import SystemPackage

/// A small copy of a result for a page, made of the rows that go to the writer.
///
/// It costs little beside the picture: it looks at a few samples only, and of each of its pixels at the same number. Each
/// side of the picture is divided into as many equal parts as there are samples, and the pixel in the middle of a part
/// is taken. A pixel of the copy is the rounded mean of its samples. Transparent pixels are laid over white, 16 bits
/// are cut to 8, and a colour profile is not kept.
///
/// It belongs to one thread at a time.
package final class PicturePreview {
    /// The longest side, in pixels.
    package static let side = 128

    /// A result with at most this many pixels has no copy: a browser shows it as fast.
    package static let mostPixelsWithout = 1 << 19

    /// The layout of the copy: gray or RGB; nil if the result is small, or before its last row.
    package private(set) var layout: PixelLayout?
    /// One row after the other.
    package private(set) var samples: [UInt8] = []

    package init() {}

    /// The size of the copy of a picture; nil if it has none.
    package static func size(ofWidth width: Int, height: Int) -> (width: Int, height: Int)? {
        guard width.multipliedReportingOverflow(by: height).partialValue > mostPixelsWithout else {
            return nil
        }
        let longest = max(width, height)
        return (max(1, width * side / longest), max(1, height * side / longest))
    }

    /// The stage that looks at the rows of `upstream`; `upstream` itself if the result has no copy.
    ///
    /// - Parameter palette: if the rows are indices: their colours.
    func stage(on upstream: any Stage, _ palette: FilteredPalette?) -> any Stage {
        layout = nil
        samples = []
        let picture = palette?.layout ?? upstream.layout
        guard let size = Self.size(ofWidth: picture.width, height: picture.height) else {
            return upstream
        }
        let small = PixelLayout(
            width: size.width, height: size.height, channels: picture.colourChannels, depth: 8)
        return PreviewStage(upstream, PreviewSampler(picture, palette, small)) { [self] samples in
            layout = small
            self.samples = samples
        }
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
    /// The means of the rows that are complete.
    private(set) var result: [UInt8] = []

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
        shift = Self.shift(of: picture)
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
        result.reserveCapacity(small.bytes)
    }

    /// 2 × 2 samples for a pixel, or 4 × 4 if it stands for more than 16 × 16 pixels.
    private static func shift(of picture: PixelLayout) -> Int {
        max(picture.width, picture.height) > 16 * PicturePreview.side ? 2 : 1
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
        let (step, shift, channels, alpha) = (step, shift, channels, alpha)
        columns.withUnsafeBufferPointer { columns in
            sums.withUnsafeMutableBufferPointer { sums in
                for index in columns.indices {
                    let pixel = row + columns[index]
                    let place = (index >> shift) * channels
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

    private mutating func endRow() {
        let half = UInt16(1 << (2 * shift - 1))
        for index in sums.indices {
            result.append(UInt8((sums[index] + half) >> (2 * shift)))
            sums[index] = 0
        }
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
