import Logging

/// What is said about the cache.
extension EventLog {
    func cacheOpened(_ path: String, limit: Int) {
        say(.info, .cacheOpened, "Answers are kept in \(path), up to \(limit) bytes")
    }

    /// There is none, which costs time only.
    func cacheUnused(_ path: String, because reason: String) {
        say(
            .notice, .cacheUnused,
            "\(path) is not used as a cache: \(reason); each source is fetched anew, and by each manifest for itself"
        )
    }

    func cacheDiscarded(_ path: String, because reason: String) {
        say(
            .notice, .cacheDiscarded, "\(path) was discarded: \(reason); its source is fetched anew"
        )
    }

    func cacheTroubled(_ error: FileError) {
        say(
            .warning, .cacheTroubled,
            "\(error.message); images do not suffer from it, but what cannot be kept is fetched again",
            [Field.error: .string(error.code)])
    }

    func cacheHasNoRoom(_ path: String) {
        say(
            .warning, .cacheTroubled,
            "Nothing is added to the cache in \(path), for its file system has less than 5 % or 1 GiB free",
            [Field.error: .string("cache-low-space")])
    }

    func cacheEvicted(_ count: Int, bytes: Int) {
        metrics.cacheEvictions.add(count)
        say(
            .info, .cacheEvicted,
            "\(count == 1 ? "1 answer" : "\(count) answers") removed from the cache to make room, \(bytes) bytes",
            [Field.bytes: .stringConvertible(bytes)])
    }
}
