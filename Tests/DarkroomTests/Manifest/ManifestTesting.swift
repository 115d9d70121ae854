@testable import DarkroomManifest

/// Reads a manifest given as text, with sepia at 0.8 as the configuration's filter.
func read(
    _ text: String, _ format: ManifestFormat = .json, limits: ManifestLimits = ManifestLimits()
) throws(ManifestRejection) -> Manifest {
    try ManifestReader.read(
        Array(text.utf8), format: format, limits: limits,
        defaultFilters: [.sepia(intensity: 0.8)])
}

/// What is wrong with a manifest; empty for a good one.
func problems(
    _ text: String, _ format: ManifestFormat = .json, limits: ManifestLimits = ManifestLimits()
) -> [ManifestProblem] {
    problems(Array(text.utf8), format, limits: limits)
}

func problems(
    _ bytes: [UInt8], _ format: ManifestFormat, limits: ManifestLimits = ManifestLimits()
) -> [ManifestProblem] {
    do throws(ManifestRejection) {
        _ = try ManifestReader.read(bytes, format: format, limits: limits, defaultFilters: [])
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

/// A property list in XML around its one value.
func xml(_ value: String) -> String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n\(value)\n</plist>\n"
}
