import DarkroomCore

/// The journal records of the cache.
extension EventLog {
    package func cacheOpened(_ contents: CacheContents, _ path: String, limit: Int) {
        say(
            .cacheOpened, "\(contents.kept) are kept in \(path), up to \(Units.bytes(limit))",
            [.bytes: "\(limit)"])
    }

    /// There is no cache, which only costs time.
    ///
    /// - Parameter isMissed: whether the configuration asks for a cache.
    package func cacheUnused(
        _ contents: CacheContents, _ path: String, because reason: String, isMissed: Bool
    ) {
        say(
            .cacheUnused, worse: isMissed,
            "\(path) is not used as a \(contents.place): \(reason); \(contents.without) again"
        )
    }

    func cacheDiscarded(_ contents: CacheContents, _ path: String, because reason: String) {
        say(.cacheDiscarded, "\(path) was discarded: \(reason); \(contents.one) again")
    }

    func cacheTroubled(_ contents: CacheContents, _ error: FileError) {
        say(
            .cacheTroubled,
            "\(error.message); no image fails because of this, but \(contents.several) again",
            [.error: error.code])
    }

    func cacheHasNoRoom(_ contents: CacheContents, _ path: String) {
        say(
            .cacheTroubled,
            "Nothing is added to the \(contents.place) in \(path), because its file system has less than 5 % or 1 GiB "
                + "free", [.error: "cache-low-space"])
    }

    func cacheStored(_ contents: CacheContents, bytes: Int) {
        let (count, sum) =
            switch contents {
            case .responses: (metrics.cacheStored, metrics.cacheStoredBytes)
            case .results: (metrics.resultsStored, metrics.resultsStoredBytes)
            }
        count.add(1)
        sum.add(bytes)
    }

    func cacheEvicted(_ contents: CacheContents, _ count: Int, bytes: Int) {
        let word: String
        switch contents {
        case .responses:
            metrics.cacheEvictions.add(count)
            word = "response"
        case .results:
            metrics.resultEvictions.add(count)
            word = "result"
        }
        say(
            .cacheEvicted,
            "\(Words.count(count, word)) removed from the \(contents.place) to make room, \(Units.bytes(bytes))",
            [.bytes: "\(bytes)", .count: "\(count)"])
    }
}

extension CacheContents {
    fileprivate var place: String {
        switch self {
        case .responses: "cache"
        case .results: "store of results"
        }
    }

    /// What one that is missing costs.
    fileprivate var one: String {
        switch self {
        case .responses: "its source is downloaded"
        case .results: "its picture is made"
        }
    }

    /// What several that are missing may cost.
    fileprivate var several: String {
        switch self {
        case .responses: "sources may be downloaded"
        case .results: "pictures may be made"
        }
    }

    /// What a daemon without any does.
    fileprivate var without: String {
        switch self {
        case .responses: "each manifest downloads its sources"
        case .results: "each manifest makes its pictures"
        }
    }

    fileprivate var kept: String {
        switch self {
        case .responses: "Downloaded sources"
        case .results: "Results"
        }
    }
}
