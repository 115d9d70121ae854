import DarkroomClient
import DarkroomCore
import DarkroomManifest

/// The manifest of a command has errors, and there is nothing else to do.
struct RefusedManifest: Error {
    /// Its name in messages.
    let shown: String
    let problems: [ManifestProblem]

    /// What stands after the lines of the problems, for programs.
    var json: JSONObject {
        let error = ClientError(
            .rejected, code: "manifest-rejected",
            "\(shown): \(Words.count(problems.count, "error"))")
        return JSONObject(["errors": problems], with: error.json)
    }

    /// A line of `--json`, if others follow it.
    var line: JSONObject { ["type": "manifest", "file": shown, "errors": problems] }

    func complain() {
        for problem in problems { Console.problem(problem.line(in: shown)) }
    }
}

extension ManifestFile {
    func manifest(
        _ rules: ManifestRules, finder: SourceFinder = .none
    ) throws(RefusedManifest) -> Manifest {
        switch check(rules, finder: finder) {
        case .success(let manifest): return manifest
        case .failure(let rejection):
            throw RefusedManifest(shown: shown, problems: rejection.problems)
        }
    }
}
