import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import Foundation
import SystemPackage

/// The pages that the daemon makes of a batch whose images have all ended, before the last status is written.
///
/// No picture is decoded: the sources and the differences are the small copies that were made while the pictures were
/// filtered. The results are shown themselves, and large ones by copies in the grid. So these pages stay beside the
/// results.
package struct EndedPages {
    private let status: Status
    private let manifest: Manifest
    private let previews: [ImagePreviews?]
    private let zone: TimeZone

    /// - Parameters:
    ///   - status: the last status.
    ///   - manifest: the manifest of the batch.
    ///   - previews: the small copies that are known, of each image; or none at all.
    package init(
        of status: Status, _ manifest: Manifest, _ previews: [ImagePreviews?],
        zone: TimeZone = .current
    ) {
        self.status = status
        self.manifest = manifest
        self.previews = previews
        self.zone = zone
    }

    package var imageCount: Int { status.images.count }

    /// Writes all pages.
    ///
    /// - Parameters:
    ///   - folder: replaces pages of an earlier attempt in it.
    ///   - finder: finds the small copies there that are not known.
    ///   - mayGoOn: asked before each page; if it returns false, this throws ECANCELED.
    package func write(
        to folder: Directory, _ finder: AnswerPage.PreviewFinder, while mayGoOn: () -> Bool
    ) throws(FileError) {
        let summary = summarized()
        for number in 1...max(1, summary.failuresOfPages.count) {
            let name = FileName(BatchPage.fileName(number))
            guard mayGoOn() else { throw FileError("write", folder.path(of: name), .canceled) }
            let start = (number - 1) * BatchPage.perPage
            let indices = start..<min(start + BatchPage.perPage, status.images.count)
            let page = BatchPage(
                summary: summary, number: number,
                entries: indices.map { entry(at: $0, finder, folder) }, zone: zone,
                results: "..", showsResults: true, overview: nil)
            try folder.write(page.document(), to: name, replacing: true)
        }
    }

    private func summarized() -> PageSummary {
        var frame = status
        frame.images = []
        var summary = PageSummary(frame: frame)
        for image in status.images { summary.add(image, perPage: BatchPage.perPage) }
        summary.timeline.close(commands: status.commands ?? [])
        return summary
    }

    private func entry(
        at index: Int, _ finder: AnswerPage.PreviewFinder, _ folder: Directory
    ) -> PageEntry {
        let image = status.images[index]
        var entry = PageEntry(
            number: index + 1, image: image,
            filters: manifest.images[index].filters.map { FilterSentence.text($0) })
        guard let output = image.output else {
            if image.state == .filtered {
                entry.afterNote = "This image is not published. Others are made from its pixels."
            }
            return entry
        }
        let previews = previews(of: index, output, finder, folder)
        let settings = manifest.images[index]
        // Browsers turn a result that keeps the orientation of its source, and its copies.
        let isTransposed =
            !settings.autoOrient && settings.output.keepsExif
            && previews.before?.orientation.isTransposed ?? false
        func size(_ width: Int, _ height: Int) -> PageSize {
            isTransposed ? PageSize(height, width) : PageSize(width, height)
        }
        let whole = size(output.width, output.height)
        let copy = PicturePreview.size(ofWidth: output.width, height: output.height)
        let copySize = size(copy.width, copy.height)

        let link = PageLink("..", output.file)
        entry.output = link
        let large = PageImage(link, whole.within(PreviewMaker.largeSide))
        let small =
            previews.hasAfter
            ? PageImage(Self.link(.after, index), copySize.within(PreviewMaker.smallSide))
            : PageImage(link, whole.within(PreviewMaker.smallSide))
        entry.after = Preview(small: small, large: large)

        guard let header = previews.before else {
            entry.beforeNote =
                "There is no small copy of the source. The command darkroom page shows it, if it is still there."
            return entry
        }
        entry.sourceSize = (header.picture.width, header.picture.height)
        let source = Self.link(.before, index)
        if header.isPair {
            // The source has the size of the result, so both are shown in one size.
            let pair = PreviewPair(rows: header.height)
            let height = Double(pair.height) / Double(pair.rows)
            let before = PageImage(
                link: source, width: large.width, height: large.height,
                part: .upper(ofHeight: height))
            entry.before = Preview(small: before, large: before)
            entry.difference = PageImage(
                link: source, width: large.width, height: large.height,
                part: .lower(ofHeight: height))
            entry.isBeforeReduced = copySize != whole
        } else {
            let copy = size(header.width, header.height)
            entry.isBeforeReduced = header.isReduced
            let before = PageImage(
                source, entry.isBeforeReduced ? copy.filling(PreviewMaker.smallSide) : copy)
            entry.before = Preview(small: before, large: before)
        }
        return entry
    }

    private static func link(_ preview: AnswerPage.Preview, _ index: Int) -> PageLink {
        PageLink(AnswerPage.previews.text, preview.name(of: index).text)
    }

    private func previews(
        of index: Int, _ output: ImageStatus.Output, _ finder: AnswerPage.PreviewFinder,
        _ folder: Directory
    ) -> ImagePreviews {
        if index < previews.count, let known = previews[index] { return known }
        let found = finder(
            index, PicturePreview.isNeeded(forWidth: output.width, height: output.height))
        return ImagePreviews(
            before: found.contains(.before) ? Self.header(ofSource: index, folder) : nil,
            hasAfter: found.contains(.after))
    }

    /// What the small copy of a source says of itself; nil if it cannot be read.
    private static func header(ofSource index: Int, _ folder: Directory) -> PreviewHeader? {
        let name = AnswerPage.previews / AnswerPage.Preview.before.name(of: index)
        guard let file = try? folder.open(name) else { return nil }
        return (try? PreviewHeader(of: file.file, name: name.text)) ?? nil
    }
}

/// The width and height in which a page shows a picture.
private struct PageSize: Equatable {
    let width: Int
    let height: Int

    init(_ width: Int, _ height: Int) {
        self.width = width
        self.height = height
    }

    /// The same, or reduced so that no side is longer than `side`.
    func within(_ side: Int) -> PageSize { max(width, height) <= side ? self : scaled(to: side) }

    /// The same, or enlarged so that one side is as long as `side`.
    func filling(_ side: Int) -> PageSize { max(width, height) >= side ? self : scaled(to: side) }

    private func scaled(to side: Int) -> PageSize {
        let longest = max(width, height, 1)
        return PageSize(max(1, width * side / longest), max(1, height * side / longest))
    }
}

extension PageImage {
    fileprivate init(_ link: PageLink, _ size: PageSize) {
        self.init(link: link, width: size.width, height: size.height)
    }
}
