import ArgumentParser
import DarkroomClient

/// The completions of IDs and of the names of recipes. A completion script calls this program with the words of the
/// command line.
enum SpoolCompletion {
    static let unfinished = ids(.unfinished)
    static let finished = ids(.finished)
    static let all = ids(.all)
    static let recipes = kind { spool in
        RecipeList(try? spool?.queue()).content.recipes.map(\.name)
    }

    private static func ids(_ wanted: IDCompletion.Wanted) -> CompletionKind {
        kind { spool in spool.map { IDCompletion.ids(wanted, in: $0) } ?? [] }
    }

    private static func kind(
        _ names: @escaping @Sendable (SpoolFolder?) -> [String]
    ) -> CompletionKind {
        .custom { words, index, _ in
            let path = SpoolLocation.path(option: IDCompletion.spool(in: words))
            let shell = CompletionShell.requesting.flatMap {
                IDCompletion.Shell(rawValue: $0.rawValue)
            }
            return IDCompletion.candidates(
                names(try? SpoolFolder(path: path)), words: words, index: index, for: shell)
        }
    }
}
