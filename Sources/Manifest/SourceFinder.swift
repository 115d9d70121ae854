import DarkroomCore
import DarkroomPicture

/// Tells which files a pattern means, and how many pages a file has.
package enum SourceFinder: Sendable {
    /// Nothing is looked up. The manifest has `hasUnknownSources` then.
    case none
    /// What was found before.
    case recorded(SourceRecord)
    /// Looks into folders and files.
    ///
    /// - Parameters:
    ///   - look: `limit` is the maximum number of files.
    ///   - count: the pages of a local source; nil if they are not known here.
    case live(
        _ look: @Sendable (_ pattern: SourcePattern, _ limit: Int) -> Finding,
        pages: @Sendable (_ source: ByteString, _ limit: TIFFPages.Limit) -> TIFFPages.Count? = {
            _, _ in nil
        })

    package enum Finding: Sendable, Equatable {
        /// Sorted by the bytes of their names; never empty.
        case files([ByteString])
        /// Why there is none, as a sentence.
        case nothing(String)
        /// There are more than the limit.
        case tooMany
        /// It is not known here.
        case unknown
    }

    package func find(_ pattern: SourcePattern, limit: Int) -> Finding {
        switch self {
        case .none: return .unknown
        case .recorded(let record):
            guard let entry = record.patterns.first(where: { $0.pattern == pattern.text }) else {
                return .nothing("what ‘\(pattern.text.shortened)’ meant is lost")
            }
            return .files(entry.files)
        case .live(let look, _): return look(pattern, limit)
        }
    }

    /// The same for sources whose pages were counted before. Those that are not listed have one.
    package func knowing(_ pages: [FoundPages]) -> SourceFinder {
        guard case .live(let look, _) = self else { return self }
        let counts = Dictionary(pages.map { ($0.source, $0.pages) }) { first, _ in first }
        return .live(look) { source, _ in .pages(counts[source] ?? 1, copies: 0) }
    }

    /// The same, and looks at the sources that can be opened. For the others, what was counted stands.
    package func recalling(_ pages: [FoundPages]) -> SourceFinder {
        guard case .live(let look, let count) = self else { return self }
        let counts = Dictionary(pages.map { ($0.source, $0.pages) }) { first, _ in first }
        return .live(look) { source, limit in
            count(source, limit) ?? counts[source].map { .pages($0, copies: 0) }
        }
    }

    /// The pages of a local source that are there now; nil if nobody looks, or if they are not known here.
    package func pages(of source: ByteString, _ limit: TIFFPages.Limit) -> TIFFPages.Count? {
        guard case .live(_, let count) = self else { return nil }
        return count(source, limit)
    }
}
