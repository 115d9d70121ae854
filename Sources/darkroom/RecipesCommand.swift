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

            Exit status: 0 success, 64 the command line is wrong, 66 there is no such recipe, 77 no permission, 78 a recipe has errors.
            """)

    @Argument(
        help: ArgumentHelp("The recipe whose text is shown.", valueName: "name"),
        completion: SpoolCompletion.recipes)
    var name: String?

    @OptionGroup var spool: SpoolOptions
    @OptionGroup var color: ColorOptions

    @Flag(
        help:
            "Print JSON Lines: one object for each recipe, then a summary; with a name, only its object."
    )
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
        try Console.conclude(
            list.content.problems.isEmpty ? .success : .configuration,
            json: json ? ["recipes": recipes.count] : nil)
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
