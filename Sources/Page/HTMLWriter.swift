import DarkroomCore

/// Writes an HTML document, element by element.
///
/// Text and the values of attributes are escaped as they are written. The names of elements and attributes are literals
/// of this program. So no name, message or URL of a batch can become markup. An element ends where its closure ends:
///
///     html(.p, .class("soft")) {
///         html.text("Made from ")
///         html(.bdi, text: image.name)
///     }
///
/// writes `<p class="soft">Made from <bdi>a&amp;b</bdi></p>` for an image with the name `a&b`.
///
/// An element needs no memory of its own: pages made by the daemon may cost a small part only of the pictures on them.
package final class HTMLWriter {
    /// What has been written, in UTF-8, in pieces, so that a long document does not move while it grows.
    private var earlier: [[UInt8]] = []
    /// Only the functions of this class use it, one after the other, and none of them calls another's code meanwhile. To
    /// check that at each access takes a tenth of the time.
    @exclusivity(unchecked) private var bytes: [UInt8] = []

    /// The size from which on a piece is complete.
    private static let pieceLength = 64 << 10

    package init() { begin() }

    private func begin() { bytes.reserveCapacity(Self.pieceLength + 4096) }

    /// The whole, one piece after the other.
    package var pieces: [[UInt8]] { earlier + [bytes] }

    package var html: String { String(decoding: pieces.joined(), as: UTF8.self) }

    // MARK: Content

    package func document(language: StaticString, _ content: () -> Void) {
        Self.append(literal: "<!DOCTYPE html>\n<html lang=\"", to: &bytes)
        Self.append(literal: language, to: &bytes)
        Self.append(literal: "\">", to: &bytes)
        content()
        Self.append(literal: "</html>\n", to: &bytes)
    }

    /// Writes a text. Control characters, and marks that change the direction of writing, appear in a visible form.
    package func text(_ text: String) { Self.append(text: text, to: &bytes) }

    package func callAsFunction(_ tag: Tag, _ attributes: Attribute?..., content: () -> Void = {}) {
        open(tag, attributes)
        guard !tag.isVoid else { return }
        content()
        Self.close(tag, &bytes)
    }

    package func callAsFunction(_ tag: Tag, _ attributes: Attribute?..., text: String) {
        open(tag, attributes)
        Self.append(text: text, to: &bytes)
        Self.close(tag, &bytes)
    }

    /// Writes the rules of a `style` or the program of a `script`: literals, which need no escapes.
    package func callAsFunction(_ tag: Tag, literal: StaticString) {
        precondition(tag == .style || tag == .script)
        open(tag, [])
        Self.append(literal: literal, to: &bytes)
        Self.close(tag, &bytes)
    }

    private func open(_ tag: Tag, _ attributes: [Attribute?]) {
        if bytes.count >= Self.pieceLength {
            earlier.append(bytes)
            bytes = []
            begin()
        }
        Self.open(tag, attributes, &bytes)
    }

    private static func open(_ tag: Tag, _ attributes: [Attribute?], _ bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "<"))
        append(name: tag, to: &bytes)
        for case let attribute? in attributes { attribute.append(to: &bytes) }
        bytes.append(UInt8(ascii: ">"))
    }

    private static func close(_ tag: Tag, _ bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "<"))
        bytes.append(UInt8(ascii: "/"))
        append(name: tag, to: &bytes)
        bytes.append(UInt8(ascii: ">"))
    }

    // MARK: Bytes

    private static func append(name tag: Tag, to bytes: inout [UInt8]) {
        var name = tag.rawValue
        name.withUTF8 { bytes.append(contentsOf: $0) }
    }

    fileprivate static func append(literal: StaticString, to bytes: inout [UInt8]) {
        literal.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    fileprivate static func append(number: Int, to bytes: inout [UInt8]) {
        guard number < 0 || number > 9 else {
            bytes.append(UInt8(ascii: "0") + UInt8(number))
            return
        }
        var digits = String(number)
        digits.withUTF8 { bytes.append(contentsOf: $0) }
    }

    /// Appends a text. The characters that mean something in a document are escaped, in text as in the value of an
    /// attribute.
    fileprivate static func append(text: String, to bytes: inout [UInt8]) {
        // Nearly every text is plain. To look at it first takes a fraction of the time.
        var text = text
        let isAppended = text.withUTF8 { characters in
            guard isPlain(characters) else { return false }
            bytes.append(contentsOf: characters)
            return true
        }
        if isAppended { return }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": bytes += "&amp;".utf8
            case "<": bytes += "&lt;".utf8
            case ">": bytes += "&gt;".utf8
            case "\"": bytes += "&quot;".utf8
            case "'": bytes += "&#39;".utf8
            default:
                if scalar.isControl {
                    append(text: scalar.escaped(asASCII: true), to: &bytes)
                } else {
                    bytes += String(scalar).utf8
                }
            }
        }
    }

    /// Whether the bytes are characters that mean nothing in a document: printable ASCII except `&<>"'`.
    private static func isPlain(_ characters: UnsafeBufferPointer<UInt8>) -> Bool {
        characters.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""),
                UInt8(ascii: "'"):
                false
            default: byte >= 0x20 && byte < 0x7F
            }
        }
    }

    // MARK: Parts

    /// The names of elements, of HTML and SVG.
    package enum Tag: String, Sendable {
        case a, article, b, bdi, body, br, button, code, dd, details, div, dl, dt, figcaption,
            figure, footer, h1, h2, h3, head, header, img, li, main, meta, nav, ol, p,
            script, section, small, span, strong, style, summary, table, tbody, td, th, thead, time,
            title, tr, ul
        case svg, g, rect, line, circle
        case svgText = "text"

        /// Whether it has neither content nor an end.
        var isVoid: Bool { self == .br || self == .img || self == .meta }
    }

    /// An attribute of an element. It is written into its element only, so it needs no memory of its own.
    package struct Attribute: Sendable {
        private enum Value {
            /// It needs no escapes. Most attributes are such.
            case literal(StaticString)
            case text(String)
            case number(Int)
            case anchor(AnchorID)
            case reference(PageLink?, AnchorID)
        }

        private let name: StaticString
        private let value: Value

        private init(_ name: StaticString, _ value: String) { self.init(name, .text(value)) }

        private init(_ name: StaticString, _ value: Value) {
            self.name = name
            self.value = value
        }

        fileprivate func append(to bytes: inout [UInt8]) {
            bytes.append(UInt8(ascii: " "))
            HTMLWriter.append(literal: name, to: &bytes)
            bytes.append(UInt8(ascii: "="))
            bytes.append(UInt8(ascii: "\""))
            switch value {
            case .literal(let value): HTMLWriter.append(literal: value, to: &bytes)
            case .text(let value): HTMLWriter.append(text: value, to: &bytes)
            case .number(let value): HTMLWriter.append(number: value, to: &bytes)
            case .anchor(let id): id.append(to: &bytes)
            case .reference(let link, let id):
                if let link { HTMLWriter.append(text: link.text, to: &bytes) }
                bytes.append(UInt8(ascii: "#"))
                id.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "\""))
        }

        /// - Parameter names: with spaces between them.
        package static func `class`(_ names: StaticString) -> Attribute {
            Attribute("class", .literal(names))
        }

        package static func id(_ id: AnchorID) -> Attribute { Attribute("id", .anchor(id)) }
        package static func href(_ link: PageLink) -> Attribute { Attribute("href", link.text) }
        package static func href(_ id: AnchorID) -> Attribute {
            Attribute("href", .reference(nil, id))
        }
        package static func href(_ link: PageLink, _ id: AnchorID) -> Attribute {
            Attribute("href", .reference(link, id))
        }
        package static func src(_ link: PageLink) -> Attribute { Attribute("src", link.text) }
        package static func alt(_ text: String) -> Attribute { Attribute("alt", text) }
        package static func title(_ text: String) -> Attribute { Attribute("title", text) }
        package static func content(_ text: String) -> Attribute { Attribute("content", text) }
        package static func width(_ pixels: Int) -> Attribute {
            Attribute("width", .number(pixels))
        }
        package static func height(_ pixels: Int) -> Attribute {
            Attribute("height", .number(pixels))
        }

        /// A time in the format of RFC 3339.
        package static func datetime(_ text: String) -> Attribute { Attribute("datetime", text) }

        package static func fixed(_ name: StaticString, _ value: StaticString) -> Attribute {
            Attribute(name, .literal(value))
        }

        package static func number(_ name: StaticString, _ value: Double) -> Attribute {
            // Three decimals are enough for the coordinates of a drawing.
            let rounded = (value * 1000).rounded() / 1000
            return Int(exactly: rounded).map { Attribute(name, .number($0)) }
                ?? Attribute(name, "\(rounded)")
        }

        /// A part of the width of a drawing.
        package static func percent(_ name: StaticString, _ share: Double) -> Attribute {
            Attribute(name, ((share * 100_000).rounded() / 1000).briefly + "%")
        }

        /// What a screen reader says.
        package static func label(_ text: String) -> Attribute { Attribute("aria-label", text) }

        package static let lazy = Attribute("loading", .literal("lazy"))
        package static let hiddenFromReaders = Attribute.fixed("aria-hidden", "true")
    }
}

/// The ID of a place in a page: a word of this program and a number.
package struct AnchorID: Sendable {
    private let word: StaticString
    private let number: Int

    package init(_ word: StaticString, _ number: Int) {
        self.word = word
        self.number = number
    }

    fileprivate func append(to bytes: inout [UInt8]) {
        HTMLWriter.append(literal: word, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        HTMLWriter.append(number: number, to: &bytes)
    }
}
