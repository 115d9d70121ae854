import Configuration
import Foundation
import SystemPackage

/// Reads the configuration from its layers: the command line over the environment over the file over the
/// defaults.
package struct ConfigurationLoader: Sendable {
    /// The file that is read where none is named and it exists.
    package static let standardPath = "/etc/darkroom/darkroomd.yaml"

    /// The file named on the command line, which must exist.
    package var path: String?
    /// `--set KEY=VALUE` and the options that stand for one.
    package var overrides: [(key: String, text: String)]
    package var environment: [String: String]

    package init(
        path: String? = nil, overrides: [(key: String, text: String)] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.path = path
        self.overrides = overrides
        self.environment = environment
    }

    /// A setting with the text that holds for it and where that comes from.
    package struct Resolved: Sendable {
        package let setting: Setting
        package let text: String
        package let origin: String
    }

    /// A configuration without a problem, and the texts it was made of.
    package struct Loaded: Sendable {
        package let configuration: Darkroom.Configuration
        package let settings: [Resolved]
    }

    /// The settings, or everything that is wrong with them.
    package func load() throws(ConfigurationError) -> Darkroom.Configuration {
        try loadAll().configuration
    }

    /// The same with the texts that they come from.
    package func loadAll() throws(ConfigurationError) -> Loaded {
        var configuration = Darkroom.Configuration()
        var (resolved, problems) = resolve()
        for entry in resolved {
            do {
                try entry.setting.apply(entry.text, &configuration)
            } catch {
                let text = Self.inOneLine(entry.setting.shown(entry.text))
                problems.append("\(entry.origin): must be \(error.expected), not \(text)")
            }
        }
        readHeaders(&configuration.downloads, &problems)
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        return Loaded(configuration: configuration, settings: resolved)
    }

    /// Each setting's text out of the first layer that has it, and what is wrong with the layers.
    package func resolve() -> (settings: [Resolved], problems: [String]) {
        var problems: [String] = []
        let file = readFile(&problems)
        for override in overrides where Setting.named(override.key) == nil {
            let hint = ConfigurationFile.suggestion(for: override.key)
            problems.append("--set \(override.key): unknown key\(hint)")
        }
        problems += unknownVariables()
        let reader = ConfigReader(providers: [
            Self.provider("command line", overrides.map { ($0.key, $0.text) }),
            EnvironmentVariablesProvider(environmentVariables: environment)
                .prefixKeys(with: "darkroom"),
            Self.provider("file", file.entries.map { ($0.key, $0.value.text) }),
        ])
        let resolved = Setting.all.map { setting in
            Resolved(
                setting: setting,
                text: reader.string(forKey: ConfigKey(setting.key), default: setting.standard),
                origin: origin(of: setting, file))
        }
        return (resolved, problems)
    }

    private func readFile(_ problems: inout [String]) -> ConfigurationFile {
        let name = path ?? Self.standardPath
        guard path != nil || FileManager.default.fileExists(atPath: name) else {
            return ConfigurationFile(path: name, text: "")
        }
        do {
            let file = ConfigurationFile(
                path: name, text: try String(contentsOfFile: name, encoding: .utf8))
            problems += file.problems
            return file
        } catch {
            let cause =
                switch access(name, R_OK) == 0 ? 0 : errno {
                case 0: "cannot be read as UTF-8 text"
                case ENOENT: "there is no such file"
                case let code: "cannot be read: \(Errno(rawValue: code))"
                }
            problems.append("\(name): \(cause)")
            return ConfigurationFile(path: name, text: "")
        }
    }

    /// Reads the file of `downloads.headers`, or the service manager's credential of that name if it has given
    /// one.
    private func readHeaders(
        _ downloads: inout Darkroom.Configuration.Downloads, _ problems: inout [String]
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
        problems += file.problems
    }

    /// Variables that begin like ours and are none: a misspelt one would otherwise do nothing.
    private func unknownVariables() -> [String] {
        let known = Set(Setting.all.map(\.variable) + [FaultPoint.variable, ChildDaemon.variable])
        let fault = environment[FaultPoint.variable].flatMap(FaultPoint.problem)
        let problems = fault.map { ["environment variable \(FaultPoint.variable): \($0)"] } ?? []
        let unknown = environment.keys.sorted()
            .filter { $0.hasPrefix("DARKROOM_") && !known.contains($0) }
            .map { name in
                let hint =
                    Suggestion.nearest(to: name, among: known.sorted())
                    .map { "; did you mean \($0)?" } ?? ""
                return "environment variable \(name): unknown\(hint)"
            }
        return problems + unknown
    }

    /// A refused text, quoted; of a long one the beginning.
    private static func inOneLine(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.count <= 60 ? "\"\(line)\"" : "\"\(line.prefix(60))…\""
    }

    private static func provider(
        _ name: String, _ values: [(String, String)]
    ) -> InMemoryProvider {
        var table: [AbsoluteConfigKey: ConfigValue] = [:]
        for (key, text) in values {
            table[AbsoluteConfigKey(ConfigKey(key))] = ConfigValue(.string(text), isSecret: false)
        }
        return InMemoryProvider(name: name, values: table)
    }

    /// Where the text of a setting comes from, as a person would look for it.
    private func origin(of setting: Setting, _ file: ConfigurationFile) -> String {
        if overrides.contains(where: { $0.key == setting.key }) { return "--set \(setting.key)" }
        if environment[setting.variable] != nil {
            return "environment variable \(setting.variable)"
        }
        guard let entry = file.entries[setting.key] else { return "default of \(setting.key)" }
        return "\(path ?? Self.standardPath):\(entry.line): \(setting.key)"
    }
}

/// Everything wrong with a configuration, each with its place.
package struct ConfigurationError: CodedError, Equatable {
    package let problems: [String]

    package var code: String { "configuration" }
    package var message: String { problems.joined(separator: "\n") }
    package var isTransient: Bool { false }
}
