import ArgumentParser
import DarkroomClient
import DarkroomCore
import DarkroomManifest
import DarkroomSpool

/// Reads manifests as the daemon does.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check manifests: print all errors with their places.",
        discussion: """
            Reads each manifest as darkroomd does, with the limits of the daemon that works on the spool. Pictures are \
            not opened.

            Examples:
              darkroom check holiday.yaml
              generate-manifest | darkroom check -

            Exit codes: 0 all are right, 65 at least one has errors, 66 a file does not exist.
            """)

    @Argument(
        help: ArgumentHelp("Manifests; - is standard input.", valueName: "manifest"),
        completion: .file(extensions: ManifestFormat.allCases.flatMap(\.fileExtensions)))
    var manifests: [String]

    @Flag(help: "Print JSON: one object for each manifest, then a summary.")
    var json = false

    @OptionGroup var spool: SpoolOptions

    /// The result for one manifest.
    private struct Result: Encodable {
        let type = "manifest"
        let file: String
        var images: Int?
        var errors: [ManifestProblem]?
        /// Why the file cannot be read.
        var message: String?
    }

    private struct Summary: Encodable {
        let type = "summary"
        let manifests: Int
        let rejected: Int
    }

    func run() throws {
        let rules = ManifestRules(try? spool.open().queue())
        var worst = ClientExit.success
        var rejected = 0
        for path in manifests {
            let exit = check(path, rules)
            if exit != .success { rejected += 1 }
            worst = .worst(worst, exit)
        }
        if json { Console.json(Summary(manifests: manifests.count, rejected: rejected)) }
        if worst != .success { throw worst }
    }

    private func check(_ path: String, _ rules: ManifestRules) -> ClientExit {
        let file: ManifestFile
        do {
            file = try ManifestFile(path: path, limits: rules.limits)
        } catch {
            if json {
                Console.json(Result(file: FileName(path).text, message: error.message))
            } else {
                Console.complain(error)
            }
            return error.exit
        }
        switch file.check(rules) {
        case .success(let manifest):
            if json {
                Console.json(Result(file: file.shown, images: manifest.images.count))
            } else {
                Console.line("\(file.shown): \(Words.count(manifest.images.count, "image"))")
            }
            return .success
        case .failure(let rejection):
            if json {
                Console.json(Result(file: file.shown, errors: rejection.problems))
            } else {
                for problem in rejection.problems { Console.problem(file.line(of: problem)) }
            }
            return .rejected
        }
    }
}
