import DarkroomCore
import DarkroomFetch
import DarkroomWork
import Foundation
import SystemPackage

extension CacheStore where Record == CacheRecord {
    /// The folder of the cache if neither the configuration nor the service manager names one.
    package static var standardPath: String { "/var/cache/darkroom" }

    /// Opens the cache that the configuration asks for.
    ///
    /// - Returns: nil if the configuration turns the cache off, if another daemon uses its folder, or if the folder is
    ///   not set in the configuration and cannot be used.
    /// - Throws: the reason why a folder that is set in the configuration cannot be used.
    package static func open(
        _ configuration: Configuration,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        standardPath: String = standardPath, log: EventLog
    ) throws(ConfigurationError) -> CacheStore? {
        let wanted = configuration.cacheFolder ?? givenPath(environment)
        return try open(
            wanted ?? standardPath, named: configuration.cacheFolder == nil ? nil : "cache.folder",
            makes: configuration.cacheFolder != nil, limit: configuration.cacheBytes,
            // If no folder is set and the standard one does not exist, for example in a terminal, nobody expects a cache.
            isMissed: { wanted != nil || $0 != .noSuchFileOrDirectory }, log: log)
    }

    /// The folder that the service manager gives by CacheDirectory=; the first one of several.
    static func givenPath(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String? {
        environment["CACHE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
    }
}

extension ResultStore {
    /// Opens the store of results that the configuration asks for, by default in the folder `results` of the cache's.
    ///
    /// - Returns: nil if the folder cannot be used and is not named in the configuration.
    /// - Throws: the reason why a folder that is set in the configuration cannot be used.
    package static func open(
        _ configuration: Configuration,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        standardPath: String = CacheStore.standardPath, log: EventLog
    ) throws(ConfigurationError) -> ResultStore? {
        let cache = configuration.cacheFolder ?? CacheStore.givenPath(environment) ?? standardPath
        return try CacheStore<ResultRecord>.open(
            configuration.resultsFolder ?? "\(cache)/results",
            named: configuration.resultsFolder == nil ? nil : "results.folder", makes: true,
            limit: configuration.resultBytes, isMissed: { _ in true }, log: log
        ).map { ResultStore($0) }
    }
}

extension CacheStore {
    /// - Parameters:
    ///   - key: the key of the configuration that has the path; nil if none has it.
    ///   - makes: whether to create the folder if it is missing.
    ///   - limit: in bytes; 0 for none.
    ///   - isMissed: whether somebody expects the folder, by the cause why it cannot be used.
    fileprivate static func open(
        _ path: String, named key: String?, makes: Bool, limit: Int, isMissed: (Errno) -> Bool,
        log: EventLog
    ) throws(ConfigurationError) -> CacheStore? {
        guard limit > 0 else { return nil }
        do throws(CacheFolderError) {
            let folder = try CacheFolder(path: path, makes: makes)
            log.cacheOpened(Record.contents, path, limit: limit)
            return CacheStore(folder, limit: limit, log: log)
        } catch {
            if let key, case .file = error {
                let remedy = ServiceView.current?.remedy(for: path, wanting: .writing)
                throw ConfigurationError(problems: [
                    "\(key): \(error.message)\(remedy.map { "; \($0)" } ?? "")"
                ])
            }
            let missed = if case .file(let error) = error { isMissed(error.errno) } else { true }
            log.cacheUnused(Record.contents, path, because: error.message, isMissed: missed)
            return nil
        }
    }
}
