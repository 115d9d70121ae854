import DarkroomCore
import DarkroomFetch
import Foundation
import SystemPackage

extension CacheStore {
    /// The folder of the cache if neither the configuration nor the service manager names one.
    package static let standardPath = "/var/cache/darkroom"

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
        guard configuration.cacheBytes > 0 else { return nil }
        let wanted = configuration.cacheFolder ?? givenPath(environment)
        let path = wanted ?? standardPath
        let isNamed = configuration.cacheFolder != nil
        do throws(CacheFolderError) {
            let folder = try CacheFolder(path: path, makes: isNamed)
            log.cacheOpened(path, limit: configuration.cacheBytes)
            return CacheStore(folder, limit: configuration.cacheBytes, log: log)
        } catch {
            if isNamed, case .file = error {
                let remedy = ServiceView.current?.remedy(for: path, wanting: .writing)
                throw ConfigurationError(problems: [
                    "cache.folder: \(error.message)\(remedy.map { "; \($0)" } ?? "")"
                ])
            }
            // If no folder is set and the standard one does not exist, for example in a terminal, nobody expects a
            // cache.
            let isMissed: Bool
            if wanted == nil, case .file(let error) = error {
                isMissed = error.errno != .noSuchFileOrDirectory
            } else {
                isMissed = true
            }
            log.cacheUnused(path, because: error.message, isMissed: isMissed)
            return nil
        }
    }

    /// The folder that the service manager gives by CacheDirectory=; the first one of several.
    private static func givenPath(_ environment: [String: String]) -> String? {
        environment["CACHE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
    }
}
