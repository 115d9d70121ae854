import ArgumentParser
import DarkroomClient
import DarkroomConfiguration
import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import DarkroomRun
import Foundation
import Logging

/// The options of commands that filter pictures themselves, without a daemon.
struct EngineOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Filter this many pictures at the same time, and use as many cores. If not given: all cores that this process may use.",
            valueName: "number"))
    var jobs: Int?

    @Option(
        help: ArgumentHelp(
            "Let all pictures in work together use this much memory, for example 2GiB. If not given: half of what is available.",
            valueName: "size"))
    var memory: String?

    @Option(
        help: ArgumentHelp(
            "Read this configuration file, as darkroomd does. If not given: none.",
            valueName: "file"), completion: .file())
    var config: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Set a key of the configuration; overrides the file and the environment. May be repeated.",
            valueName: "key=value"))
    var settings: [String] = []

    @Option(
        help: ArgumentHelp(
            "Write the log to standard error, from this level on: \(Words.list(Logger.Level.allCases.map(\.rawValue), "or")).",
            valueName: "level"), completion: .list(Logger.Level.allCases.map(\.rawValue)))
    var logLevel: String?

    func validate() throws {
        if let jobs, !(1...1024).contains(jobs) {
            throw ValidationError("--jobs \(jobs): write a number from 1 to 1024")
        }
        for setting in settings where !setting.contains("=") {
            throw ValidationError("--set \(setting): write KEY=VALUE")
        }
        if let logLevel, Logger.Level(rawValue: logLevel) == nil {
            throw ValidationError(
                "--log-level \(logLevel): write one of \(Words.list(Logger.Level.allCases.map(\.rawValue), "or"))"
            )
        }
    }

    /// The configuration: the command line, the environment, the file, the defaults.
    func load() throws(ClientError) -> ConfigurationLoader.Loaded {
        var overrides = settings.map(ConfigurationLoader.override)
        if let jobs { overrides.append(("filters.concurrency", "\(jobs)")) }
        if let memory { overrides.append(("limits.memory", try checked(memory: memory))) }
        var environment = ProcessInfo.processInfo.environment
        // It is for the commands that use a spool, and may be a relative path.
        environment[SpoolLocation.variable] = nil
        let loader = ConfigurationLoader(
            path: config, readsStandardFile: false, overrides: overrides, environment: environment)
        let loaded = try asClientError(.configuration, loader.loadAll())
        // Pictures borrow idle cores; with fewer jobs than cores, they leave the others alone.
        if let jobs { Cores.shared.restrict(to: jobs) }
        return loaded
    }

    private func checked(memory: String) throws(ClientError) -> String {
        let least = 16 << 20
        if let bytes = Quantity.bytes(memory), bytes >= least { return memory }
        let corrected = Quantity.correctedSize(memory).flatMap { size in
            (Quantity.bytes(size) ?? 0) >= least ? size : nil
        }
        let correction = corrected.map { "; did you mean \($0)?" } ?? ""
        throw .badOption(
            "--memory \(FileName(memory).text): write a size such as 512MiB or 2GiB, at least \(Quantity.text(bytes: least))\(correction)"
        )
    }

    /// The log: nothing, unless somebody asks for it.
    func log() -> EventLog {
        guard let level = logLevel.flatMap({ Logger.Level(rawValue: $0) }) else {
            return EventLog(Logger(label: "darkroom") { _ in SwiftLogNoOpLogHandler() })
        }
        LogLevel.set(level)
        return EventLog(Logger(label: "darkroom") { _ in LineLogHandler() })
    }
}

extension ConfigurationLoader.Loaded {
    /// The recipes of the configuration or, without one, those of the package's configuration that are right.
    private var knownRecipes: RecipeBook {
        if configuration.recipesFolder != nil { return configuration.recipes }
        let content = RecipeFolder.read(
            RecipeFolder.standardPath, limit: configuration.manifestLimits.filters)
        return configuration.recipes.holding(content.recipes)
    }

    var manifestRules: ManifestRules {
        var limits = configuration.manifestLimits
        limits.delivery = .ofRun
        return ManifestRules(
            limits: limits, defaultFilters: configuration.defaultFilters,
            recipes: knownRecipes)
    }
}
