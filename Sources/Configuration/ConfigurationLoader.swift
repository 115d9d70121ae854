import Configuration
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import Foundation
import SystemPackage

/// Reads the configuration from its layers. The command line has the highest priority, then the environment, then the
/// file, then the defaults.
package struct ConfigurationLoader: Sendable {
    /// The file that is read if it exists and no other one is named.
    package static let standardPath = "/etc/darkroom/darkroomd.yaml"

    /// The file named on the command line, which must exist.
    package var path: String?
    /// Whether the file at `standardPath` is read if no other one is named.
    private let readsStandardFile: Bool
    /// `--set KEY=VALUE`, and the options that are short for one.
    package var overrides: [(key: String, text: String)]
    package var environment: [String: String]
    /// The part of the machine that the daemon can see; nil for all of it.
    var view: ServiceView?

    package init(
        path: String? = nil, readsStandardFile: Bool = true,
        overrides: [(key: String, text: String)] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.path = path
        self.readsStandardFile = readsStandardFile
        self.overrides = overrides
        self.environment = environment
        view = .current
    }

    /// A setting with its effective text and the origin of this text.
    package struct Resolved: Sendable {
        package let setting: Setting
        package let text: String
        /// nil for a default.
        package let place: ConfigurationProblem.Place?
        package let origin: String

        var prefix: String {
            if case .file = place { "\(origin): \(setting.key)" } else { origin }
        }
    }

    /// A valid configuration, and the texts that it was made from.
    package struct Loaded: Sendable {
        package var configuration: Configuration
        package let settings: [Resolved]

        subscript(key: String) -> Resolved? { settings.first { $0.setting.key == key } }
    }

    /// - Throws: all errors of the configuration.
    package func load() throws(ConfigurationError) -> Configuration { try loadAll().configuration }

    /// The settings with their texts.
    ///
    /// - Throws: all errors of the configuration.
    package func loadAll() throws(ConfigurationError) -> Loaded {
        var configuration = Configuration()
        var (resolved, problems) = resolve()
        for entry in resolved {
            do {
                try entry.setting.apply(entry.text, &configuration)
            } catch {
                let text = entry.setting.shown(entry.text).beginning
                let correction = error.correction.map { "; write \($0)" } ?? ""
                let isFile = entry.setting.key == "downloads.caFile" && entry.text.hasPrefix("/")
                problems.add(
                    "\(entry.prefix): must be \(error.expected), not \"\(text)\"" + correction
                        + (isFile ? unseen(entry.text) : ""),
                    at: entry.place ?? .file(line: 0))
            }
        }
        readHeaders(&configuration.downloads, &problems)
        readRecipes(&configuration, &problems)
        let later = [
            "inbox.recipe": configuration.recipeProblems, "folders": configuration.folderProblems,
        ]
        for entry in resolved {
            for words in later[entry.setting.key] ?? [] {
                problems.add("\(entry.prefix): \(words)", at: entry.place ?? .file(line: 0))
            }
        }
        guard problems.isEmpty else { throw ConfigurationError(problems) }
        return Loaded(configuration: configuration, settings: resolved)
    }

    /// The end of a message about a file that the service cannot see: the advice.
    private func unseen(_ file: String) -> String {
        view?.remedy(forFile: file, wanting: .reading).map { "; \($0)" } ?? ""
    }

    /// The text of each setting from the first layer that has it, and the errors of the layers.
    package func resolve() -> (settings: [Resolved], problems: [ConfigurationProblem]) {
        var problems: [ConfigurationProblem] = []
        let file = readFile(&problems)
        for (number, override) in overrides.enumerated()
        where Setting.named(override.key) == nil {
            let hint = Setting.suggestion(forKey: override.key)
            problems.add("--set \(override.key): unknown key\(hint)", at: .commandLine(number))
        }
        problems += unknownVariables()
        let reader = ConfigReader(providers: [
            Self.provider("command line", overrides.map { ($0.key, $0.text) }),
            EnvironmentVariablesProvider(environmentVariables: environment)
                .prefixKeys(with: "darkroom"),
            Self.provider("file", file.entries.map { ($0.key, $0.value.text) }),
        ])
        let resolved = Setting.all.map { setting in
            let (place, origin) = origin(of: setting, file)
            return Resolved(
                setting: setting,
                text: reader.string(forKey: ConfigKey(setting.key), default: setting.defaultValue),
                place: place, origin: origin)
        }
        return (resolved, problems)
    }

    private struct UnreadableFile: Error { let cause: String }

    /// The file may be a pipe: `--config <(…)`.
    private static func text(of path: String) throws(UnreadableFile) -> String {
        do throws(FileError) {
            let bytes = try WholeFile.bytes(of: path, upTo: FileLimit.configuration)
            if let text = String(validating: bytes, as: UTF8.self) { return text }
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory: throw UnreadableFile(cause: "there is no such file")
            case .fileTooLarge:
                throw UnreadableFile(
                    cause: "it has more than \(Units.bytes(FileLimit.configuration))")
            case let code: throw UnreadableFile(cause: "cannot be read: \(code)")
            }
        }
        throw UnreadableFile(cause: "cannot be read as UTF-8 text")
    }

    private func readFile(_ problems: inout [ConfigurationProblem]) -> ConfigurationFile {
        let name = path ?? Self.standardPath
        let isRead =
            path != nil || readsStandardFile && FileManager.default.fileExists(atPath: name)
        do throws(UnreadableFile) {
            let file = ConfigurationFile(path: name, text: isRead ? try Self.text(of: name) : "")
            problems += file.problems
            return file
        } catch {
            problems.add("\(name): \(error.cause)\(unseen(name))")
            return ConfigurationFile(path: name, text: "")
        }
    }

    /// Reads the file of `downloads.headers`, or the credential of that name if the service manager has given one.
    private func readHeaders(
        _ downloads: inout Configuration.Downloads,
        _ problems: inout [ConfigurationProblem]
    ) {
        if downloads.headersFile == nil, let folder = environment["CREDENTIALS_DIRECTORY"] {
            let credential = folder + "/headers"
            guard FileManager.default.fileExists(atPath: credential) else { return }
            downloads.headersFile = credential
        }
        guard let path = downloads.headersFile else { return }
        let file = OriginHeadersFile(path: path)
        downloads.headers = file.headers
        downloads.headersAreExposed = file.isExposed
        let advice = file.isMissing ? unseen(path) : ""
        for (number, problem) in file.problems.enumerated() {
            problems.add(problem + advice, at: .headers(number))
        }
    }

    private func readRecipes(
        _ configuration: inout Configuration, _ problems: inout [ConfigurationProblem]
    ) {
        guard path != nil || readsStandardFile else { return }
        let folder = RecipeFolder.path(beside: path ?? Self.standardPath)
        let content = RecipeFolder.read(folder, limit: configuration.manifestLimits.filters)
        configuration.recipes = configuration.recipes.holding(content.recipes)
        configuration.recipesFolder = URL(filePath: folder).path
        for (number, problem) in content.problems.enumerated() {
            problems.add(problem, at: .recipes(number))
        }
    }

    /// Variables that begin like ours but are not known. Otherwise a misspelt variable would have no effect and no
    /// message.
    private func unknownVariables() -> [ConfigurationProblem] {
        let others = [FaultPoint.variable, TestDaemon.variable]
        let known = Set(Setting.all.map(\.variable) + others)
        var problems: [ConfigurationProblem] = []
        func complain(_ name: String, _ words: String) {
            problems.add("environment variable \(name): \(words)", at: .environment(variable: name))
        }
        if let fault = environment[FaultPoint.variable].flatMap(FaultPoint.problem) {
            complain(FaultPoint.variable, fault)
        }
        for name in environment.keys where name.hasPrefix("DARKROOM_") && !known.contains(name) {
            complain(name, "unknown\(Setting.suggestion(forVariable: name, others: others))")
        }
        return problems
    }

    private static func provider(_ name: String, _ values: [(String, String)]) -> InMemoryProvider {
        var table: [AbsoluteConfigKey: ConfigValue] = [:]
        for (key, text) in values {
            table[AbsoluteConfigKey(ConfigKey(key))] = ConfigValue(.string(text), isSecret: false)
        }
        return InMemoryProvider(name: name, values: table)
    }

    /// The origin of a setting's text, as a place and in words for users.
    private func origin(
        of setting: Setting, _ file: ConfigurationFile
    ) -> (ConfigurationProblem.Place?, String) {
        // If a key is set several times, the last one counts.
        if let number = overrides.lastIndex(where: { $0.key == setting.key }) {
            return (.commandLine(number), "--set \(setting.key)")
        }
        if environment[setting.variable] != nil {
            return (
                .environment(variable: setting.variable),
                "environment variable \(setting.variable)"
            )
        }
        guard let entry = file.entries[setting.key] else { return (nil, "default") }
        return (.file(line: entry.line), "\(path ?? Self.standardPath):\(entry.line)")
    }
}

extension ConfigurationLoader {
    package static func override(_ setting: String) -> (key: String, text: String) {
        let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
    }
}

extension String {
    /// The text in one line; only the beginning of a long one.
    var beginning: String {
        let line = split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.count <= 60 ? line : "\(line.prefix(60))…"
    }
}
