import DarkroomCore

/// Builds a document from the beginnings and ends of containers that a reader finds in its text, and checks the limits.
/// It keeps the open containers in an array, so readers do not recurse: manifests are read on threads with small
/// stacks.
package struct DocumentBuilder {
    package var budget: NodeBudget
    /// The outermost value, when it is complete.
    package private(set) var root: Document.Node?
    /// The open containers, outermost first.
    private var open: [Container] = []

    private struct Container {
        let isMap: Bool
        let place: Document.Place
        var items: [Document.Node] = []
        var entries: [Document.Entry] = []
        var key: (text: ByteString, place: Document.Place)?
        /// The indices of the entries whose values are merged into the map.
        var merges: [Int] = []
    }

    /// The cost of a merged key in the budget for aliases. Merged keys are copied, not shared.
    private static let mergeCost = 2
    /// This number of bytes of a shared text costs as much as a value.
    private static let textOfAValue = 64

    package init(budget: NodeBudget) { self.budget = budget }

    /// Whether the innermost open container is a map; nil if none is open.
    package var isInMap: Bool? { open.last?.isMap }

    /// Whether a key or the end of the map must come next.
    package var awaitsKey: Bool { open.last.map { $0.isMap && $0.key == nil } ?? false }

    package mutating func begin(isMap: Bool, at place: Document.Place) throws(ManifestProblem) {
        guard open.count < Document.maximumHeight else { throw .tooDeep(at: place) }
        try budget.take(at: place)
        open.append(Container(isMap: isMap, place: place))
    }

    /// Adds the key of the next value. With `isMerge`, the value must be a map or a list of maps. Their entries are
    /// added to the map, except those whose keys the map already has.
    package mutating func key(
        _ text: ByteString, at place: Document.Place, isMerge: Bool = false
    ) throws(ManifestProblem) {
        guard text.utf8.count <= Document.maximumKey else {
            throw ManifestProblem(
                .tooLarge,
                "a key of \(text.utf8.count) bytes; the limit is \(Document.maximumKey)",
                place: place)
        }
        let last = open.count - 1
        open[last].key = (text, place)
        if isMerge { open[last].merges.append(open[last].entries.count) }
    }

    package mutating func add(
        _ value: Document.Value, at place: Document.Place
    ) throws(ManifestProblem) {
        try budget.take(at: place)
        put(Document.Node(value, at: place))
    }

    /// Adds a node again that is already part of the document; `place` is that of the reference.
    package mutating func add(
        shared node: Document.Node, at place: Document.Place
    ) throws(ManifestProblem) {
        if node.height > 0 {
            try budget.take(aliased: node.size, at: place)
        } else if node.textLength < Self.textOfAValue {
            try budget.take(at: place)
        } else {
            // Code that reads the document also reads the text each time.
            try budget.take(aliased: 1 + node.textLength / Self.textOfAValue, at: place)
        }
        put(node)
    }

    /// Ends the innermost open container and adds it to the one around it.
    @discardableResult
    package mutating func end() throws(ManifestProblem) -> Document.Node {
        let container = open.removeLast()
        let value: Document.Value =
            container.isMap
            ? .map(Document.Map(try entries(of: container)))
            : .list(Document.List(container.items))
        let node = Document.Node(value, at: container.place)
        // A shared node adds its own height.
        guard node.height <= Document.maximumHeight else { throw .tooDeep(at: container.place) }
        put(node)
        return node
    }

    /// Stores a node as a value, as an item or as the root.
    private mutating func put(_ node: Document.Node) {
        guard !open.isEmpty else {
            root = node
            return
        }
        let last = open.count - 1
        if let key = open[last].key {
            open[last].entries.append(Document.Entry(key: key.text, at: key.place, value: node))
            open[last].key = nil
        } else {
            open[last].items.append(node)
        }
    }

    /// The entries of a map: its own first, then those of the merged maps in their order.
    private mutating func entries(
        of container: Container
    ) throws(ManifestProblem) -> [Document.Entry] {
        if container.merges.isEmpty { return container.entries }
        let merges = Set(container.merges)
        var entries = container.entries.enumerated().filter { !merges.contains($0.offset) }
            .map(\.element)
        var keys = Set(entries.lazy.map(\.key))
        for index in container.merges {
            let entry = container.entries[index]
            for map in try Self.maps(toMerge: entry.value, at: entry.place) {
                try budget.take(aliased: map.entries.count * Self.mergeCost, at: entry.place)
                entries += map.entries.filter { keys.insert($0.key).inserted }
            }
        }
        return entries
    }

    private static func maps(
        toMerge node: Document.Node, at place: Document.Place
    ) throws(ManifestProblem) -> [Document.Map] {
        var maps: [Document.Map] = []
        var nodes = [node]
        if case .list(let list) = node.value { nodes = list.items }
        for node in nodes {
            guard case .map(let map) = node.value else {
                throw ManifestProblem(
                    .wrongType, "‘<<’ merges a map or a list of maps, found \(node.words)",
                    place: place)
            }
            maps.append(map)
        }
        return maps
    }
}
