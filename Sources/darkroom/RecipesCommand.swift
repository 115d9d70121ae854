import ArgumentParser
import DarkroomClient
import DarkroomCore
import DarkroomManifest

struct RecipesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recipes",
        abstract: "List the recipes that manifests may use, or show one.",
        discussion: """
            A recipe is a file NAME.yaml with filters, an output, variants, a priority and a page, in the folder recipes beside \
            the configuration of the daemon. A manifest uses it with recipe: NAME, and darkroom submit with --recipe NAME.

            Examples:
              darkroom recipes
              darkroom recipes web
              darkroom submit photos/*.jpg --recipe web
            """)

    @Argument(
        help: ArgumentHelp("A recipe, whose text is shown.", valueName: "name"),
        completion: RecipeCompletion.names)
    var name: String?

    @OptionGroup var spool: SpoolOptions
    @OptionGroup var color: ColorOptions

    @Flag(help: "Print JSON Lines: an object for each recipe.")
    var json = false

    func run() throws {
        let report = try? spool.open().queue()
        let list = RecipeList(report)
        if let name {
            let recipe = try list.recipe(named: name)
            tellWarnings(of: [recipe], list)
            return try Console.text(json ? list.json(of: recipe) + "\n" : recipe.text)
        }
        let recipes = list.content.recipes
        try Console.lines(json ? recipes.map(list.json) : list.lines(on: color.output))
        tellWarnings(of: recipes, list)
        for problem in list.content.problems { Console.problem(problem) }
        if !list.content.problems.isEmpty { throw ClientExit.configuration }
        guard recipes.isEmpty, !json else { return }
        Console.complain(
            list.folder.map { "There are no recipes in \(FileName($0).text)." }
                ?? "The daemon has no configuration file, and so no recipes.")
    }

    private func tellWarnings(of recipes: [Recipe], _ list: RecipeList) {
        for recipe in recipes {
            for warning in recipe.warnings {
                Console.problem("\(list.file(of: recipe)): warning: \(warning)")
            }
        }
    }
}

/// The completion of the names of recipes. A completion script calls this program with the words of the command line.
enum RecipeCompletion {
    static let names = CompletionKind.custom { words, index, _ in
        let path = SpoolLocation.path(option: IDCompletion.spool(in: words))
        let report = try? SpoolFolder(path: path).queue()
        let shell = CompletionShell.requesting.flatMap {
            IDCompletion.Shell(rawValue: $0.rawValue)
        }
        return IDCompletion.candidates(
            RecipeList(report).content.recipes.map(\.name), words: words, index: index, for: shell)
    }
}
