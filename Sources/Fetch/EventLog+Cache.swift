import DarkroomCore

/// The journal records of the cache.
extension EventLog {
    package func cacheOpened(_ path: String, limit: Int) {
        say(
            .cacheOpened, "Downloaded sources are kept in \(path), up to \(Units.bytes(limit))",
            [.bytes: "\(limit)"])
    }

    /// There is no cache, which only costs time.
    ///
    /// - Parameter isMissed: whether the configuration asks for a cache.
    package func cacheUnused(_ path: String, because reason: String, isMissed: Bool) {
        say(
            .cacheUnused, worse: isMissed,
            "\(path) is not used as a cache: \(reason); each manifest downloads its sources again"
        )
    }

    func cacheDiscarded(_ path: String, because reason: String) {
        say(.cacheDiscarded, "\(path) was discarded: \(reason); its source is downloaded again")
    }

    func cacheTroubled(_ error: FileError) {
        say(
            .cacheTroubled,
            "\(error.message); no image fails because of this, but sources may be downloaded again",
            [.error: error.code])
    }

    func cacheHasNoRoom(_ path: String) {
        say(
            .cacheTroubled,
            "Nothing is added to the cache in \(path), because its file system has less than 5 % or 1 GiB free",
            [.error: "cache-low-space"])
    }

    func cacheEvicted(_ count: Int, bytes: Int) {
        metrics.cacheEvictions.add(count)
        say(
            .cacheEvicted,
            "\(Words.count(count, "response")) removed from the cache to make room, \(Units.bytes(bytes))",
            [.bytes: "\(bytes)", .count: "\(count)"])
    }
}
