import DarkroomCore

extension EventLog {
    package func cacheOpened(_ contents: CacheContents, _ path: String, limit: Int) {
        say(
            .cacheOpened, "\(contents.texts.kept) are kept in \(path), up to \(Units.bytes(limit))",
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
            "\(path) is not used as a \(contents.texts.place): \(reason); \(contents.texts.without) again"
        )
    }

    func cacheDiscarded(_ contents: CacheContents, _ path: String, because reason: String) {
        say(.cacheDiscarded, "\(path) was discarded: \(reason); \(contents.texts.one) again")
    }

    func cacheTroubled(_ contents: CacheContents, _ error: FileError) {
        say(
            .cacheTroubled,
            "\(error.message); no image fails because of this, but \(contents.texts.several) again",
            [.error: error.code])
    }

    func cacheHasNoRoom(_ contents: CacheContents, _ path: String) {
        say(
            .cacheTroubled,
            "Nothing is added to the \(contents.texts.place) in \(path), because its file system has less than 5 % or 1 GiB "
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
        switch contents {
        case .responses: metrics.cacheEvictions.add(count)
        case .results: metrics.resultEvictions.add(count)
        }
        say(
            .cacheEvicted,
            "\(Words.count(count, contents.texts.word)) removed from the \(contents.texts.place) to make room, \(Units.bytes(bytes))",
            [.bytes: "\(bytes)", .count: "\(count)"])
    }
}

extension CacheContents {
    fileprivate struct Texts {
        let kept, place, word: String
        /// What one that is missing costs.
        let one: String
        /// What several that are missing may cost.
        let several: String
        /// What a daemon without any does.
        let without: String
    }

    fileprivate var texts: Texts {
        switch self {
        case .responses:
            Texts(
                kept: "Downloaded sources", place: "cache", word: "response",
                one: "its source is downloaded", several: "sources may be downloaded",
                without: "each manifest downloads its sources")
        case .results:
            Texts(
                kept: "Results", place: "store of results", word: "result",
                one: "its picture is made", several: "pictures may be made",
                without: "each manifest makes its pictures")
        }
    }
}
