import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Foundation

/// A page of all batches of an outbox, with the pages of each one in a folder of its own.
package struct OutboxPages: Sendable {
    package struct Report: Sendable, Equatable {
        package let page: String
        package let batches: Int
        package let images: Int
        /// Images whose output is there and has no preview.
        package let withoutPreview: Int
        package let failures: [PageError]
    }

    private struct Row {
        let frame: Status
        let bytes: Int?
        /// The folder of its pages; nil if they could not be made.
        let folder: String?
    }

    private let outbox: Outbox
    private let settings: PageSettings

    package init(of outbox: Outbox, _ settings: PageSettings) {
        self.outbox = outbox
        self.settings = settings
    }

    /// Makes all pages.
    ///
    /// - Parameters:
    ///   - path: the folder of pages. One of an earlier time is replaced.
    ///   - progress: called after each batch.
    package func make(
        in path: String, progress: (_ done: Int, _ total: Int) -> Void
    ) throws(PageError) -> Report {
        let target = try PageFolder(path)
        do {
            let ids = try outbox.ids()
            return try target.replace { folder in
                var rows: [Row] = []
                var failures: [PageError] = []
                var images = 0
                var withoutPreview = 0
                for (index, id) in ids.enumerated() {
                    progress(index, ids.count)
                    guard let answer = try outbox.answer(of: id),
                        let frame = try Outbox.frame(in: answer)
                    else { continue }
                    let bytes = try outbox.summary(of: id)?.outputBytes
                    let name = "batch-\(rows.count + 1)"
                    do throws(PageError) {
                        let report = try pages(
                            of: answer, in: folder, name, path: "\(target.path)/\(name)")
                        images += report.images
                        withoutPreview += report.withoutPreview
                        rows.append(Row(frame: frame, bytes: bytes, folder: name))
                    } catch {
                        try? folder.removeTree(FileName(name))
                        failures.append(error)
                        rows.append(Row(frame: frame, bytes: bytes, folder: nil))
                    }
                }
                progress(ids.count, ids.count)
                let list = rows.sorted { $1.frame.times.received < $0.frame.times.received }
                try folder.write(document(list), to: FileName(BatchPage.fileName(1)))
                return Report(
                    page: "\(target.path)/\(BatchPage.fileName(1))", batches: rows.count,
                    images: images, withoutPreview: withoutPreview, failures: failures)
            }
        } catch {
            guard let known = PageError(erasing: error) else {
                preconditionFailure("an error of another type: \(error)")
            }
            throw known
        }
    }

    private func pages(
        of answer: Directory, in folder: Directory, _ name: String, path: String
    ) throws(PageError) -> BatchPages.Report {
        let pages = BatchPages(of: answer, settings)
        return try pages.pageErrors {
            try folder.makeDirectory(FileName(name))
            return try pages.fill(
                Directory(FileName(name), in: folder), path: path,
                overview: PageLink("..", BatchPage.fileName(1))
            ) { _, _ in }
        }
    }

    // MARK: The page

    private func document(_ rows: [Row]) -> HTMLWriter {
        let html = HTMLWriter()
        let total = rows.reduce(0) { $0.saturatingAdd($1.frame.counts.total) }
        html.document(language: "en") {
            html.head(title: "Darkroom")
            html(.body) {
                html(.header) {
                    html(.h1, text: "Darkroom")
                    html(
                        .p, .class("soft"),
                        text:
                            "\(Words.count(rows.count, "batch", "batches")), \(Words.count(total, "image"))"
                    )
                }
                html(.main) {
                    html(.ul, .class("list")) { for row in rows { card(row, html) } }
                }
                html.footer(of: nil, settings.zone)
            }
        }
        return html
    }

    private func card(_ row: Row, _ html: HTMLWriter) {
        let frame = row.frame
        html(.li) {
            html(.h2) {
                if let folder = row.folder {
                    html(.a, .href(PageLink(folder, BatchPage.fileName(1)))) {
                        html(.bdi, text: frame.id)
                    }
                } else {
                    html(.bdi, text: frame.id)
                }
                html.text(" ")
                html.badge(frame.state)
            }
            html.bar(frame.counts)
            html(.p, .class("soft")) {
                if frame.counts.total > 0 {
                    html.text(HTMLWriter.words(frame.counts))
                    if let bytes = row.bytes, bytes > 0 {
                        html.text(", \(HumanText.bytes(Double(bytes)))")
                    }
                    html.text("; ")
                }
                html.time(frame.times.received, settings.zone)
                if let user = frame.manifest.uid { html.text(", \(HumanText.user(user))") }
            }
            if row.folder == nil {
                html(.p, .class("bad"), text: "Its page could not be made. Try again.")
            }
        }
    }
}
