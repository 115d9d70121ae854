import DarkroomAnswer
import DarkroomCore
import DarkroomPicture
import DarkroomSpool

/// Small copies of a picture, beside the pages.
struct Preview: Sendable, Equatable {
    /// For the grid: at most 256 pixels wide and high.
    let small: PageImage
    /// For the view of one picture: at most 1024 pixels wide and high.
    let large: PageImage
}

/// A picture beside the pages. Its size stands in the page, so that nothing moves when it is loaded.
struct PageImage: Sendable, Equatable {
    let link: PageLink
    let width: Int
    let height: Int
}

/// Makes the previews of one batch.
///
/// Opaque pictures become JPEG, those with alpha PNG. A picture that is small enough keeps its size.
struct PreviewMaker: Sendable {
    /// The path of the folder with the pages, without a slash at its end.
    let folder: String
    let limits: PictureLimits

    static let folderName = AnswerPage.previews.text
    static let smallSide = 256
    static let largeSide = 1024

    /// - Parameters:
    ///   - path: of a PNG or JPEG file.
    ///   - hasAlpha: whether the copies must keep alpha.
    ///   - number: of the image, which is in the names of the copies.
    ///   - word: what the copy shows: `before`, `after`.
    func preview(
        of path: String, hasAlpha: Bool, number: Int, _ word: StaticString
    ) throws(PictureError) -> Preview {
        let large = try copy(of: path, Self.largeSide, hasAlpha, "\(number)-\(word)")
        let small = try copy(
            of: "\(folder)/\(Self.folderName)/\(large.name)", Self.smallSide, hasAlpha,
            "\(number)-\(word)-small")
        return Preview(small: small.image, large: large.image)
    }

    /// A picture that is bright where two previews of the same size differ: the absolute difference of each channel.
    func difference(
        of before: PageImage, and after: PageImage, number: Int
    ) throws(PictureError) -> PageImage? {
        guard before.width == after.width, before.height == after.height else { return nil }
        let a = try samples(before)
        let b = try samples(after)
        let layout = PixelLayout(width: before.width, height: before.height, channels: 3, depth: 8)
        let name = "\(number)-difference.jpg"
        let row = layout.bytesPerRow
        try Self.converter([], hasAlpha: false, limits).write(
            layout, to: "\(folder)/\(Self.folderName)/\(name)"
        ) { samples, rows in
            let start = rows.lowerBound * row
            for index in 0..<(rows.count * row) {
                let (x, y) = (a[start + index], b[start + index])
                samples[index] = x > y ? x - y : y - x
            }
        }
        return PageImage(
            link: PageLink(Self.folderName, name), width: layout.width, height: layout.height)
    }

    private func copy(
        of path: String, _ side: Int, _ hasAlpha: Bool, _ base: String
    ) throws(PictureError) -> (name: String, image: PageImage) {
        let name = base + (hasAlpha ? ".png" : ".jpg")
        let converter = Self.converter(
            [.resize(width: side, height: side, fit: .inside, withoutEnlargement: true)],
            hasAlpha: hasAlpha, limits)
        let report = try converter.convert(path, to: "\(folder)/\(Self.folderName)/\(name)")
        let image = PageImage(
            link: PageLink(Self.folderName, name), width: report.width, height: report.height)
        return (name, image)
    }

    /// All samples of a preview on white: RGB, 8 bits, one row after the other.
    private func samples(_ image: PageImage) throws(PictureError) -> [UInt8] {
        var rows = try PictureRows(
            contentsOf: "\(folder)/\(image.link.text)",
            filters: [.flatten(background: .white)], limits: limits)
        let isGray = rows.layout.channels == 1
        let bytes = rows.layout.depth / 8
        var result: [UInt8] = []
        result.reserveCapacity(image.width * image.height * 3)
        try rows.forEachBand { samples, _ in
            // Of a sample with 16 bits, the byte with the higher bits.
            var index = bytes - 1
            while index < samples.count {
                for _ in 0..<(isGray ? 3 : 1) { result.append(samples[index]) }
                index += bytes
            }
        }
        return result
    }

    private static func converter(
        _ filters: [PictureFilter], hasAlpha: Bool, _ limits: PictureLimits
    ) -> PictureConverter {
        PictureConverter(
            filters: filters, output: hasAlpha ? .png() : .jpeg(quality: 82), limits: limits)
    }
}
