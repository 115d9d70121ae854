/// A packet of XMP: its elements in the order of their beginnings, with their places in the text.
struct XMPDocument {
    /// A name with the namespace that its prefix stands for.
    struct Name: Hashable {
        let space: String
        let local: String

        init(_ space: String, _ local: String) {
            self.space = space
            self.local = local
        }
    }

    struct Attribute {
        let name: Name
        let value: String
        /// With the space before it.
        let range: Range<Int>
    }

    struct Element {
        let name: Name
        var attributes: [Attribute] = []
        let parent: Int?
        var range: Range<Int>
        /// What stands directly in it.
        var text: [UInt8] = []
    }

    var bytes: [UInt8] = []
    var elements: [Element] = []
    /// Comments and processing instructions.
    var asides: [Range<Int>] = []

    static let xml = "http://www.w3.org/XML/1998/namespace"
    static let meta = "adobe:ns:meta/"
    static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

    /// The most bytes of a packet in a result: what a segment of a JPEG has room for after its signature.
    static let mostBytes = 65_533 - 29

    private static let head = "<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n"
    private static let end = "\n<?xpacket end=\"w\"?>"

    /// A packet with this description in RDF.
    static func packet(rdf: [UInt8]) -> [UInt8] {
        packet(Array("<x:xmpmeta xmlns:x=\"\(meta)\">".utf8) + rdf + Array("</x:xmpmeta>".utf8))
    }

    private static func packet(_ element: [UInt8]) -> [UInt8] {
        Array(head.utf8) + element + Array(end.utf8)
    }

    /// The packet without what is not valid for a result; nil if nothing is left.
    ///
    /// The text of what stays is not changed, and what goes takes its whole text along. So what was well-formed still is.
    func kept(keepsPlaces: Bool) -> [UInt8]? {
        let (whole, root) = (elements[0].range, elements[0].name)
        guard root == Name(Self.meta, "xmpmeta") || root == Name(Self.rdf, "RDF") else {
            return nil
        }
        var cuts = asides
        var isEmpty = true
        var end = whole.lowerBound
        for element in elements where element.range.lowerBound >= end {
            if XMPRules.isDropped(element.name, keepsPlaces: keepsPlaces) {
                cuts.append(element.range)
                end = element.range.upperBound
                continue
            }
            if XMPRules.isProperty(element.name) { isEmpty = false }
            for attribute in element.attributes {
                if XMPRules.isDropped(attribute.name, keepsPlaces: keepsPlaces) {
                    cuts.append(attribute.range)
                } else if XMPRules.isProperty(attribute.name) {
                    isEmpty = false
                }
            }
        }
        if isEmpty { return nil }
        var result: [UInt8] = []
        var place = whole.lowerBound
        for cut in cuts.sorted(by: { $0.lowerBound < $1.lowerBound })
        where cut.lowerBound >= place && cut.upperBound <= whole.upperBound {
            result += bytes[place..<cut.lowerBound]
            place = cut.upperBound
        }
        result += bytes[place..<whole.upperBound]
        return root.space == Self.rdf ? Self.packet(rdf: result) : Self.packet(result)
    }

    /// Whether it says where the picture was taken.
    var hasPlaces: Bool { hasName(XMPRules.isPlace) }

    /// Whether it has a small copy of the picture, or another picture.
    var hasThumbnail: Bool { hasName(XMPRules.isPicture) }

    private func hasName(_ isWanted: (Name) -> Bool) -> Bool {
        elements.contains { isWanted($0.name) || $0.attributes.contains { isWanted($0.name) } }
    }

    // MARK: Properties

    /// A value of a property with the language it is in.
    struct Value: Equatable {
        var language: String? = nil
        let text: String
    }

    /// The values of a property: those of its list, or its text; empty if there is no such property.
    func values(_ name: Name) -> [Value] {
        let top = elements.indices.filter { index in
            elements[index].name == Name(Self.rdf, "Description")
                && elements[index].parent.map { elements[$0].name } == Name(Self.rdf, "RDF")
        }
        for index in top {
            if let attribute = elements[index].attributes.first(where: { $0.name == name }) {
                return Self.values(attribute.value)
            }
        }
        let tops = Set(top)
        guard
            let property = elements.firstIndex(where: {
                $0.name == name && $0.parent.map(tops.contains) == true
            })
        else { return [] }
        let items = elements.filter { element in
            element.name == Name(Self.rdf, "li")
                && element.parent.flatMap { elements[$0].parent } == property
        }
        if items.isEmpty {
            return Self.values(String(decoding: elements[property].text, as: UTF8.self))
        }
        return items.flatMap { item in
            let language = item.attributes.first { $0.name == Name(Self.xml, "lang") }?.value
            return Self.values(String(decoding: item.text, as: UTF8.self), language)
        }
    }

    private static func values(_ text: String, _ language: String? = nil) -> [Value] {
        text.allSatisfy(\.isWhitespace) ? [] : [Value(language: language, text: text)]
    }
}
