import DarkroomCore

/// The content of a `ReportFile`.
package protocol Report: Encodable, Sendable {
    static var fileName: FileName { get }
    /// The number of entries in its list, which may be long.
    var listCount: Int { get }
    /// The same report with the first entries of the list only.
    func shortened(to count: Int) -> Self
}

extension Report {
    /// The content of its file.
    package func encoded() -> [UInt8] { JSONFile.text(of: self) }
}
