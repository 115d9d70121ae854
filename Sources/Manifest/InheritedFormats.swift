import DarkroomCore
import DarkroomPicture

/// The formats of images with `from` that have the format of their source: that of the image they are made from.
///
/// Names tell which image that is, and formats tell which names are free. So the images get their names first, as if
/// these were of the usual format, and keep them. A name that then has the file of another is a problem.
enum InheritedFormats {
    static func areIn(_ drafts: [ImageDraft]) -> Bool { drafts.contains(where: inherits) }

    private static func inherits(_ draft: ImageDraft) -> Bool {
        draft.from != nil && draft.settings.output.isFormatOpen
    }

    static func decide(of drafts: inout [ImageDraft], _ problems: inout ProblemList) {
        // The table of the decided formats finds the problems of names.
        var others = ProblemList()
        let names = NameTable(naming: &drafts, problems: &others)
        // An image that was walked over has its format, or is in the present chain, which then is a circle.
        var isWalked = [Bool](repeating: false, count: drafts.count)
        for index in drafts.indices where inherits(drafts[index]) {
            decide(index, of: &drafts, names, &isWalked, &problems)
        }
    }

    /// Decides the format of an image, and of those between it and the one whose format it has.
    private static func decide(
        _ index: Int, of drafts: inout [ImageDraft], _ names: NameTable, _ isWalked: inout [Bool],
        _ problems: inout ProblemList
    ) {
        var chain = [index]
        // Without an image, or with a circle of them, the format does not matter: both are problems.
        var output = OutputOptions()
        isWalked[index] = true
        while let name = drafts[chain[chain.count - 1]].from?.name,
            let next = names.index(of: name)
        {
            guard inherits(drafts[next]) else {
                output = drafts[next].settings.output
                add(drafts[chain[chain.count - 1]], from: drafts[next], &problems)
                break
            }
            if isWalked[next] { break }
            isWalked[next] = true
            chain.append(next)
        }
        for index in chain { drafts[index].settings.output.inheritFormat(of: output) }
    }

    /// Adds a problem if the other image has no format. It has one if it is published, or a problem of its own, or it
    /// fails, and with it this one.
    private static func add(
        _ draft: ImageDraft, from other: ImageDraft, _ problems: inout ProblemList
    ) {
        guard !other.isPublished, draft.isPublished, let from = draft.from,
            case .source(isShared: false) = draft.settings.output.origin,
            let fault = other.settings.output.formatRefusal()
        else { return }
        problems.add(.formatNotWritten, fault, at: draft.path(of: from), from.place)
    }
}
