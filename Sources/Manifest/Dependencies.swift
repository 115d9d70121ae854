import DarkroomCore

/// The images for which each image of a manifest waits: its `from`, the overlays of its filters, and those in `after`.
package struct Dependencies: Sendable {
    /// For each image in the manifest's order: `from` first, `after` last, each image once. References to unknown
    /// images are left out.
    private var edges: [[Edge]]

    private struct Edge {
        let target: Int
        let reference: ImageDraft.Reference
    }

    /// Resolves the names. Adds a problem for each unknown name, and for each image that would wait for itself,
    /// directly or indirectly.
    ///
    /// - Parameter isComplete: whether there are no other images, so that an unknown name is a problem.
    package init(
        of drafts: [ImageDraft], in format: ManifestFormat, names: inout NameTable,
        isComplete: Bool = true, problems: inout ProblemList
    ) {
        edges = []
        edges.reserveCapacity(drafts.count)
        // Mentions in filters that refer to an unknown name: a million images may share one list.
        var unknown: Set<Int> = []
        for (index, draft) in drafts.enumerated() {
            var own: [Edge] = []
            var seen: Set<Int> = []
            for reference in draft.references {
                if let target = names.index(of: reference.name) {
                    guard seen.insert(target).inserted else { continue }
                    own.append(Edge(target: target, reference: reference))
                } else if isComplete {
                    if case .filter(_, let number) = reference.role {
                        guard unknown.insert(number).inserted else { continue }
                    } else if let variant = draft.variant, variant.first != index {
                        // The first one has the same `from` and `after`.
                        continue
                    }
                    guard problems.listsMore else {
                        problems.add(.unknownImage, "", at: .root, reference.place)
                        continue
                    }
                    let suggestion = names.nearest(to: reference.name)
                    problems.add(
                        .unknownImage,
                        "no image has the name ‘\(reference.name.shortened)’"
                            + (suggestion == nil ? Self.advice(reference, of: draft, format) : ""),
                        at: draft.path(of: reference), reference.place, suggestion: suggestion)
                }
            }
            edges.append(own)
        }
        addCycles(of: drafts, &problems)
    }

    /// The correction for a source that is written instead of the name of an image.
    private static func advice(
        _ reference: ImageDraft.Reference, of draft: ImageDraft, _ format: ManifestFormat
    ) -> String {
        guard OverlaySource.isSource(reference.name) else { return "" }
        switch reference.role {
        case .filter:
            let isListed = if case .index = draft.path { true } else { false }
            return OverlaySource.advice(reference.name, format, isListed: isListed)
        case .from:
            let form = ManifestSnippet.value(of: Document.Node(.text(reference.name), at: .none))
            return form.map { "; write ‘\($0.written(in: format, key: "source"))’" } ?? ""
        case .after: return ""
        }
    }

    package func origin(of image: Int) -> Int? {
        edges[image].first {
            if case .from = $0.reference.role { true } else { false }
        }?.target
    }

    /// The overlays of this image's filters, without its `from`.
    package func overlays(of image: Int) -> [Int] {
        edges[image].compactMap { if case .filter = $0.reference.role { $0.target } else { nil } }
    }

    /// The images in `after`, without those that this one needs.
    package func after(of image: Int) -> [Int] {
        edges[image].compactMap { if case .after = $0.reference.role { $0.target } else { nil } }
    }

    private enum Visit {
        case new
        /// On the current path, at this depth.
        case open(Int)
        case done
    }

    /// Walks all edges once, depth first. An edge that leads back to the current path closes a cycle; without these
    /// edges there would be none. It does not recurse, because a chain may have 100,000 images.
    private func addCycles(of drafts: [ImageDraft], _ problems: inout ProblemList) {
        var visits = [Visit](repeating: .new, count: edges.count)
        // The current path: images, and the next edge of each.
        var path: [(image: Int, next: Int)] = []
        for start in edges.indices {
            guard case .new = visits[start] else { continue }
            visits[start] = .open(0)
            path.append((start, 0))
            while let (image, next) = path.last {
                guard next < edges[image].count else {
                    visits[image] = .done
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let edge = edges[image][next]
                switch visits[edge.target] {
                case .done: break
                case .new:
                    visits[edge.target] = .open(path.count)
                    path.append((edge.target, 0))
                case .open(let depth):
                    problems.add(
                        .cycle, Self.words(path[depth...].lazy.map { drafts[$0.image].name }),
                        at: drafts[image].path(of: edge.reference), edge.reference.place)
                }
            }
        }
    }

    /// `a → b → a`, where the arrow means "waits for"; long cycles are shortened.
    private static func words(_ names: some Collection<ByteString>) -> String {
        let shown = 8
        guard let first = names.first else { return "" }
        if names.count == 1 { return "the image ‘\(first.shortened)’ waits for itself" }
        var words = names.prefix(shown).map { "‘\($0.shortened)’" }
        if names.count > shown { words.append("… (\(names.count) images)") }
        words.append("‘\(first.shortened)’")
        return "images that wait for each other: " + words.joined(separator: " → ")
    }
}
