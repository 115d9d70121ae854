import DarkroomCore
import DarkroomFetch
import DarkroomPicture

/// What the patterns and folders among the sources of a manifest mean, and how many pages its files have. Each different
/// one is looked up once.
struct SourceLookup {
    /// The maximum number of different patterns. Each is the listing of a folder.
    static let mostPatterns = 100
    /// The maximum number of directories of all files that no image is made of: smaller copies and masks beside the pages,
    /// and pages of files that have too many. Passing over so many takes a second.
    static let mostCopies = 1_000_000

    /// What is found, in the order in which it occurs.
    private(set) var record = SourceRecord()
    /// The number of patterns that are not known here.
    private(set) var unknown = 0
    /// The number of files whose pages are not known here.
    private(set) var uncounted = 0
    private var findings: [ByteString: SourceFinder.Finding] = [:]
    private var counts: [ByteString: Int] = [:]
    /// What was recorded.
    private var formerCounts: [ByteString: Int] = [:]
    private var copiesLeft = mostCopies
    private let finder: SourceFinder

    init(_ finder: SourceFinder) {
        self.finder = finder
        guard case .recorded(let record) = finder else { return }
        for entry in record.pages ?? [] { formerCounts[entry.source] = entry.pages }
    }

    /// - Parameter limit: the maximum number of its files.
    /// - Returns: nil if there are too many different patterns.
    mutating func find(_ pattern: SourcePattern, limit: Int) -> SourceFinder.Finding? {
        if let known = findings[pattern.text] { return known }
        guard findings.count < Self.mostPatterns else { return nil }
        let finding = finder.find(pattern, limit: limit)
        findings[pattern.text] = finding
        switch finding {
        case .files(let files):
            record.patterns.append(FoundSources(pattern: pattern.text, files: files))
        case .unknown: unknown += 1
        case .nothing, .tooMany: break
        }
        return finding
    }

    enum Pages {
        case known(Int)
        /// Only somebody else knows.
        case unknown
        /// They were counted once, and nobody knows any more.
        case lost
        case tooMany
    }

    /// - Parameter limit: the maximum number of pages.
    /// - Returns: `TIFFPages.uncountable` for a file that no manifest could have whole.
    mutating func pages(of source: ByteString, limit: Int) -> Pages {
        if let known = counts[source] { return .known(known) }
        let count: Int
        if case .recorded(let former) = finder {
            guard former.pages != nil else { return .lost }
            count = formerCounts[source] ?? 1
        } else {
            switch finder.pages(of: source, TIFFPages.Limit(pages: limit, copies: copiesLeft)) {
            case .pages(let pages, let copies):
                copiesLeft -= copies
                count = pages
            case .tooMany where limit < TIFFPages.most: return .tooMany
            case .tooMany:
                copiesLeft = max(0, copiesLeft - limit)
                count = TIFFPages.uncountable
            case .tooManyCopies:
                copiesLeft = 0
                count = TIFFPages.uncountable
            case nil:
                uncounted += 1
                return .unknown
            }
        }
        counts[source] = count
        if record.pages == nil { record.pages = [] }
        if count > 1 { record.pages?.append(FoundPages(source: source, pages: count)) }
        return .known(count)
    }
}
