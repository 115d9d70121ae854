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
    ///   - previews: the small copies there of the image with an index.
    ///   - mayGoOn: asked before each page; if it returns false, this throws ECANCELED.
    package func write(
        to folder: Directory, previews: (Int) -> Set<AnswerPage.Preview>,
        while mayGoOn: () -> Bool
    ) throws(FileError) {
        for number in 1...max(1, summary.failuresOfPages.count) {
            let name = FileName(BatchPage.fileName(number))
            guard mayGoOn() else { throw FileError("write", folder.path(of: name), .canceled) }
            let start = (number - 1) * BatchPage.perPage
            let indices = start..<min(start + BatchPage.perPage, status.images.count)
            let page = BatchPage(
                summary: summary, number: number,
                entries: indices.map { entry(at: $0, previews($0), folder) }, zone: zone,
                results: "..", showsResults: true, overview: nil)
            try folder.write(
                Array(page.html.utf8), to: name, replacing: true, durably: false)
        }
    }

    private func entry(
        at index: Int, _ previews: Set<AnswerPage.Preview>, _ folder: Directory
    ) -> PageEntry {
        let image = status.images[index]
        var entry = PageEntry(
            number: index + 1, image: image,
            filters: manifest.images[index].filters.map { FilterSentence.text($0) })
        guard let output = image.output else { return entry }
        let link = PageLink("..", output.file)
        let large = PageImage(
            link: link, output.width, output.height, within: PreviewMaker.largeSide)
        entry.output = link
        let copy = PicturePreview.size(ofWidth: output.width, height: output.height)
        if previews.contains(.after) {
            let small = PageImage(
                link: Self.link(.after, index), copy.width, copy.height,
                within: PreviewMaker.smallSide)
            entry.after = Preview(small: small, large: large)
        } else {
            let small = PageImage(
                link: link, output.width, output.height, within: PreviewMaker.smallSide)
            entry.after = Preview(small: small, large: large)
        }
        if previews.contains(.difference) {
            // The source has the size of the result, so both are shown in one size.
            entry.difference = PageImage(
                link: Self.link(.difference, index), width: copy.width, height: copy.height)
            let before = PageImage(
                link: Self.link(.before, index), width: large.width, height: large.height)
            entry.before = Preview(small: before, large: before)
        } else if previews.contains(.before), let size = Self.size(ofSource: index, folder) {
            let before = PageImage(
                link: Self.link(.before, index), width: size.width, height: size.height)
            entry.before = Preview(small: before, large: before)
        } else {
            entry.beforeNote =
                "There is no small copy of the source. The command darkroom page shows it, if it is still there."
        }
        return entry
    }

    private static func link(_ preview: AnswerPage.Preview, _ index: Int) -> PageLink {
        PageLink(AnswerPage.previews.text, preview.name(of: index).text)
    }

    /// The size of the small copy of a source; nil if it cannot be read.
    private static func size(ofSource index: Int, _ folder: Directory) -> PixelLayout? {
        let name = AnswerPage.Preview.before.name(of: index)
        guard let previews = try? Directory(AnswerPage.previews, in: folder),
            let file = try? previews.open(name)
        else { return nil }
        return (try? PictureHeader(of: file.file, name: name.text))?.layout
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
