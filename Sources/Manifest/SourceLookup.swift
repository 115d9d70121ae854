import DarkroomCore

/// What the patterns and folders among the sources of a manifest mean. Each different one is looked up once.
struct SourceLookup {
    /// The maximum number of different ones. Each is the listing of a folder.
    static let mostPatterns = 100

    /// Those that mean files, in the order in which they occur.
    private(set) var found: [FoundSources] = []
    /// The number of those that are not known here.
    private(set) var unknown = 0
    private var findings: [ByteString: SourceFinder.Finding] = [:]
    private let finder: SourceFinder

    init(_ finder: SourceFinder) { self.finder = finder }

    /// - Parameter limit: the maximum number of its files.
    /// - Returns: nil if there are too many different patterns.
    mutating func find(_ pattern: SourcePattern, limit: Int) -> SourceFinder.Finding? {
        if let known = findings[pattern.text] { return known }
        guard findings.count < Self.mostPatterns else { return nil }
        let finding = finder.find(pattern, limit: limit)
        findings[pattern.text] = finding
        switch finding {
        case .files(let files): found.append(FoundSources(pattern: pattern.text, files: files))
        case .unknown: unknown += 1
        case .nothing, .tooMany: break
        }
        return finding
    }
}
