import ArgumentParser
import DarkroomClient

/// The completions of IDs. A completion script calls this program with the words of the command line.
enum BatchCompletion {
    static let unfinished = kind(.unfinished)
    static let finished = kind(.finished)
    static let all = kind(.all)

    private static func kind(_ wanted: IDCompletion.Wanted) -> CompletionKind {
        .custom { words, index, _ in
            let path = SpoolLocation.path(option: IDCompletion.spool(in: words))
            guard let spool = try? SpoolFolder(path: path) else { return [] }
            let shell = CompletionShell.requesting.flatMap {
                IDCompletion.Shell(rawValue: $0.rawValue)
            }
            return IDCompletion.candidates(
                IDCompletion.ids(wanted, in: spool), words: words, index: index, for: shell)
        }
    }
}
