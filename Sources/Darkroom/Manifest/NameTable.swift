/// The names of a manifest's images, each the only one of its output file.
package struct NameTable: Sendable {
    /// Indices by output file. Strings that are equal to Unicode are equal here, for on some file
    /// systems the user will copy the files to they are.
    private var indices: [String: Int] = [:]
    private var drafts: [ImageDraft] = []
    /// Those that the images have.
    private let formats: [PictureFormat]
    /// How many more names may be compared with to find one that was meant.
    private var comparisons = 50_000

    /// Gives a name to each draft that has none, and adds problems for names given twice.
    package init(naming drafts: inout [ImageDraft], problems: inout ProblemList) {
        indices.reserveCapacity(drafts.count)
        formats = PictureFormat.allCases.filter { format in
            drafts.contains { $0.settings.output.format == format }
        }
        for index in drafts.indices where !drafts[index].name.isEmpty {
            let draft = drafts[index]
            if let other = holder(of: draft.name, draft.settings.output.format, among: drafts) {
                Self.addDuplicate(draft, of: drafts[other], &problems)
            } else {
                indices[draft.outputFile] = index
            }
        }
        // Derived names come last, so that they make way for those given further down.
        var numbers: [String: Int] = [:]
        for index in drafts.indices where drafts[index].name.isEmpty {
            guard let source = drafts[index].source else { continue }
            let base = ImageName.derived(from: source)
            var name = base
            let format = drafts[index].settings.output.format
            while holder(of: name, format, among: drafts) != nil {
                let number = numbers[base, default: 1] + 1
                numbers[base] = number
                name = ImageName.numbered(base, number)
            }
            drafts[index].name = name
            indices[drafts[index].outputFile] = index
        }
        self.drafts = drafts
    }

    private static func addDuplicate(
        _ draft: ImageDraft, of other: ImageDraft, _ problems: inout ProblemList
    ) {
        let message =
            draft.name == other.name
            ? "the name ‘\(draft.name.shortened)’ is given twice, first to \(other.path)"
            : "the output of ‘\(draft.name.shortened)’ would be the file that "
                + "‘\(other.name.shortened)’, \(other.path), makes"
        problems.add(.duplicateName, message, at: draft.path, draft.namePlace)
    }

    package func index(of name: String) -> Int? {
        index(of: name, among: drafts)
    }

    private func index(of name: String, among drafts: [ImageDraft]) -> Int? {
        for format in formats {
            if let index = indices[Manifest.Image.outputFile(named: name, format)],
                drafts[index].name == name
            {
                return index
            }
        }
        return nil
    }

    /// The image that stands in the way of another with this name: it has the same output, or the same
    /// name and an output of another format.
    private func holder(
        of name: String, _ format: PictureFormat, among drafts: [ImageDraft]
    ) -> Int? {
        if let other = indices[Manifest.Image.outputFile(named: name, format)] { return other }
        return formats.count > 1 ? index(of: name, among: drafts) : nil
    }

    /// The name nearest to one that no image has, looked for among the first images only: each
    /// comparison takes microseconds.
    package mutating func nearest(to name: String) -> String? {
        // The commonest mistake: the file instead of the image.
        let bare = ImageName.derived(from: name)
        if index(of: bare) != nil { return bare }
        let candidates = drafts.prefix(comparisons)
        comparisons -= candidates.count
        return Suggestion.nearest(to: name, among: candidates.lazy.map(\.name))
    }
}
