import DarkroomAnswer
import DarkroomCore
import DarkroomManifest

/// The recipes of a daemon, as far as this process can read them.
package struct RecipeList: Sendable {
    /// nil if the daemon has no configuration file, and so no recipes.
    package let folder: String?
    package let content: RecipeFolder.Content
    /// Whether the daemon has these recipes and no others.
    package let isComplete: Bool
    private let isOnly: Bool
    /// `inbox.recipe`.
    private let ofFolders: String?

    /// - Parameter report: the daemon's last report. Without one, the recipes of the package's configuration are
    ///   listed, and the daemon may have others.
    package init(_ report: QueueReport?) {
        folder = report.map(\.limits.recipesFolder) ?? RecipeFolder.standardPath
        let limit = report?.limits.filters ?? ManifestLimits().filters
        content = folder.map { RecipeFolder.read($0, limit: limit) } ?? RecipeFolder.Content()
        isComplete = report != nil && content.problems.isEmpty
        isOnly = report?.limits.recipesOnly ?? false
        ofFolders = report?.limits.inboxRecipe
    }

    package var book: RecipeBook {
        var book = RecipeBook(content.recipes)
        book.isComplete = isComplete
        book.isOnly = isOnly
        book.ofFolders = ofFolders
        return book
    }

    package func lines(on terminal: Terminal) -> [String] {
        guard !content.recipes.isEmpty else { return [] }
        var table = TextTable([.init("RECIPE"), .init("WHAT IT DOES", minimum: 12, wraps: true)])
        for recipe in content.recipes { table.append([.init(recipe.name), .init(recipe.summary)]) }
        return table.lines(on: terminal)
    }

    /// - Throws: an error that names the nearest recipe, if there is none with this name.
    package func recipe(named name: String) throws(ClientError) -> Recipe {
        if let recipe = book[ByteString(name)] { return recipe }
        let names = content.recipes.map(\.name)
        let hint =
            Suggestion.nearest(to: name, among: names).map { "; did you mean ‘\($0)’?" } ?? ""
        let place = folder.map { " in \(FileName($0).text)" } ?? ""
        throw ClientError(
            .missing, code: ProblemCode.unknownRecipe.rawValue,
            "\(FileName(name).text): there is no such recipe\(place)\(hint)")
    }

    package func file(of recipe: Recipe) -> String { "\(folder ?? "")/\(recipe.name).yaml" }

    package func json(of recipe: Recipe) -> String {
        JSONText.line([
            "type": "recipe", "name": recipe.name, "summary": recipe.summary,
            "file": file(of: recipe), "sha256": recipe.sha256, "text": recipe.text,
        ])
    }
}

extension Recipe {
    /// What people see of it in a list: the comment in its first line or, without one, its text in one line.
    package var summary: String {
        let first = text.split(separator: "\n", omittingEmptySubsequences: true).first ?? ""
        if first.hasPrefix("#") { return String(first.drop { $0 == "#" || $0 == " " }) }
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.count <= 120 ? line : "\(line.prefix(119))…"
    }
}
