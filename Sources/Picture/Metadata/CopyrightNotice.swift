/// Who made a picture and may use it, as a packet of XMP with nothing else. (ISO 16684-1, sections 8.3 and 8.5;
/// photoshop:Credit is of the IPTC Photo Metadata Standard.)
struct CopyrightNotice {
    private var rights: [XMPDocument.Value] = []
    private var creators: [String] = []
    private var credit: String?
    private var marked: String?
    private var webStatement: String?
    private var certificate: String?
    private var terms: [XMPDocument.Value] = []
    private var owners: [String] = []

    private static let dc = "http://purl.org/dc/elements/1.1/"
    private static let xmpRights = "http://ns.adobe.com/xap/1.0/rights/"
    private static let photoshop = "http://ns.adobe.com/photoshop/1.0/"

    /// Takes what the properties dc:rights, dc:creator and those of xmpRights say.
    init(_ document: XMPDocument?) {
        guard let document else { return }
        func values(_ space: String, _ local: String) -> [XMPDocument.Value] {
            document.values(XMPDocument.Name(space, local))
        }
        rights = values(Self.dc, "rights")
        creators = values(Self.dc, "creator").map(\.text)
        marked = values(Self.xmpRights, "Marked").first?.text
        webStatement = values(Self.xmpRights, "WebStatement").first?.text
        certificate = values(Self.xmpRights, "Certificate").first?.text
        terms = values(Self.xmpRights, "UsageTerms")
        owners = values(Self.xmpRights, "Owner").map(\.text)
    }

    /// Adds what it does not have, for a format that has no IPTC.
    mutating func add(_ iptc: IPTCRecord) {
        if rights.isEmpty, let notice = iptc.copyrightNotice {
            rights = [XMPDocument.Value(language: nil, text: notice)]
        }
        if creators.isEmpty { creators = iptc.bylines }
        credit = iptc.creditLine
    }

    /// nil if it says nothing.
    var packet: [UInt8]? {
        let properties = [
            Self.list("dc:creator", "Seq", creators.map { XMPDocument.Value(text: $0) }),
            Self.list("dc:rights", "Alt", Self.alternatives(rights)),
            Self.simple("photoshop:Credit", credit), Self.simple("xmpRights:Marked", marked),
            Self.simple("xmpRights:WebStatement", webStatement),
            Self.simple("xmpRights:Certificate", certificate),
            Self.list("xmpRights:UsageTerms", "Alt", Self.alternatives(terms)),
            Self.list("xmpRights:Owner", "Bag", owners.map { XMPDocument.Value(text: $0) }),
        ].compactMap { $0 }
        if properties.isEmpty { return nil }
        let spaces = [
            ("dc", Self.dc), ("photoshop", Self.photoshop), ("xmpRights", Self.xmpRights),
        ]
        .filter { prefix, _ in properties.contains { $0.hasPrefix("<\(prefix):") } }
        .map { " xmlns:\($0)=\"\($1)\"" }.joined()
        let text =
            "<rdf:RDF xmlns:rdf=\"\(XMPDocument.rdf)\"><rdf:Description rdf:about=\"\"\(spaces)>"
            + properties.joined() + "</rdf:Description></rdf:RDF>"
        return XMPDocument.packet(rdf: Array(text.utf8))
    }

    /// Each alternative is in a language; the first is the usual one.
    private static func alternatives(_ values: [XMPDocument.Value]) -> [XMPDocument.Value] {
        values.map { XMPDocument.Value(language: $0.language ?? "x-default", text: $0.text) }
    }

    private static func simple(_ name: String, _ text: String?) -> String? {
        text.map { "<\(name)>\(escaped($0))</\(name)>" }
    }

    private static func list(
        _ name: String, _ kind: String, _ values: [XMPDocument.Value]
    ) -> String? {
        if values.isEmpty { return nil }
        let items = values.map { value in
            let language = value.language.map { " xml:lang=\"\(escaped($0))\"" } ?? ""
            return "<rdf:li\(language)>\(escaped(value.text))</rdf:li>"
        }
        return "<\(name)><rdf:\(kind)>\(items.joined())</rdf:\(kind)></\(name)>"
    }

    /// Characters that XML does not allow are left out; IPTC may have them.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\t", "\n", "\r": result.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || (0xFFFE...0xFFFF).contains(scalar.value): break
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
