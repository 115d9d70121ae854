import DarkroomCore
import DarkroomPicture

/// What a manifest meant when it was taken, beyond its text: the files of its patterns and the pages of its files. A
/// restart, a retry and all shards of a run use it, whatever has become of these.
package struct SourceRecord: Sendable, Equatable {
    package var patterns: [FoundSources]
    /// The sources with several pages, in the order in which they were counted; nil if no pages were counted. Every other
    /// source has one.
    package var pages: [FoundPages]?

    package init(_ patterns: [FoundSources] = [], pages: [FoundPages]? = nil) {
        self.patterns = patterns
        self.pages = pages
    }

    /// Whether there is nothing to be remembered.
    package var isEmpty: Bool { patterns.isEmpty && pages == nil }
}

/// How many pages a source had.
package struct FoundPages: Codable, Sendable, Equatable {
    package let source: ByteString
    /// From 2 to `TIFFPages.most`.
    package let pages: Int

    /// Whether a number in a file can be one of pages.
    package var isPossible: Bool { (2...TIFFPages.uncountable).contains(pages) }
}
