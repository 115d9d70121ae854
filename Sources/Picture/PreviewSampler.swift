/// Takes the samples of a preview from bands of rows.
struct PreviewSampler {
    /// The means, whose first `end` are complete.
    let result: FilterBuffer<UInt8>
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
    /// Whether each pixel of the copy is one sample that needs no arithmetic: that of a small picture of RGB with 8 bits.
    private let isCopied: Bool

    /// - Parameters:
    ///   - picture: the layout of the pixels.
    ///   - palette: if the rows are indices: their colours.
    ///   - small: the layout of the preview.
    ///
    /// - Throws: `outOfMemory`.
    init(
        _ picture: PixelLayout, _ palette: FilteredPalette?, _ small: PixelLayout
    ) throws(PictureError) {
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
        columns = Self.places(small.width << shift, of: picture.width, bytes: bytes, high: high)
        rows = Self.places(small.height << shift, of: picture.height)
        isCopied = palette == nil && shift == 0 && !picture.hasAlpha && picture.bytesPerPixel == 3
        sums = [UInt16](repeating: 0, count: isCopied ? 0 : small.width * small.channels)
        result = try FilterBuffer(count: small.bytes)
    }

    /// 2 × 2 samples for a pixel, or 4 × 4 if it stands for more than 16 × 16 pixels. One for a small picture, where a
    /// copy costs a larger part of the time.
    private static func shift(of picture: PixelLayout, _ small: PixelLayout) -> Int {
        guard PicturePreview.isNeeded(forWidth: picture.width, height: picture.height) else {
            return 0
        }
        return max(picture.width, picture.height) > 16 * max(small.width, small.height) ? 2 : 1
    }

    /// The middles of `count` equal parts of `length` pixels, in bytes: (2 i + 1) · length / (2 · count).
    private static func places(
        _ count: Int, of length: Int, bytes: Int = 1, high: Int = 0
    ) -> [Int] {
        // From one to the next, without a division.
        let (step, more) = length.quotientAndRemainder(dividingBy: count)
        var (place, rest) = length.quotientAndRemainder(dividingBy: 2 * count)
        return [Int](unsafeUninitializedCapacity: count) { places, initialized in
            for index in 0..<count {
                places[index] = place * bytes + high
                place += step
                rest += 2 * more
                if rest >= 2 * count {
                    rest -= 2 * count
                    place += 1
                }
            }
            initialized = count
        }
    }

    /// - Returns: whether this band has the last row that was needed.
    mutating func add(_ band: Band, bytesPerRow: Int) -> Bool {
        guard done < rows.count else { return false }
        let start = band.start.assumingMemoryBound(to: UInt8.self)
        if isCopied {
            copy(start, band.rows, bytesPerRow)
            return done == rows.count
        }
        while done < rows.count, rows[done] < band.rows.upperBound {
            let row = UnsafePointer(start + (rows[done] - band.rows.lowerBound) * bytesPerRow)
            done += 1
            if colours.isEmpty {
                add(row)
            } else {
                add(indices: row)
            }
            if done % (1 << shift) == 0 { endRow() }
        }
        return done == rows.count
    }

    /// Appends the pixels at the places of all needed rows of a band.
    private mutating func copy(
        _ band: UnsafePointer<UInt8>, _ available: Range<Int>, _ bytesPerRow: Int
    ) {
        var done = done
        var target = UnsafeMutableRawPointer(result.at(end))
        columns.withUnsafeBufferPointer { columns in
            rows.withUnsafeBufferPointer { rows in
                guard let first = columns.baseAddress else { return }
                let last = first + (columns.count - 1)
                while done < rows.count, rows[done] < available.upperBound {
                    let row = UnsafeRawPointer(
                        band + (rows[done] - available.lowerBound) * bytesPerRow)
                    done += 1
                    var column = first
                    // Four bytes at once take half the time of three. The last pixel of a row may have no byte behind
                    // it.
                    while column < last {
                        let pixel = (row + column.pointee).loadUnaligned(as: UInt32.self)
                        target.storeBytes(of: pixel, as: UInt32.self)
                        column += 1
                        target += 3
                    }
                    target.copyMemory(from: row + last.pointee, byteCount: 3)
                    target += 3
                }
            }
        }
        self.done = done
        end = target - UnsafeMutableRawPointer(result.start)
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
        let row = result.at(end)
        sums.withUnsafeMutableBufferPointer { sums in
            for index in sums.indices {
                row[index] = UInt8(truncatingIfNeeded: (sums[index] &+ half) &>> bits)
                sums[index] = 0
            }
        }
        end += sums.count
    }
}
