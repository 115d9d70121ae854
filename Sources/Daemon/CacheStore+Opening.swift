import DarkroomCore
import DarkroomFetch
import Foundation
import SystemPackage

extension CacheStore {
    /// Where it is if nothing is said of it.
    package static let standardPath = "/var/cache/darkroom"

    /// Opens the cache that the configuration asks for; nil where there is to be none, or where its folder is in use
    /// by another daemon, or is no named one and cannot be used.
    ///
    /// - Throws: what keeps a folder that is named in the configuration from being used.
    static func open(
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
            // Who has named no folder and has none there, in a terminal say, misses nothing.
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

    /// What the service manager gives by CacheDirectory=; of several the first.
    private static func givenPath(_ environment: [String: String]) -> String? {
        environment["CACHE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
    }
}
