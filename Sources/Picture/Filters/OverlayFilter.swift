import CDarkroomPixels
import DarkroomCore
import Glibc

/// Lays another image over the picture: the operator *over* of Porter and Duff, on stored values, after those of the
/// other image were brought to the picture's colour space.
///
/// With o for the other's alpha times the opacity, b for the picture's alpha, and V and B for the colours, all from 0
/// to 1: alpha becomes a = o + b·(1 − o), and colour becomes (o·V + b·(1 − o)·B) / a. Parts outside the picture are cut
/// off.
///
/// The result has the picture's size, depth and alpha, and is RGB if one of the two is. Only the visible part of the
/// other image is held in memory, which counts for the picture's budget. It is read when the stage is created, and
/// scaled meanwhile, if the overlay has a scale.
enum OverlayFilter {
    static func make(
        _ overlay: Filter.Overlay, _ upstream: any Stage, _ context: StageContext
    ) throws(PictureError) -> any Stage {
        do throws(PictureError) {
            let image = try context.openImage(overlay.from)
            let source = PictureDecoder.Input(
                .file(image.descriptor.file), name: image.name, limits: context.limits,
                checkpoint: context.checkpoint)
            let reader = try PictureDecoder.reader(of: source)
            // Values mean colours only together with their space, so those of the other image get the picture's.
            let plans = try ColourConversions.plans(for: reader, on: context.stated, source)
            let conversions = plans.compactMap(\.conversion)
            // For the time of the reading. The descriptor closes at the end of this function.
            try context.memory.take(reader.heldBytes, for: "overlay: reading \(image.name)")
            defer { context.memory.giveBack(reader.heldBytes) }
            let input = upstream.layout
            let scaled = try overlay.scaled(
                conversions.isEmpty ? reader : InPlaceStage(reader, conversions), for: input,
                context)
            let size = scaled.layout
            let corner = overlay.corner(of: size, on: input)
            // Empty if the other image is completely outside.
            let (columns, rows) = overlay.covered(by: size, of: input)
            let isGray = size.isGray && input.isGray
            let picture = try upstream.expanded(
                toChannels: (isGray ? 1 : 3) + (input.hasAlpha ? 1 : 0))
            let layout = picture.layout
            // The visible part, with the channels of the picture's colour, and alpha.
            let overLayout = PixelLayout(
                width: max(columns.count, 1), height: max(rows.count, 1),
                channels: isGray ? 2 : 4, depth: size.depth)
            let over = try FilterBuffer<UInt8>(
                count: overLayout.bytes, of: context.memory, for: "overlay")
            let feed = RowFeed(scaled)
            if !columns.isEmpty, !rows.isEmpty {
                try feed.skip(to: rows.lowerBound - corner.y)
                let first = (columns.lowerBound - corner.x) * size.bytesPerPixel
                for row in 0..<rows.count {
                    darkroom_expand(
                        try feed.rows(atMost: 1).start + first, Int32(size.channels),
                        over.at(row * overLayout.bytesPerRow), Int32(overLayout.channels),
                        columns.count, Int32(size.depth), .max)
                }
            }
            try feed.finish()
            context.programs += reader.programs + plans.flatMap(\.programs)
            for warning in reader.warnings + plans.compactMap(\.remark) {
                context.remarks.append("\(image.name): \(warning)")
            }
            if columns.isEmpty || rows.isEmpty {
                context.remarks.append("overlay: \(image.name) is completely outside the picture")
            }
            return InPlaceStage(picture) { band in
                if columns.isEmpty { return }
                for row in band.rows.clamped(to: rows) {
                    darkroom_over(
                        band.start + (row - band.rows.lowerBound) * layout.bytesPerRow
                            + columns.lowerBound * layout.bytesPerPixel,
                        Int32(layout.channels), Int32(layout.depth),
                        over.at((row - rows.lowerBound) * overLayout.bytesPerRow),
                        Int32(overLayout.depth), columns.count, overlay.opacity)
                }
            }
        } catch {
            var named = error
            if !error.message.hasPrefix("overlay: ") { named.message = "overlay: \(error.message)" }
            throw named
        }
    }
}

extension Filter.Overlay {
    /// How the other image is scaled for a picture of this width, as by `resize` with the width alone: the share is
    /// rounded to whole pixels, a half up, and is at least one. nil without a scale.
    func resize(forWidth width: Int) -> Filter.Resize? {
        scale.map { share in
            Filter.Resize(width: max(1, Int((share * Double(width) + 0.5).rounded(.down))))
        }
    }

    /// The other image's pixels in the size in which they are laid over the picture.
    fileprivate func scaled(
        _ reader: any Stage, for picture: PixelLayout, _ context: StageContext
    ) throws(PictureError) -> any Stage {
        guard let resize = resize(forWidth: picture.width) else { return reader }
        return try ResizeFilter.make(resize, reader, context)
    }

    /// The position of the top left pixel of the other image. If the remaining pixels cannot be divided evenly, the
    /// additional one is on the right or at the bottom.
    func corner(of other: PixelLayout, on picture: PixelLayout) -> (x: Int, y: Int) {
        let (right, bottom) = (picture.width - other.width, picture.height - other.height)
        let sides = gravity.sides
        return (
            sides.x < 0 ? x : sides.x == 0 ? (right >> 1) + x : right - x,
            sides.y < 0 ? y : sides.y == 0 ? (bottom >> 1) + y : bottom - y
        )
    }

    /// The columns and rows of the picture that the other image covers; empty if it is completely outside.
    func covered(
        by other: PixelLayout, of picture: PixelLayout
    ) -> (columns: Range<Int>, rows: Range<Int>) {
        let corner = corner(of: other, on: picture)
        return (
            (corner.x..<corner.x + other.width).clamped(to: 0..<picture.width),
            (corner.y..<corner.y + other.height).clamped(to: 0..<picture.height)
        )
    }
}
