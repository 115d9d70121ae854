import DarkroomCore
import DarkroomFetch
import DarkroomPicture

/// `pages: all`: the images of the pages of a source.
extension ImageListReader {
    /// Adds an image, or one for each page of its source if all are wanted and there are several.
    ///
    /// - Parameter isFound: whether a pattern or a folder means its source, which the manifest does not name.
    mutating func addPages(
        of draft: ImageDraft, isNamed: Bool, isFound: Bool, at path: DocumentPath,
        _ place: Document.Place, _ reader: inout ValueReader
    ) {
        var count = 1
        // Once there are too many images, the pages of further files are not counted.
        if draft.wantsAllPages, !isOverLimit, let source = draft.source {
            switch SourceReference(source) {
            case .local:
                let canHaveSeveral = canHaveSeveralPages(draft, isNamed: isNamed)
                if hasPagesProblem { return }
                guard
                    let known = pages(
                        of: source, isForOne: !canHaveSeveral, at: path, place, &reader)
                else { return }
                count = known
            case .remote: refuseOrNote(draft, &reader)
            case .refused: break
            }
        }
        guard count > 1, count < TIFFPages.uncountable else {
            var draft = draft
            // The image fails alone: other files have done nothing wrong.
            if count > 1 { draft.page = count }
            return append(draft, isNamed: isNamed, isFound: isFound, at: path, place, &reader)
        }
        guard !draft.settings.hasNamedVariants else {
            hasPagesProblem = true
            return reader.problems.add(
                .conflictingKeys,
                "‘\(draft.source?.shortened ?? "")’ has several pages, so its variants need a ‘suffix’ and not a ‘name’",
                at: path, place)
        }
        let width = String(count).utf8.count
        for page in 1...count {
            if isOverLimit || reader.stop?.isSet == true { return }
            let suffix = ByteString("-" + page.digits(width: width))
            var image = draft
            image.page = page
            image.pageSuffix = suffix
            if draft.name.isEmpty {
                image.suffix = suffix
            } else {
                image.name = ImageName.adding(suffix, to: draft.name)
                if page == 1, isNamed, ImageName.fault(of: draft.name) == nil,
                    ImageName.fault(of: image.name) != nil
                {
                    hasPagesProblem = true
                    return Self.check(image.name, draft.namePlace, at: draft.path, &reader)
                }
            }
            append(image, isNamed: isNamed, isFound: isFound, at: path, place, &reader)
        }
    }

    private func canHaveSeveralPages(_ draft: ImageDraft, isNamed: Bool) -> Bool {
        if draft.settings.hasNamedVariants { return false }
        guard isNamed, ImageName.fault(of: draft.name) == nil else { return true }
        return ImageName.fault(of: ImageName.adding("-1", to: draft.name)) == nil
    }

    /// The number of pages of a file; nil if they cannot be images, which is a problem.
    ///
    /// - Parameter isForOne: whether it is enough to know if there are several. Then it may tell two of more.
    private mutating func pages(
        of source: ByteString, isForOne: Bool, at path: DocumentPath, _ place: Document.Place,
        _ reader: inout ValueReader
    ) -> Int? {
        let shown = source.shortened
        let left = min(limits.images, ManifestLimits.mostOfPages) - drafts.count
        let most = isForOne ? 1 : min(max(1, left), TIFFPages.most)
        switch sources.pages(of: source, limit: most) {
        case .tooMany where isForOne: return 2
        case .known(let count) where isForOne: return count
        case .known(let count) where count <= max(1, left) || count == TIFFPages.uncountable:
            return count
        case .unknown: return 1
        case .known, .tooMany:
            isOverLimit = true
            reader.problems.add(
                .tooManyImages,
                "with the pages of ‘\(shown)’, there are more images than the limit of \(limits.images)",
                at: path, place)
        case .lost:
            reader.problems.add(
                .noPictures, "how many pages ‘\(shown)’ had is lost", at: path, place)
        }
        return nil
    }

    /// Says that the pages of a URL are not known. If its image does not ask for them itself, it has one page like any
    /// other.
    private mutating func refuseOrNote(_ draft: ImageDraft, _ reader: inout ValueReader) {
        guard let place = draft.pagesPlace else { return urlsWithOnePage += 1 }
        let notation = reader.notation
        func form() -> String {
            ManifestSnippet.value(.integer(2)).written(in: notation, key: "page")
        }
        reader.problems.add(
            .conflictingKeys,
            "‘pages: all’ is for files: the pages of a URL are not known when the manifest is taken; "
                + "list an image for each page, such as ‘\(form())’",
            at: .key(draft.path, "pages"), place)
    }
}

extension ImageSettings {
    /// Whether a variant has a name of its own, which only one image can have.
    var hasNamedVariants: Bool {
        variants.contains {
            if case .name = $0.naming { true } else { false }
        }
    }
}

extension ValueReader {
    /// - Parameter isOfImage: whether `page` beside it chooses a page.
    mutating func pageRule(
        _ node: Document.Node, at path: DocumentPath, isOfImage: Bool
    ) -> PageRule? {
        guard case .integer(let number)? = node.number else {
            return word(node, "‘pages’", at: path)
        }
        let (words, notation) = (PageRule.allCases.map(\.rawValue), notation)
        func form() -> String {
            ManifestSnippet.value(.integer(max(1, number))).written(in: notation, key: "page")
        }
        problems.add(
            .wrongType,
            "‘pages’ must be \(Words.list(words, "or")), found \(number); one page is chosen "
                + (isOfImage ? "by ‘page’" : "by an image") + ": ‘\(form())’",
            at: path, node.place)
        return nil
    }
}
