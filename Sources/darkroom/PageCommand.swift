import ArgumentParser
import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import DarkroomPage
import DarkroomPicture
import DarkroomSpool
import Foundation

struct PageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page",
        abstract: "Make a page that shows the pictures of a batch.",
        usage: "darkroom page [<options>] [<id|dir>]",
        discussion: """
            The page shows what became of each picture: the failures with their reasons, all results as small pictures, \
            and each one before and after where the source is still on this machine. It opens in a browser without a \
            server. It works on an answer in the outbox, and on a folder of darkroom run or darkroom merge. A name \
            without a slash is an ID if there is such a batch, otherwise that of a folder. With page: true in its manifest, a \
            batch also has a page from the daemon, which this command does not change.

            Examples:
              darkroom page holiday
              darkroom page out/ -o out-page
              darkroom page --all -o pages
              xdg-open "$(darkroom page holiday)"

            Exit status: 0 the page is there, 64 the command line is wrong, 66 there is no such batch or folder, 73 the \
            folder of pages cannot be created, 74 the disk is full or broken, 75 the batch has changed meanwhile, 77 \
            no permission.
            """)

    @Argument(
        help: ArgumentHelp("The ID of a batch, or a folder of results.", valueName: "id|dir"),
        completion: SpoolCompletion.all)
    var place: String?

    @Flag(
        name: .shortAndLong,
        help: "Make a page of all batches in the outbox, and the page of each one.")
    var all = false

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Make the page in this folder, and replace one that is there. If not given: the ID with -page, or darkroom-page for --all.",
            valueName: "dir"),
        completion: .directory)
    var output: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var spool: SpoolOptions
    @OptionGroup var progress: ReadingProgressOptions

    func validate() throws {
        if all, place != nil { throw ValidationError("--all and an ID cannot be used together") }
        if !all, place == nil { throw ValidationError("Name a batch or a folder, or write --all") }
    }

    func run() throws {
        guard let place else { return try makeAll() }
        let answer = try ResultFolder(place, spool).open()
        let name = answer.path.split(separator: "/").last.map(String.init) ?? "batch"
        // Beside the results of a run lies mostly its manifest, where its relative sources begin.
        let pages = BatchPages(of: answer, settings([answer.path + "/.."]))
        let report = try ResultPage.make(pages, in: output ?? "\(name)-page", progress.mode)
        try json ? Console.json(Self.json(report)) : Console.line(report.page)
        ResultPage.tell(report.withoutPreview)
    }

    private func makeAll() throws {
        let pages = OutboxPages(of: try spool.open().answers, settings([]))
        let reading = ReadingProgress("Making pages", "batch", "batches", mode: progress.mode)
        defer { reading.clear() }
        let report = try ResultPage.made { () throws(PageError) in
            try pages.make(in: output ?? "darkroom-page") { reading.show($0, of: $1) }
        }
        reading.clear()
        let failures = report.failures.map { ClientError($0) }
        let worst = failures.map(\.exit).reduce(.success, ClientExit.worst)
        try json ? Console.json(Self.json(report, worst)) : Console.line(report.page)
        ResultPage.tell(report.withoutPreview)
        for error in failures { Console.complain(error) }
        if worst != .success { throw worst }
    }

    /// - Parameter folders: where relative sources may begin, too.
    private func settings(_ folders: [String]) -> PageSettings {
        let report = try? spool.open().queue()
        return PageSettings(
            roots: [FileManager.default.currentDirectoryPath] + folders
                + (report?.limits.readableRoots ?? []),
            defaultFilters: report.map { ManifestRules($0).defaultFilters })
    }

    private static func json(_ report: BatchPages.Report) -> JSONObject {
        [
            "type": "page", "page": report.page, "pages": report.pages, "images": report.images,
            "withoutPreview": report.withoutPreview, "exit": ClientExit.success.rawValue,
        ]
    }

    private static func json(_ report: OutboxPages.Report, _ exit: ClientExit) -> JSONObject {
        [
            "type": "page", "page": report.page, "batches": report.batches,
            "images": report.images, "withoutPreview": report.withoutPreview,
            "exit": exit.rawValue,
        ]
    }
}
