import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import Foundation
import Glibc

/// The pages of one answer.
///
/// The status is read twice, image by image. In memory are one page and the manifest.
package struct BatchPages: Sendable {
    package struct Report: Sendable, Equatable {
        package let page: String
        package let pages: Int
        package let images: Int
        /// Images whose output is there and has no preview.
        package let withoutPreview: Int
    }

    private let answer: Directory
    private let settings: PageSettings
    /// Of the manifest, whose filters are shown in words; empty if it cannot be read.
    private let images: [Manifest.Image]

    /// - Parameter answer: the folder with status.json and the outputs.
    package init(of answer: Directory, _ settings: PageSettings) {
        self.answer = answer
        self.settings = settings
        images = (try? Self.images(in: answer, settings.defaultFilters)) ?? []
    }

    package static func refuseOther(_ path: String) throws(PageError) { _ = try PageFolder(path) }

    /// Makes all pages.
    ///
    /// - Parameters:
    ///   - path: the folder of pages. One of an earlier time is replaced.
    ///   - progress: called after each page.
    package func make(
        in path: String, progress: (_ done: Int, _ total: Int) -> Void
    ) throws(PageError) -> Report {
        let folder = try PageFolder(path)
        return try pageErrors {
            try folder.replace {
                try fill($0, path: folder.path, overview: nil, progress: progress)
            }
        }
    }

    /// Calls `body`, and says what is wrong with the status or a file.
    func pageErrors<Value>(_ body: () throws -> Value) throws(PageError) -> Value {
        do {
            return try body()
        } catch StatusStreamError.changed {
            throw .changed(answer.path(of: BatchFile.status))
        } catch {
            throw PageError(erasing: error) ?? PageError(.unreadableStatus(in: answer))
        }
    }

    // MARK: Content

    /// - Parameters:
    ///   - folder: where the pages are written.
    ///   - path: the path of this folder when it is whole.
    ///   - overview: the page of all batches, if there is one.
    func fill(
        _ folder: Directory, path: String, overview: PageLink?, progress: (Int, Int) -> Void
    ) throws -> Report {
        try folder.makeDirectory(FileName(PreviewMaker.folderName))
        let (summary, kept) = try summarized()
        let maker = PreviewMaker(folder: folder.path, limits: settings.limits)
        let up = PageLink.way(from: path, to: answer.path)
        var withoutPreview = 0
        var done = 0
        var stream = try stream()
        for number in 1...summary.pageCount {
            var entries: [PageEntry] = []
            while entries.count < BatchPage.perPage, let text = try stream.next() {
                let index = done + entries.count
                let image = try Self.image(text)
                var entry = PageEntry(
                    number: index + 1, image: image, filters: filters(of: image, at: index))
                entry.output = image.output.map {
                    PageLink(up + OutputPath.components(of: $0.file))
                }
                entries.append(entry)
            }
            entries = concurrentMap(entries, step: 1) { illustrated($0, maker, kept) }
            done += entries.count
            withoutPreview += entries.count { $0.image.output != nil && $0.after == nil }
            progress(done, summary.imageCount)
            let page = BatchPage(
                summary: summary, number: number, entries: entries, zone: settings.zone,
                results: up.map(\.string).joined(separator: "/"), overview: overview)
            try folder.write(page.document(), to: FileName(BatchPage.fileName(number)))
        }
        return Report(
            page: "\(path)/\(BatchPage.fileName(1))", pages: summary.pageCount, images: done,
            withoutPreview: withoutPreview)
    }

    private func stream() throws -> StatusStream {
        guard let stream = try StatusStream(in: answer) else {
            throw PageError.noStatus(folder: answer.path)
        }
        return stream
    }

    private func summarized() throws -> (PageSummary, KeptPictures) {
        var stream = try stream()
        var summary = PageSummary(frame: stream.frame)
        var kept = KeptPictures(in: answer.path)
        summary.isRun = try answer.exists(FileName(RunFolders.spoolName))
        while let text = try stream.next() {
            let image = try Self.image(text)
            summary.add(image, perPage: BatchPage.perPage)
            if stream.frame.manifest.isFolder == true, let source = image.source {
                kept.note(ByteString(source), of: ByteString(image.name))
            }
        }
        summary.timeline.close(commands: stream.frame.commands ?? [])
        return (summary, kept)
    }

    private static func image(_ text: ArraySlice<UInt8>) throws(StatusStreamError) -> ImageStatus {
        guard let image = ImageStatus(text: text) else { throw .foreign }
        return image
    }

    // MARK: Pictures

    private func illustrated(
        _ entry: PageEntry, _ maker: PreviewMaker, _ kept: KeptPictures
    ) -> PageEntry {
        var entry = entry
        guard let output = entry.image.output else { return entry }
        let hasAlpha = output.channels == 2 || output.channels == 4
        do throws(PictureError) {
            entry.after = try maker.preview(
                of: answer.path(of: FileName(output.file)), hasAlpha: hasAlpha,
                number: entry.number, "after")
        } catch {
            entry.output = nil
            entry.afterNote = "The file of the result cannot be shown: \(error.message)"
        }
        guard entry.image.from == nil, let source = entry.image.source else { return entry }
        let paths = localPaths(source, kept)
        guard !paths.isEmpty else {
            entry.beforeNote = "The source is not on this machine."
            return entry
        }
        guard let path = paths.first(where: { Self.isUnchanged($0, entry.image) }) else {
            entry.beforeNote = "The source cannot be read any more, or has changed since then."
            return entry
        }
        entry.sourceSize = size(of: path)
        do throws(PictureError) {
            entry.before = try maker.preview(
                of: path, hasAlpha: hasAlpha, number: entry.number, "before")
            if let before = entry.before?.large, let after = entry.after?.large {
                entry.difference = try maker.difference(
                    of: before, and: after, number: entry.number)
            }
        } catch {
            entry.beforeNote = "The source cannot be shown: \(error.message)"
        }
        return entry
    }

    /// Where a source may be on this machine; nothing for a URL of another one.
    private func localPaths(_ source: String, _ kept: KeptPictures) -> [String] {
        guard let path = SourceReference(ByteString(source)).localPath else { return [] }
        let places = kept.paths(of: path).map { "\(answer.path)/\($0)" }
        return places
            + (path.hasPrefix("/") ? [path] : settings.roots.map { "\($0)/\(path)" })
    }

    /// The size of a picture, upright; nil if its header cannot be read.
    private func size(of path: String) -> (width: Int, height: Int)? {
        guard let file = Self.opened(path),
            let header = try? PictureHeader(of: file.file, name: path, limits: settings.limits)
        else { return nil }
        let (width, height) = (header.layout.width, header.layout.height)
        return header.orientation.isTransposed ? (height, width) : (width, height)
    }

    /// Whether the file is the one that was filtered.
    private static func isUnchanged(_ path: String, _ image: ImageStatus) -> Bool {
        guard let digest = image.sourceSHA256, let file = opened(path) else { return false }
        return (try? file.sha256(path: path)) == digest
    }

    /// A regular file; nil if it cannot be opened.
    private static func opened(_ path: String) -> Descriptor? {
        guard let file = try? Descriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY),
            (try? file.information(path: path))?.isRegularFile == true
        else { return nil }
        return file
    }

    // MARK: Filters

    private static func images(
        in answer: Directory, _ defaultFilters: [Filter]?
    ) throws -> [Manifest.Image]? {
        guard let frame = try StatusStream(in: answer)?.frame, let file = frame.manifest.file,
            let format = frame.manifest.format
        else { return nil }
        let bytes = try answer.read(FileName(file))
        guard SHA256Digest.hex(of: bytes) == frame.manifest.copySHA256 else { return nil }
        // It was accepted once, whatever the limits were.
        let limits = ManifestLimits(bytes: .max, images: .max, filters: .max)
        return try ManifestReader.read(
            bytes, format: format, limits: limits, defaultFilters: defaultFilters ?? [],
            recipes: RecipeBook(of: frame, limit: limits.filters),
            finder: .recorded(try SourceRecord.read(in: answer) ?? SourceRecord())
        ).images
    }

    private func filters(of image: ImageStatus, at index: Int) -> [String]? {
        guard images.indices.contains(index), images[index].name == ByteString(image.name)
        else { return nil }
        return images[index].filters.map { FilterSentence.text($0) }
    }
}
