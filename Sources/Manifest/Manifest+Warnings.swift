import DarkroomCore
import DarkroomPicture

extension Manifest {
    /// What a person should know about a manifest that is right: settings whose meaning has changed,
    /// and what it does not get.
    package var warnings: [String] { [thumbnailWarning, pagesWarning].compactMap(\.self) }

    private var thumbnailWarning: String? {
        let changed = images.filter { $0.filters.cutBefore }
        guard let first = changed.first else { return nil }
        let which =
            changed.count == 1
            ? "image \(first.name.shortened)"
            : "\(changed.count) images, first of \(first.name.shortened)"
        return [Filter].changedThumbnail("of \(which)")
    }

    private var pagesWarning: String? {
        guard urlsWithOnePage > 0 else { return nil }
        let subject =
            urlsWithOnePage == 1
            ? "a URL gets one image" : "\(urlsWithOnePage) URLs get one image each"
        return "‘pages: all’ is for files; \(subject), of the first page"
    }
}

extension Recipe {
    /// The same for a recipe.
    package var warnings: [String] {
        let lists = [filters ?? []] + (variants ?? []).compactMap { $0.filters?.filters }
        return lists.contains(where: \.cutBefore)
            ? [[Filter].changedThumbnail("of recipe \(name)")] : []
    }
}

extension [Filter] {
    /// Whether one of them cut a picture in older versions, and does not now.
    package var cutBefore: Bool {
        contains {
            if case .resize(let resize) = $0 { resize.formerFit != nil } else { false }
        }
    }

    /// - Parameter whose: where such a filter is.
    package static func changedThumbnail(_ whose: String) -> String {
        "thumbnail without ‘fit’ (\(whose)) keeps the whole picture; older versions cut it to the box. "
            + Filter.Resize.fitAdvice
    }
}
