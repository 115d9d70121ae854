import ArgumentParser
import DarkroomClient
import DarkroomCore
import DarkroomPage
import DarkroomPicture
import DarkroomSpool
import Foundation

/// Makes a page of a batch.
struct PageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page",
        abstract: "Make a page that shows the pictures of a batch.",
        discussion: """
            The page shows what became of each picture: the failures with their reasons, all results as small pictures, \
            and each one before and after where the source is still on this machine. It opens in a browser without a \
            server. It works on an answer in the outbox, and on a folder of darkroom run or darkroom merge. A name \
            without a slash is that of a folder if there is one, otherwise an ID.

            Examples:
              darkroom page holiday
              darkroom page out/ -o out-page
              xdg-open "$(darkroom page holiday)"

            Exit codes: 0 the page is there, 64 the command line is wrong, 66 there is no such batch or folder, 73 the \
            folder of pages cannot be created, 74 a disk is broken, 75 a disk is full, or the batch has changed \
            meanwhile.
            """)

    @Argument(
        help: ArgumentHelp("The ID of a batch, or a folder of results.", valueName: "id|dir"),
        completion: BatchCompletion.all)
    var place: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The folder of the page; the ID with -page by itself. A page that is there is replaced.",
            valueName: "dir"),
        completion: .directory)
    var output: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var spool: SpoolOptions

    func run() throws {
        let place = try ResultFolder(place, spool).open()
        let name = place.path.split(separator: "/").last.map(String.init) ?? "batch"
        let pages = try BatchPages(
            of: place, in: output ?? "\(name)-page", roots: roots(of: place),
            defaultFilters: defaultFilters)
        let progress = ReadingProgress("Making previews")
        let report = try {
            defer { progress.clear() }
            return try pages.make { progress.show($0, of: $1) }
        }()
        if json {
            try Console.json(Report(report))
        } else {
            try Console.line(report.page)
        }
        if report.withoutPreview > 0 {
            Console.complain(
                "\(Words.count(report.withoutPreview, "result")) cannot be shown; the page says why"
            )
        }
    }

    /// What the daemon reports; nil if there is no spool.
    private var report: QueueReport? { try? spool.open().queue() }

    /// Where relative sources begin: in the roots of the daemon or, for a run, beside the manifest, which is mostly the
    /// current folder or the one with the results.
    private func roots(of place: Directory) -> [String] {
        [FileManager.default.currentDirectoryPath, place.path + "/.."]
            + (report?.limits.readableRoots ?? [])
    }

    private var defaultFilters: [Filter]? { report.map { ManifestRules($0).defaultFilters } }

    /// `--json`.
    private struct Report: Encodable {
        let type = "page"
        let page: String
        let pages: Int
        let images: Int
        let withoutPreview: Int

        init(_ report: BatchPages.Report) {
            page = report.page
            pages = report.pages
            images = report.images
            withoutPreview = report.withoutPreview
        }
    }
}
