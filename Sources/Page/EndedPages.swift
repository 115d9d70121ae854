import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import Foundation
import SystemPackage

/// The pages that the daemon makes of a batch whose images have all ended, before the last status is written.
///
/// Nothing is decoded: the grid has the small copies that were made while the pictures were filtered, and otherwise the
/// results themselves, as the views of single pictures do. So these pages stay beside the results, and have no pictures
/// of the sources.
package struct EndedPages {
    private let status: Status
    private let manifest: Manifest
    private let zone: TimeZone
    private var summary: PageSummary

    /// - Parameters:
    ///   - status: the last status.
    ///   - manifest: the manifest of the batch.
    package init(of status: Status, _ manifest: Manifest, zone: TimeZone = .current) {
        self.status = status
        self.manifest = manifest
        self.zone = zone
        var frame = status
        frame.images = []
        summary = PageSummary(frame: frame)
        for image in status.images { summary.add(image, perPage: BatchPage.perPage) }
        summary.timeline.close(commands: status.commands ?? [])
    }

    /// Writes all pages.
    ///
    /// - Parameters:
    ///   - folder: replaces pages of an earlier attempt in it.
    ///   - hasPreview: whether the image with this index has a small copy there.
    ///   - mayGoOn: asked before each page; if it returns false, this throws ECANCELED.
    package func write(
        to folder: Directory, hasPreview: (Int) -> Bool, while mayGoOn: () -> Bool
    ) throws(FileError) {
        for number in 1...max(1, summary.failuresOfPages.count) {
            let name = FileName(BatchPage.fileName(number))
            guard mayGoOn() else { throw FileError("write", folder.path(of: name), .canceled) }
            let start = (number - 1) * BatchPage.perPage
            let indices = start..<min(start + BatchPage.perPage, status.images.count)
            let page = BatchPage(
                summary: summary, number: number,
                entries: indices.map { entry(at: $0, hasPreview) }, zone: zone,
                results: "..", showsResults: true, overview: nil)
            try folder.write(
                Array(page.html.utf8), to: name, replacing: true, durably: false)
        }
    }

    private func entry(at index: Int, _ hasPreview: (Int) -> Bool) -> PageEntry {
        let image = status.images[index]
        var entry = PageEntry(
            number: index + 1, image: image,
            filters: manifest.images[index].filters.map { FilterSentence.text($0) })
        guard let output = image.output else { return entry }
        let link = PageLink("..", output.file)
        let large = PageImage(
            link: link, output.width, output.height, within: PreviewMaker.largeSide)
        entry.output = link
        if let size = PicturePreview.size(ofWidth: output.width, height: output.height),
            hasPreview(index)
        {
            let copy = PageLink(AnswerPage.previews.text, AnswerPage.preview(index).text)
            entry.after = Preview(
                small: PageImage(link: copy, width: size.width, height: size.height), large: large)
        } else {
            let small = PageImage(
                link: link, output.width, output.height, within: PreviewMaker.smallSide)
            entry.after = Preview(small: small, large: large)
        }
        if image.from == nil, image.source != nil {
            entry.beforeNote =
                "The command darkroom page shows the source, too, if it is still there."
        }
        return entry
    }
}

extension PageImage {
    /// A picture that is shown reduced, so that no side is longer than `side`.
    fileprivate init(link: PageLink, _ width: Int, _ height: Int, within side: Int) {
        let longest = max(width, height, 1)
        let isSmall = longest <= side
        self.init(
            link: link, width: isSmall ? width : max(1, width * side / longest),
            height: isSmall ? height : max(1, height * side / longest))
    }
}
