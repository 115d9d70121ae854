/// The names of a manifest's images, each the only one of its output file.
package struct NameTable: Sendable {
    /// Indices by output file. Strings that are equal to Unicode are equal here, for on some file
    /// systems the user will copy the files to they are.
    private var indices: [String: Int] = [:]
    private let drafts: [ImageDraft]
    /// How many more names may be compared with to find one that was meant.
    private var comparisons = 50_000

    /// Gives a name to each draft that has none, and adds problems for names given twice.
    package init(naming drafts: inout [ImageDraft], problems: inout ProblemList) {
        indices.reserveCapacity(drafts.count)
        for index in drafts.indices where !drafts[index].name.isEmpty {
            let name = drafts[index].name
            let file = Manifest.Image.outputFile(named: name)
            guard let other = indices[file] else {
                indices[file] = index
                continue
            }
            Self.addDuplicate(drafts[index], of: drafts[other], &problems)
        }
        // Derived names come last, so that they make way for those given further down.
        var numbers: [String: Int] = [:]
        for index in drafts.indices where drafts[index].name.isEmpty {
            guard let source = drafts[index].source else { continue }
            let base = ImageName.derived(from: source)
            var name = base
            while indices[Manifest.Image.outputFile(named: name)] != nil {
                let number = numbers[base, default: 1] + 1
                numbers[base] = number
                name = ImageName.numbered(base, number)
            }
            indices[Manifest.Image.outputFile(named: name)] = index
            drafts[index].name = name
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
        guard let index = indices[Manifest.Image.outputFile(named: name)],
            drafts[index].name == name
        else { return nil }
        return index
    }

    /// The name nearest to one that no image has, looked for among the first images only: each
    /// comparison takes microseconds.
    package mutating func nearest(to name: String) -> String? {
        let candidates = drafts.prefix(comparisons)
        comparisons -= candidates.count
        return Suggestion.nearest(to: name, among: candidates.lazy.map(\.name))
    }
}
