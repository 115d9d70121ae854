import DarkroomCore
import DarkroomPicture

/// The names of a manifest's images; each has its own output file.
package struct NameTable: Sendable {
    /// Indices by output file.
    private var indices: [ByteString: Int] = [:]
    private var drafts: [ImageDraft] = []
    private let formats: [OutputFormat]
    /// The remaining number of comparisons for suggestions.
    private var comparisons = 50_000

    /// Gives a name to each draft without one, and adds problems for repeated names.
    package init(naming drafts: inout [ImageDraft], problems: inout ProblemList) {
        indices.reserveCapacity(drafts.count)
        formats = OutputFormat.allCases.filter { format in
            drafts.contains { $0.settings.output.format == format }
        }
        for index in drafts.indices where Self.canBeOne(drafts[index].name) {
            let draft = drafts[index]
            if let other = holder(of: draft.name, draft.settings.output.format, among: drafts) {
                Self.addDuplicate(draft, of: drafts[other], &problems)
            } else {
                indices[draft.outputFile] = index
            }
        }
        // Derived names come last, so that given names take precedence.
        var numbers = NameNumbering()
        for index in drafts.indices where drafts[index].name.isEmpty {
            guard let source = drafts[index].source else { continue }
            var name = ImageName.derived(from: source, suffix: drafts[index].suffix)
            let format = drafts[index].settings.output.format
            if holder(of: name, format, among: drafts) != nil {
                name = numbers.name(for: name) { holder(of: $0, format, among: drafts) != nil }
            }
            drafts[index].name = name
            indices[drafts[index].outputFile] = index
        }
        self.drafts = drafts
    }

    /// Whether a text may be looked up. A text that is too long has a problem already. With aliases it may occur in
    /// many places, and it would be read to its end in each.
    private static func canBeOne(_ name: ByteString) -> Bool {
        (1...ImageName.maximumBytes).contains(name.utf8.count)
    }

    private static func addDuplicate(
        _ draft: ImageDraft, of other: ImageDraft, _ problems: inout ProblemList
    ) {
        let message =
            draft.name == other.name
            ? "the name ‘\(draft.name.shortened)’ is given twice, first to \(other.path)"
            : "‘\(draft.name.shortened)’ would have the same output file as "
                + "‘\(other.name.shortened)’, \(other.path)"
        problems.add(.duplicateName, message, at: draft.path, draft.namePlace)
    }

    package func index(of name: ByteString) -> Int? { index(of: name, among: drafts) }

    private func index(of name: ByteString, among drafts: [ImageDraft]) -> Int? {
        guard Self.canBeOne(name) else { return nil }
        for format in formats {
            if let index = indices[Manifest.Image.outputFile(named: name, format)],
                drafts[index].name == name
            {
                return index
            }
        }
        return nil
    }

    /// The image that conflicts with another one with this name: it has the same output file, or the same name with
    /// another format.
    private func holder(
        of name: ByteString, _ format: OutputFormat, among drafts: [ImageDraft]
    ) -> Int? {
        if let other = indices[Manifest.Image.outputFile(named: name, format)] { return other }
        return formats.count > 1 ? index(of: name, among: drafts) : nil
    }

    /// The most similar existing name to an unknown one. Only the first images are searched, because each comparison
    /// takes microseconds.
    package mutating func nearest(to name: ByteString) -> String? {
        guard name.utf8.count <= ImageListReader.maximumSource else { return nil }
        // The most frequent mistake: the file name instead of the image name.
        let bare = ImageName.derived(from: name)
        if index(of: bare) != nil { return bare.string }
        let candidates = drafts.prefix(comparisons)
        comparisons -= candidates.count
        return Suggestion.nearest(to: name, among: candidates.lazy.map(\.name))
    }
}
