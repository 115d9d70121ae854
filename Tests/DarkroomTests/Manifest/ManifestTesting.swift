@testable import DarkroomManifest
@testable import DarkroomPicture

/// Reads a manifest given as text, with sepia at 0.8 as the configuration's filter.
func read(
    _ text: String, _ format: ManifestFormat = .json, limits: ManifestLimits = ManifestLimits(),
    defaults: [Filter] = [.sepia(intensity: 0.8)], recipes: RecipeBook = RecipeBook(),
    finder: SourceFinder = .none
) throws(ManifestRejection) -> Manifest {
    try ManifestReader.read(
        Array(text.utf8), format: format, limits: limits, defaultFilters: defaults,
        recipes: recipes, finder: finder)
}

/// What is wrong with a manifest; empty for a good one.
func problems(
    _ text: String, _ format: ManifestFormat = .json, limits: ManifestLimits = ManifestLimits(),
    recipes: RecipeBook = RecipeBook(), finder: SourceFinder = .none
) -> [ManifestProblem] {
    problems(Array(text.utf8), format, limits: limits, recipes: recipes, finder: finder)
}

func problems(
    _ bytes: [UInt8], _ format: ManifestFormat, limits: ManifestLimits = ManifestLimits(),
    recipes: RecipeBook = RecipeBook(), finder: SourceFinder = .none
) -> [ManifestProblem] {
    do throws(ManifestRejection) {
        _ = try ManifestReader.read(
            bytes, format: format, limits: limits, defaultFilters: [], recipes: recipes,
            finder: finder)
        return []
    } catch {
        return error.problems
    }
}

/// A problem's code, place and suggestion, as a test's table has them: `12:3 unknown-key
/// images[0].nam`.
func summary(_ problem: ManifestProblem) -> String {
    let place = problem.line.map { "\($0):\(problem.column ?? 0) " } ?? ""
    let path = problem.path.isEmpty ? "" : " " + problem.path
    let suggestion = problem.suggestion.map { " → \($0)" } ?? ""
    return place + problem.code + path + suggestion
}

/// What is said of a problem: where it is, and in a sentence.
func said(_ problems: [ManifestProblem]) -> [String] {
    problems.flatMap { [summary($0), $0.message] }
}

/// The cases of a table: a text in each line, and what is expected of it after ` ⇒ ` or in indented lines below. Lines
/// that begin with `//` are comments. With `breaks`, `\n` stands for a line break.
func cases(_ table: String, breaks: Bool = false) -> [(String, [String])] {
    var cases: [(String, [String])] = []
    for line in table.split(separator: "\n") where !line.hasPrefix("//") {
        var shown = String(line)
        if breaks { shown.replace("\\n", with: "\n") }
        if shown.hasPrefix(" ") {
            cases[cases.count - 1].1.append(String(shown.drop { $0 == " " }))
        } else {
            let parts = shown.split(separator: " ⇒ ").map { String($0) }
            cases.append((parts[0], Array(parts[1...])))
        }
    }
    return cases
}

/// The same with one thing that is expected of each text.
func pairs(_ table: String, breaks: Bool = false) -> [(String, String)] {
    cases(table, breaks: breaks).map { ($0, $1.joined()) }
}

/// A property list in XML around its one value.
func xml(_ value: String) -> String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n\(value)\n</plist>\n"
}
