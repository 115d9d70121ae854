import Foundation
import TestSupport

/// The Swift files of all targets.
enum Sources {
    /// By their path beneath `Sources`.
    static func all() throws -> [(file: String, text: String)] {
        let folder = Repository.root.appending(path: "Sources")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try names.filter { $0.hasSuffix(".swift") }.map { name in
            (name, try String(contentsOf: folder.appending(path: name), encoding: .utf8))
        }
    }

    /// The variables of the environment that the files of the command, or all others, ask for.
    static func variables(ofCommand: Bool) throws -> Set<String> {
        var asked: Set<String> = []
        for (file, source) in try all()
        where ["Client/", "Run/", "darkroom/"].contains(where: file.contains) == ofCommand {
            for match in source.matches(of: /(?:environment\[|getenv\()"([A-Z_]+)"/) {
                asked.insert(String(match.1))
            }
        }
        return asked
    }
}
