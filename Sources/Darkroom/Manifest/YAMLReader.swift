/// Reads one YAML document with the place of every key and value.
///
/// Aliases share what they stand for, and what they stand for is counted against a budget, so that a
/// small file cannot ask for more work than a large one. Nothing recurses.
package struct YAMLReader {
    private var budget: NodeBudget
    private var anchors: [String: Document.Node] = [:]
    /// The containers that are open, outermost first.
    private var open: [Container] = []
    private var root: Document.Node?

    /// Lines that begin with `%`. libyaml compares each `%TAG` with all before it.
    private static let maximumDirectives = 64
    /// What a merged key costs of the budget for aliases. Unlike what they share, it is copied.
    private static let mergeCost = 2

    /// A list or a map whose end has not come yet.
    private struct Container {
        let isMap: Bool
        let anchor: String?
        let place: Document.Place
        var items: [Document.Node] = []
        var entries: [Document.Entry] = []
        /// The key whose value comes next.
        var key: (text: String, isMerge: Bool, place: Document.Place)?
        /// The maps that `<<` names, in their order.
        var merged: [Document.Map] = []
    }

    package static func read(
        _ bytes: [UInt8], budget: NodeBudget
    ) throws(ManifestProblem) -> Document.Node {
        let start = try TextCursor(bytes).index
        return try bytes.withUnsafeBufferPointer {
            (buffer) throws(ManifestProblem) -> Document.Node in
            let text = UnsafeBufferPointer(rebasing: buffer[start...])
            guard directives(in: text) <= maximumDirectives else {
                throw ManifestProblem(
                    .syntax, "YAML: more than \(maximumDirectives) lines begin with ‘%’",
                    place: .start)
            }
            var reader = YAMLReader(budget: budget)
            return try reader.read(try YAMLEvents(text))
        }
    }

    private init(budget: NodeBudget) {
        self.budget = budget
    }

    private static func directives(in text: UnsafeBufferPointer<UInt8>) -> Int {
        var count = 0
        var isLineStart = true
        for index in text.indices {
            let byte = text[index]
            if isLineStart, byte == UInt8(ascii: "%") { count += 1 }
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): isLineStart = true
            // The last bytes of U+0085, U+2028 and U+2029, which libyaml takes for line ends too.
            case 0x85: isLineStart = index >= 1 && text[index - 1] == 0xC2
            case 0xA8, 0xA9:
                isLineStart = index >= 2 && text[index - 1] == 0x80 && text[index - 2] == 0xE2
            default: isLineStart = false
            }
        }
        return count
    }

    private mutating func read(
        _ source: consuming YAMLEvents
    ) throws(ManifestProblem) -> Document.Node {
        var events = source
        while true {
            let event = try events.next()
            let place = event.place
            switch event.kind {
            case .streamStart, .documentEnd: break
            case .documentStart:
                guard root == nil else {
                    throw ManifestProblem(
                        .syntax, "a second document; a manifest is one document", place: place)
                }
            case .streamEnd:
                guard let root else {
                    throw ManifestProblem(.syntax, "the file is empty", place: .start)
                }
                return root
            case .alias(let name):
                try add(try target(of: name, at: place), keyPlace: place)
            case .scalar(let text, let isPlain, let properties):
                try budget.take(at: place)
                let value = try Self.scalar(text, isPlain, properties, at: place)
                let node = Document.Node(value, at: place)
                if let anchor = properties.anchor { anchors[anchor] = node }
                // Only `<<` without quotes and tag is a merge.
                let isMerge = text == "<<" && isPlain && properties.tag == nil
                try add(node, keyPlace: place, isMergeKey: isMerge)
            case .listStart(let properties):
                try begin(isMap: false, properties, at: place)
            case .mapStart(let properties):
                try begin(isMap: true, properties, at: place)
            case .containerEnd:
                try end()
            }
        }
    }

    private static func scalar(
        _ text: String, _ isPlain: Bool, _ properties: YAMLEvents.Properties,
        at place: Document.Place
    ) throws(ManifestProblem) -> Document.Value {
        guard let tag = properties.tag else { return isPlain ? .plain(text) : .text(text) }
        switch tag {
        case "!", "tag:yaml.org,2002:str": return .text(text)
        // The reader checks the text against the type that it expects.
        case "tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:bool",
            "tag:yaml.org,2002:null":
            return .plain(text)
        default: throw unsupported(tag, at: place)
        }
    }

    private static func unsupported(_ tag: String, at place: Document.Place) -> ManifestProblem {
        ManifestProblem(
            .unsupportedTag, "a value with the tag ‘\(tag.shortened)’, which manifests do not have",
            place: place)
    }

    /// The node that the alias `name` stands for, its cost taken from the budget.
    private mutating func target(
        of name: String, at place: Document.Place
    ) throws(ManifestProblem) -> Document.Node {
        guard let node = anchors[name] else {
            throw ManifestProblem(
                .syntax, "YAML: the alias ‘*\(name.shortened)’ has no anchor before it",
                place: place)
        }
        try budget.take(aliased: node.size, at: place)
        return node
    }

    private mutating func begin(
        isMap: Bool, _ properties: YAMLEvents.Properties, at place: Document.Place
    ) throws(ManifestProblem) {
        switch properties.tag {
        case nil, "!": break
        case "tag:yaml.org,2002:seq" where !isMap: break
        case "tag:yaml.org,2002:map" where isMap: break
        case let tag?: throw Self.unsupported(tag, at: place)
        }
        if let last = open.last, last.isMap, last.key == nil { throw Self.containerAsKey(place) }
        guard open.count < Document.maximumHeight else { throw .tooDeep(at: place) }
        try budget.take(at: place)
        // An alias within would stand for what contains it; without the anchor it is refused.
        if let anchor = properties.anchor { anchors[anchor] = nil }
        open.append(Container(isMap: isMap, anchor: properties.anchor, place: place))
    }

    private mutating func end() throws(ManifestProblem) {
        let container = open.removeLast()
        let value: Document.Value =
            container.isMap ? .map(try map(of: container)) : .list(Document.List(container.items))
        let node = Document.Node(value, at: container.place)
        guard node.height <= Document.maximumHeight else { throw .tooDeep(at: container.place) }
        if let anchor = container.anchor { anchors[anchor] = node }
        try add(node, keyPlace: container.place)
    }

    /// Puts a finished node where it belongs: it is a key, a value, an item or the root.
    private mutating func add(
        _ node: Document.Node, keyPlace place: Document.Place, isMergeKey: Bool = false
    ) throws(ManifestProblem) {
        guard !open.isEmpty else {
            root = node
            return
        }
        let last = open.count - 1
        guard open[last].isMap else {
            open[last].items.append(node)
            return
        }
        guard let key = open[last].key else {
            open[last].key = (try Self.keyText(node, at: place), isMergeKey, place)
            return
        }
        open[last].key = nil
        if key.isMerge {
            open[last].merged += try Self.mergedMaps(node, at: key.place)
        } else {
            open[last].entries.append(Document.Entry(key: key.text, at: key.place, value: node))
        }
    }

    private static func keyText(
        _ node: Document.Node, at place: Document.Place
    ) throws(ManifestProblem) -> String {
        switch node.value {
        case .text(let text), .plain(let text): return text
        default: throw containerAsKey(place)
        }
    }

    private static func mergedMaps(
        _ node: Document.Node, at place: Document.Place
    ) throws(ManifestProblem) -> [Document.Map] {
        switch node.value {
        case .map(let map): return [map]
        case .list(let list):
            var maps: [Document.Map] = []
            for item in list.items {
                guard case .map(let map) = item.value else { throw wrongMerge(item, at: place) }
                maps.append(map)
            }
            return maps
        default: throw wrongMerge(node, at: place)
        }
    }

    /// The map of a container: its own entries, then those of the merged maps that are not there yet.
    private mutating func map(of container: Container) throws(ManifestProblem) -> Document.Map {
        var entries = container.entries
        guard !container.merged.isEmpty else { return Document.Map(entries) }
        var keys = Set(entries.lazy.map(\.key))
        for map in container.merged {
            try budget.take(
                aliased: map.entries.count * Self.mergeCost, at: container.place)
            entries += map.entries.filter { keys.insert($0.key).inserted }
        }
        return Document.Map(entries)
    }

    private static func wrongMerge(
        _ node: Document.Node, at place: Document.Place
    ) -> ManifestProblem {
        ManifestProblem(
            .wrongType, "‘<<’ merges a map or a list of maps, found \(node.words)", place: place)
    }

    private static func containerAsKey(_ place: Document.Place) -> ManifestProblem {
        ManifestProblem(
            .wrongType, "a key must be text, found a list or a map", place: place)
    }
}
