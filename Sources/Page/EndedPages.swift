import DarkroomAnswer
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

    /// - Parameters:
    ///   - status: the last status.
    ///   - manifest: the manifest of the batch.
    package init(of status: Status, _ manifest: Manifest, zone: TimeZone = .current) {
        self.status = status
        self.manifest = manifest
        self.zone = zone
    }

    package var imageCount: Int { status.images.count }

    /// Writes all pages.
    ///
    /// - Parameters:
    ///   - folder: replaces pages of an earlier attempt in it.
    ///   - previews: where the small copies are.
    ///   - mayGoOn: asked before each page; if it returns false, this throws ECANCELED.
    package func write(
        to folder: Directory, _ previews: AnswerPage.PreviewFolders, while mayGoOn: () -> Bool
    ) throws(FileError) {
        let summary = summarized()
        var previews = try PagePreviews(in: previews, of: status.images.count, while: mayGoOn)
        for number in 1...summary.pageCount {
            let name = FileName(BatchPage.fileName(number))
            guard mayGoOn() else { throw FileError(.write, folder.path(of: name), .canceled) }
            let start = (number - 1) * BatchPage.perPage
            let indices = start..<min(start + BatchPage.perPage, status.images.count)
            let entries = indices.map { entry(at: $0, &previews) }
            let page = BatchPage(
                summary: summary, number: number, entries: entries, zone: zone,
                results: "..", showsResults: true, overview: nil)
            try folder.write(page.document(), to: name, replacing: true)
        }
        previews.removeUnused()
    }

    private func summarized() -> PageSummary {
        var frame = status
        frame.images = []
        var summary = PageSummary(frame: frame)
        for image in status.images { summary.add(image, perPage: BatchPage.perPage) }
        summary.timeline.close(commands: status.commands ?? [])
        return summary
    }

    private func entry(at index: Int, _ previews: inout PagePreviews) -> PageEntry {
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
        let copies = previews.copies(
            of: index,
            isReduced: PicturePreview.isNeeded(forWidth: output.width, height: output.height))
        // Browsers turn a result whose file says so.
        let isTransposed = copies.before?.facts.orientation.isTransposed ?? false
        func size(_ width: Int, _ height: Int) -> PageSize {
            isTransposed ? PageSize(height, width) : PageSize(width, height)
        }
        let whole = size(output.width, output.height)
        let copy = PicturePreview.size(ofWidth: output.width, height: output.height)

        let link = PageLink([".."] + OutputPath.components(of: output.file))
        entry.output = link
        let large = PageImage(link, whole.within(PreviewMaker.largeSide))
        let small =
            copies.hasAfter
            ? PageImage(
                PageLink(AnswerPage.previews.text, AnswerPage.copy(of: index).text),
                size(copy.width, copy.height).within(PreviewMaker.smallSide))
            : PageImage(link, whole.within(PreviewMaker.smallSide))
        entry.after = Preview(small: small, large: large)

        guard let place = copies.before else {
            entry.beforeNote =
                "There is no small copy of the source. The command darkroom page shows it, if it is still there."
            return entry
        }
        let facts = place.facts
        entry.sourceSize = (facts.sourceWidth, facts.sourceHeight)
        entry.isBeforeReduced = facts.isReduced
        let source = place.link(.before)
        let before: PageImage
        if facts.isPair {
            // The source has the size of the result, so both are shown in one size.
            before = PageImage(link: source, width: large.width, height: large.height)
            entry.difference = PageImage(
                link: place.link(.difference), width: large.width, height: large.height)
        } else {
            let whole = PageSize(facts.sourceWidth, facts.sourceHeight)
            before = PageImage(
                source, facts.isReduced ? whole.within(PreviewMaker.smallSide) : whole)
        }
        entry.before = Preview(small: before, large: before)
        return entry
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
    func within(_ side: Int) -> PageSize {
        let longest = max(width, height)
        guard longest > side else { return self }
        return PageSize(max(1, width * side / longest), max(1, height * side / longest))
    }
}

extension PageImage {
    fileprivate init(_ link: PageLink, _ size: PageSize) {
        self.init(link: link, width: size.width, height: size.height)
    }
}
