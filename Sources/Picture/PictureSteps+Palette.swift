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
            let colours = reader.calls.palette
        else { return nil }
        // The colours are a picture of one row.
        let row = PixelLayout(
            width: colours.count / 4, height: 1, channels: reader.layout.channels, depth: 8)
        let values = try FilterBuffer<UInt8>(count: row.bytes)
        for index in 0..<row.bytes {
            values.start[index] = colours[index / row.channels * 4 + index % row.channels]
        }
        converted?.conversion?.apply(values.start, pixels: row.width, row)
        var filtered = try chain(filters, on: HeldRows(row, [values]), context)
        let layout = filtered.stage.layout
        guard layout.channels >= 3, let band = try filtered.stage.nextBand() else { return nil }
        precondition(layout.width == row.width && layout.depth == 8)
        try reader.calls.keepIndices()
        converted?.leaveIndices()
        let samples = band.start.assumingMemoryBound(to: UInt8.self)
        filtered.palette = FilteredPalette(
            colours: (0..<layout.width).flatMap { index in
                (0..<4).map { $0 < layout.channels ? samples[index * layout.channels + $0] : 255 }
            },
            layout: PixelLayout(
                width: reader.layout.width, height: reader.layout.height,
                channels: layout.channels, depth: 8))
        let indices = Self.indices(source, reader.layout)
        sourcePreview?.colour = reader.colour
        filtered.stage =
            try sourcePreview?.stage(
                on: indices, FilteredPalette(colours: colours, layout: reader.layout)) ?? indices
        // As many bits in the source as the result has.
        if options.compression != .small, filtered.palette?.bits == reader.header.depth,
            try reader.calls.keepData()
        {
            filtered.palette?.copy = try CopiedIndices(of: reader)
        }
        return filtered
    }

    /// Bands of indices of a picture with this layout: one byte each, whatever depth a confined reader has told.
    fileprivate static func indices(_ source: any Stage, _ layout: PixelLayout) -> any Stage {
        let indices = PixelLayout(width: layout.width, height: layout.height, channels: 1, depth: 8)
        return InPlaceStage(source, layout: indices) { _ in }
    }

    /// Whether the result may have the palette of its source.
    func keepsPalette(of reader: any PictureReader, _ result: PictureResult) -> Bool {
        guard let reader = reader.stored as? PNGReader, reader.header.hasPalette,
            !reader.header.isInterlaced, limits.damaged == .fail,
            options.format.encoder.usesPalette,
            result.handOver == nil
        else { return false }
        return (!autoOrient || reader.orientation == .topLeft)
            && filters.allSatisfy(\.isPointOperation)
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
        try reader.calls.keepIndices()
        again.input.stage = PictureSteps.indices(reader, reader.layout)
        again.picture = try steps.options.format.encoder.write(again.input)
        return again
    }
}
