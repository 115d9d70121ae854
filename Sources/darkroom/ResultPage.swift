import ArgumentParser
import DarkroomClient
import DarkroomCore
import DarkroomPage
import DarkroomPicture
import Foundation

/// The options of commands that make a page of their results.
struct PageDirOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Make a page of the results in this folder, as darkroom page does.", valueName: "dir"),
        completion: .directory)
    var pageDir: String?

    /// The former name of `--page-dir`. With other commands, `--page` is a flag.
    @Option(name: .customLong("page"), help: .hidden)
    var formerPageDir: String?

    var isGiven: Bool { pageDir ?? formerPageDir != nil }

    /// nil if no page is wanted. See `ResultPage`.
    func page(
        folders: [String], defaultFilters: [Filter]? = nil
    ) throws(ClientError) -> ResultPage? {
        guard let target = pageDir ?? formerPageDir else { return nil }
        if pageDir == nil, Int(target) != nil {
            throw .badOption(
                "--page \(target): write --source-page \(target) for the page of a file, or --page-dir \(target) for a folder"
            )
        }
        return try ResultPage(in: target, folders: folders, defaultFilters: defaultFilters)
    }
}

/// The page of results that this command has just made (`--page-dir`).
///
/// The results are there before it. If it cannot be made, the command says so, and ends as it would without it.
struct ResultPage {
    let target: String
    let settings: PageSettings

    /// - Parameters:
    ///   - target: the folder of the page.
    ///   - folders: where relative sources may begin.
    /// - Throws: if this folder is not one of pages.
    init(
        in target: String, folders: [String], defaultFilters: [Filter]? = nil
    ) throws(ClientError) {
        try Self.made { () throws(PageError) in try BatchPages.refuseOther(target) }
        self.target = target
        settings = PageSettings(
            roots: [FileManager.default.currentDirectoryPath] + folders,
            defaultFilters: defaultFilters)
    }

    /// - Parameter answer: the path of the folder with the status.
    /// - Returns: the path of the page; nil if it could not be made.
    func make(of answer: String, progress mode: ProgressMode) -> String? {
        do throws(ClientError) {
            let folder = try asClientError(Directory(path: answer))
            let report = try Self.make(BatchPages(of: folder, settings), in: target, mode)
            Self.tell(report.withoutPreview)
            return report.page
        } catch {
            Console.complain("There is no page: \(error.message)")
            return nil
        }
    }

    static func make(
        _ pages: BatchPages, in target: String, _ mode: ProgressMode
    ) throws(ClientError) -> BatchPages.Report {
        let progress = ReadingProgress("Making previews", mode: mode)
        defer { progress.clear() }
        return try made { () throws(PageError) in
            try pages.make(in: target) { progress.show($0, of: $1) }
        }
    }

    static func made<Value>(_ body: () throws(PageError) -> Value) throws(ClientError) -> Value {
        do {
            return try body()
        } catch {
            throw ClientError(error)
        }
    }

    static func tell(_ withoutPreview: Int) {
        guard withoutPreview > 0 else { return }
        Console.complain(
            "\(Words.count(withoutPreview, "result")) cannot be shown; the page says why")
    }
}

extension ClientError {
    init(_ error: PageError) {
        let exit: ClientExit
        switch error {
        case .noName: exit = .usage
        case .notPages: exit = .cannotCreate
        case .noStatus: exit = .missing
        case .changed: exit = .tryAgain
        case .unreadable(let path, let reason):
            self = .unreadable(path, reason)
            return
        case .file(let error):
            self.init(error)
            return
        }
        self.init(exit, code: error.code, error.message)
    }
}
