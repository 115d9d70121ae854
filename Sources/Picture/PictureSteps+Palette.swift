import Glibc
import SystemPackage

/// Pictures with a palette whose filters look at one pixel at a time. The colours are filtered, the indices are not
/// touched, and the result has a palette too: a third of the bytes, and nearly no work. The compressed indices are
/// copied, unless `compression` is `small`, or their compressor made little effort.
///
/// The pixels are those that the filters would make of the picture without its palette, because these filters give the
/// same colour for the same colour everywhere. All checks of the source's data stay. Gray results have no palette: they
/// are as small without it. Nor have pictures for other images, interlaced ones, or those that are turned upright.
extension PictureSteps {
    /// The filtered palette, and the indices as rows; nil if the result will have no palette. Then nothing has changed.
    ///
    /// - Parameter source: the reader, or what reads it ahead.
    func filteredPalette(
        _ source: any Stage, of reader: any PictureReader, _ result: PictureResult,
        _ context: StageContext
    ) throws(PictureError) -> Filtered? {
        let converted = reader as? ConvertedReader
        guard keepsPalette(of: reader, result), let reader = reader.stored as? PNGReader,
            let colours = reader.palette
        else { return nil }
        let row = try PaletteRow(colours, channels: reader.layout.channels)
        converted?.conversion?.apply(row.start, pixels: row.layout.width, row.layout)
        var filtered = try chain(filters, on: row, context)
        let layout = filtered.stage.layout
        guard layout.channels >= 3, let band = try filtered.stage.nextBand() else { return nil }
        precondition(layout.width == row.layout.width && layout.depth == 8)
        try reader.keepIndices()
        converted?.leaveIndices()
        let samples = band.start.assumingMemoryBound(to: UInt8.self)
        filtered.palette = FilteredPalette(
            colours: (0..<layout.width).flatMap { index in
                (0..<4).map { $0 < layout.channels ? samples[index * layout.channels + $0] : 255 }
            },
            layout: PixelLayout(
                width: reader.layout.width, height: reader.layout.height,
                channels: layout.channels, depth: 8))
        let indices = IndexRows(source, reader.layout)
        sourcePreview?.colour = reader.colour
        filtered.stage =
            try sourcePreview?.stage(
                on: indices, FilteredPalette(colours: colours, layout: reader.layout)) ?? indices
        // As many bits in the source as the result has.
        if options.compression != .small, filtered.palette?.bits == reader.header.depth,
            try reader.keepData()
        {
            filtered.palette?.copy = try CopiedIndices(of: reader)
        }
        return filtered
    }

    /// Whether the result may have the palette of its source.
    func keepsPalette(of reader: any PictureReader, _ result: PictureResult) -> Bool {
        guard let reader = reader.stored as? PNGReader, reader.header.hasPalette,
            !reader.header.isInterlaced, limits.damaged == .fail,
            options.format.encoder.usesPalette,
            result.handOver == nil
        else { return false }
        return (!autoOrient || reader.orientation == .topLeft)
            && filters.allSatisfy(\.looksAtOnePixel)
    }
}

extension PictureConversion {
    /// Writes the result again, without a copy of the indices, if these have more rows than the picture. Whoever reads the
    /// result would find the surplus there.
    ///
    /// - Parameter reopen: reads the source from its beginning.
    func withoutSurplus(
        _ written: Written, reopen: () throws(PictureError) -> any PictureReader
    ) throws(PictureError) -> Written {
        guard written.input.palette?.copy?.hasSurplus == true else { return written }
        var again = written
        again.input.palette?.copy = nil
        again.input.ahead = nil
        let (file, name) = (result.file, result.name)
        let begin = lseek(file.rawValue, -off_t(written.picture.bytes), SEEK_CUR)
        // A pipe has got the bytes already, which are a picture too.
        if begin < 0 { return written }
        guard ftruncate(file.rawValue, begin) == 0 else {
            throw PictureError(
                .writeFailed, "\(name): writing the file again", Errno(rawValue: errno))
        }
        guard let reader = try reopen().stored as? PNGReader else {
            throw PictureError(
                .readFailed,
                "reading it again: it was changed while it was being filtered",
                isTransient: true)
        }
        try reader.keepIndices()
        again.input.stage = IndexRows(reader, reader.layout)
        again.picture = try steps.options.format.encoder.write(again.input)
        return again
    }
}

/// The colours of a palette as a picture of one row.
private final class PaletteRow: Stage {
    let layout: PixelLayout
    /// The filters may change it.
    private let memory: FilterBuffer<UInt8>
    private var isLent = false
    var start: UnsafeMutableRawPointer { UnsafeMutableRawPointer(memory.start) }

    init(_ colours: [UInt8], channels: Int) throws(PictureError) {
        let count = colours.count / 4
        layout = PixelLayout(width: count, height: 1, channels: channels, depth: 8)
        memory = try FilterBuffer(count: count * channels)
        for index in 0..<count {
            for channel in 0..<channels {
                memory.start[index * channels + channel] = colours[4 * index + channel]
            }
        }
    }

    func nextBand() throws(PictureError) -> Band? {
        if isLent { return nil }
        isLent = true
        return Band(start: UnsafeMutableRawPointer(memory.start), rows: 0..<1)
    }
}

/// Bands of indices, one byte each.
private final class IndexRows: Stage {
    let layout: PixelLayout
    private let source: any Stage

    init(_ source: any Stage, _ layout: PixelLayout) {
        self.source = source
        self.layout = PixelLayout(
            width: layout.width, height: layout.height, channels: 1, depth: 8)
    }

    func nextBand() throws(PictureError) -> Band? { try source.nextBand() }
}
