import DarkroomCore

/// Reads one YAML document with the place of every key and value.
///
/// Aliases share their values, which count against a budget, so that a small file cannot demand more work than a large
/// one. Nothing recurses.
package struct YAMLReader {
    private var builder: DocumentBuilder
    private var anchors: [ByteString: Document.Node] = [:]
    /// The anchors of the open containers, outermost first.
    private var open: [ByteString?] = []

    /// The maximum number of lines that begin with `%`. libyaml compares each `%TAG` with all previous ones.
    private static let maximumDirectives = 64

    package static func read(
        _ bytes: [UInt8], budget: NodeBudget
    ) throws(ManifestProblem) -> Document.Node {
        let start = try TextCursor(bytes).index
        return try bytes.withUnsafeBufferPointer {
            (buffer) throws(ManifestProblem) -> Document.Node in
            let text = UnsafeBufferPointer(rebasing: buffer[start...])
            guard directives(in: text) <= maximumDirectives else {
                throw ManifestProblem(
                    .syntax,
                    "YAML: more than \(maximumDirectives) directives (lines that begin with ‘%’)",
                    place: .start)
            }
            var reader = YAMLReader(builder: DocumentBuilder(budget: budget))
            return try reader.read(try YAMLEvents(text, stop: budget.stop))
        }
    }

    private static func directives(in text: UnsafeBufferPointer<UInt8>) -> Int {
        var count = 0
        var isLineStart = true
        for index in text.indices {
            let byte = text[index]
            if isLineStart, byte == UInt8(ascii: "%") { count += 1 }
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): isLineStart = true
            // The last bytes of U+0085, U+2028 and U+2029, which libyaml also treats as line ends.
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
                guard builder.root == nil else {
                    throw ManifestProblem(
                        .syntax, "a second document; a manifest must be one document", place: place)
                }
            case .streamEnd:
                guard let root = builder.root else {
                    throw ManifestProblem(.syntax, "the file is empty", place: .start)
                }
                return root
            case .alias(let name):
                try addTarget(of: name, at: place)
            case .scalar(let text, let isPlain, let properties):
                try addScalar(text, isPlain, properties, at: place)
            case .listStart(let properties):
                try begin(isMap: false, properties, at: place)
            case .mapStart(let properties):
                try begin(isMap: true, properties, at: place)
            case .containerEnd:
                let node = try builder.end()
                if let anchor = open.removeLast() { anchors[anchor] = node }
            }
        }
    }

    private mutating func addScalar(
        _ text: ByteString, _ isPlain: Bool, _ properties: YAMLEvents.Properties,
        at place: Document.Place
    ) throws(ManifestProblem) {
        let value = try Self.scalar(text, isPlain, properties, at: place)
        if let anchor = properties.anchor { anchors[anchor] = Document.Node(value, at: place) }
        if builder.awaitsKey {
            // Only `<<` without quotes and tag is a merge.
            let isMerge = text == "<<" && isPlain && properties.tag == nil
            try builder.key(text, at: place, isMerge: isMerge)
        } else {
            try builder.add(value, at: place)
        }
    }

    private static func scalar(
        _ text: ByteString, _ isPlain: Bool, _ properties: YAMLEvents.Properties,
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

    private static func unsupported(_ tag: ByteString, at place: Document.Place) -> ManifestProblem
    {
        ManifestProblem(
            .unsupportedTag, "the tag ‘\(tag.shortened)’ is not supported in manifests",
            place: place)
    }

    /// Adds the value of the alias `name`, or uses it as a key.
    private mutating func addTarget(
        of name: ByteString, at place: Document.Place
    ) throws(ManifestProblem) {
        guard let node = anchors[name] else {
            throw ManifestProblem(
                .syntax, "YAML: the alias ‘*\(name.shortened)’ has no anchor before it",
                place: place)
        }
        guard builder.awaitsKey else {
            try builder.add(shared: node, at: place)
            return
        }
        switch node.value {
        case .text(let text), .plain(let text): try builder.key(text, at: place)
        default: throw Self.containerAsKey(place)
        }
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
        if builder.awaitsKey { throw Self.containerAsKey(place) }
        try builder.begin(isMap: isMap, at: place)
        // An alias inside would stand for its own container; without the anchor it is refused.
        if let anchor = properties.anchor { anchors[anchor] = nil }
        open.append(properties.anchor)
    }

    private static func containerAsKey(_ place: Document.Place) -> ManifestProblem {
        ManifestProblem(.wrongType, "a key must be text, found a list or a map", place: place)
    }
}
