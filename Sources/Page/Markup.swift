import DarkroomCore

/// A piece of an HTML document.
///
/// Text and the values of attributes are escaped when they come in. The names of elements and attributes are literals of
/// this program. So no name, message or URL of a batch can become markup.
package struct Markup: Sendable, Equatable {
    /// The characters of the document, in UTF-8. To append bytes takes a fraction of the time of text.
    private let bytes: [UInt8]
    /// What comes before `bytes`. A long document is in several pieces, so that its elements are not copied into each
    /// element around them.
    private let earlier: [[UInt8]]

    private init(bytes: [UInt8], after earlier: [[UInt8]] = []) {
        self.bytes = bytes
        self.earlier = earlier
    }

    /// Pieces of at most this many bytes are joined.
    private static let mostJoined = 64 << 10

    /// The whole, one piece after the other.
    package var pieces: [[UInt8]] { earlier + [bytes] }

    package var html: String { String(decoding: pieces.joined(), as: UTF8.self) }

    /// Text. Control characters, and marks that change the direction of writing, appear in a visible form.
    package init(text: String) {
        var bytes: [UInt8] = []
        Self.append(text, to: &bytes)
        self.init(bytes: bytes)
    }

    /// An element with its attributes and its content.
    package init(
        _ tag: Tag, _ attributes: Attribute?..., @MarkupBuilder content: () -> Markup = { .nothing }
    ) {
        let name = tag.rawValue.utf8
        var earlier: [[UInt8]] = []
        let content = tag.isVoid ? .nothing : content()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(
            attributes.reduce(2 * name.count + 5 + content.bytes.count) {
                $0 + ($1?.likelyLength ?? 0)
            })
        bytes.append(UInt8(ascii: "<"))
        bytes += name
        for case let attribute? in attributes { attribute.append(to: &bytes) }
        bytes.append(UInt8(ascii: ">"))
        if !tag.isVoid {
            if !content.earlier.isEmpty {
                earlier = [bytes] + content.earlier
                bytes.removeAll(keepingCapacity: true)
            }
            bytes += content.bytes
            bytes.append(UInt8(ascii: "<"))
            bytes.append(UInt8(ascii: "/"))
            bytes += name
            bytes.append(UInt8(ascii: ">"))
        }
        self.init(bytes: bytes, after: earlier)
    }

    /// The rules of a `style` or the program of a `script`: literals, which need no escapes.
    package init(_ tag: Tag, literal: StaticString) {
        precondition(tag == .style || tag == .script)
        self.init(bytes: Array("<\(tag.rawValue)>\(literal)</\(tag.rawValue)>".utf8))
    }

    package static let nothing = Markup(bytes: [])

    /// A whole document.
    package static func document(
        language: StaticString, @MarkupBuilder _ content: () -> Markup
    ) -> Markup {
        joined([
            Markup(bytes: Array("<!DOCTYPE html>\n<html lang=\"\(language)\">".utf8)), content(),
            Markup(bytes: Array("</html>\n".utf8)),
        ])
    }

    fileprivate static func joined(_ parts: [Markup]) -> Markup {
        if parts.count == 1 { return parts[0] }
        var earlier: [[UInt8]] = []
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(mostJoined, parts.reduce(0) { $0 + $1.bytes.count }))
        func add(_ piece: [UInt8]) {
            if !bytes.isEmpty, bytes.count + piece.count > mostJoined {
                earlier.append(bytes)
                bytes = piece
            } else {
                bytes += piece
            }
        }
        for part in parts {
            for piece in part.earlier { add(piece) }
            add(part.bytes)
        }
        return Markup(bytes: bytes, after: earlier)
    }

    /// Appends a text. The characters that mean something in a document are escaped, in text as in the value of an
    /// attribute.
    fileprivate static func append(_ text: String, to bytes: inout [UInt8]) {
        // Nearly every text is plain. To look at it first takes a fraction of the time.
        var text = text
        let isAppended = text.withUTF8 { characters in
            guard characters.allSatisfy({ isPlain($0) }) else { return false }
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
                    append(scalar.escaped(asASCII: true), to: &bytes)
                } else {
                    bytes += String(scalar).utf8
                }
            }
        }
    }

    /// Whether a byte is a character that means nothing in a document: printable ASCII but for `&<>"'`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""),
            UInt8(ascii: "'"):
            false
        default: byte >= 0x20 && byte < 0x7F
        }
    }

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
        }

        private let name: StaticString
        private let value: Value

        private init(_ name: StaticString, _ value: String) {
            self.init(name, .text(value))
        }

        private init(_ name: StaticString, _ value: Value) {
            self.name = name
            self.value = value
        }

        /// Its length in bytes, if it needs no escapes.
        fileprivate var likelyLength: Int {
            switch value {
            case .literal(let value): name.utf8CodeUnitCount + value.utf8CodeUnitCount + 4
            case .text(let value): name.utf8CodeUnitCount + value.utf8.count + 4
            }
        }

        fileprivate func append(to bytes: inout [UInt8]) {
            bytes.append(UInt8(ascii: " "))
            name.withUTF8Buffer { bytes.append(contentsOf: $0) }
            bytes.append(UInt8(ascii: "="))
            bytes.append(UInt8(ascii: "\""))
            switch value {
            case .literal(let value): value.withUTF8Buffer { bytes.append(contentsOf: $0) }
            case .text(let value): Markup.append(value, to: &bytes)
            }
            bytes.append(UInt8(ascii: "\""))
        }

        /// - Parameter names: with spaces between them.
        package static func `class`(_ names: StaticString) -> Attribute {
            Attribute("class", .literal(names))
        }

        package static func id(_ id: AnchorID) -> Attribute { Attribute("id", id.text) }
        package static func href(_ link: PageLink) -> Attribute { Attribute("href", link.text) }
        package static func href(_ id: AnchorID) -> Attribute { Attribute("href", "#\(id.text)") }
        package static func href(_ link: PageLink, _ id: AnchorID) -> Attribute {
            Attribute("href", "\(link.text)#\(id.text)")
        }
        package static func src(_ link: PageLink) -> Attribute { Attribute("src", link.text) }
        package static func alt(_ text: String) -> Attribute { Attribute("alt", text) }
        package static func title(_ text: String) -> Attribute { Attribute("title", text) }
        package static func content(_ text: String) -> Attribute { Attribute("content", text) }
        package static func width(_ pixels: Int) -> Attribute { Attribute("width", "\(pixels)") }
        package static func height(_ pixels: Int) -> Attribute { Attribute("height", "\(pixels)") }

        /// A time in the format of RFC 3339.
        package static func datetime(_ text: String) -> Attribute { Attribute("datetime", text) }

        /// An attribute whose name and value are literals.
        package static func fixed(_ name: StaticString, _ value: StaticString) -> Attribute {
            Attribute(name, .literal(value))
        }

        /// An attribute whose value is a number.
        package static func number(_ name: StaticString, _ value: Double) -> Attribute {
            // Three decimals are enough for the coordinates of a drawing.
            let rounded = (value * 1000).rounded() / 1000
            return Attribute(
                name, rounded == rounded.rounded() ? "\(Int(clamping: rounded))" : "\(rounded)")
        }

        /// The coordinates of a drawing.
        package static func box(_ width: Int, _ height: Int) -> Attribute {
            Attribute("viewBox", "0 0 \(width) \(height)")
        }

        /// A part of the width of a drawing.
        package static func percent(_ name: StaticString, _ share: Double) -> Attribute {
            let rounded = (share * 100_000).rounded() / 1000
            return Attribute(
                name, rounded == rounded.rounded() ? "\(Int(clamping: rounded))%" : "\(rounded)%")
        }

        /// What a screen reader says.
        package static func label(_ text: String) -> Attribute { Attribute("aria-label", text) }

        package static let lazy = Attribute("loading", "lazy")
        package static let hiddenFromReaders = Attribute.fixed("aria-hidden", "true")
    }
}

/// The ID of a place in a page: a word of this program and a number.
package struct AnchorID: Sendable, Equatable {
    let text: String

    package init(_ word: StaticString, _ number: Int) {
        text = "\(word)-\(number)"
    }
}

/// A relative reference to a file, from the folder of the page.
///
/// Each component is percent-encoded but for letters, digits, `-`, `.` and `_`. So there is no scheme: it can be neither
/// `javascript:` nor the name of a host.
package struct PageLink: Sendable, Equatable {
    let text: String

    /// - Parameter components: the names of folders and, at the end, of the file; `..` is the folder above.
    package init(_ components: [ByteString]) {
        text = components.map { Self.encoded($0) }.joined(separator: "/")
    }

    package init(_ components: String...) {
        self.init(components.map { ByteString($0) })
    }

    private static func encoded(_ component: ByteString) -> String {
        let digits = Array("0123456789ABCDEF".unicodeScalars)
        var result = ""
        for byte in component.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                result.unicodeScalars.append("%")
                result.unicodeScalars.append(digits[Int(byte >> 4)])
                result.unicodeScalars.append(digits[Int(byte & 15)])
            }
        }
        return result
    }
}

/// Lists of markup and text in the order in which they are written.
@resultBuilder package enum MarkupBuilder {
    package static func buildExpression(_ text: String) -> Markup { Markup(text: text) }
    package static func buildExpression(_ markup: Markup) -> Markup { markup }
    package static func buildExpression(_ markup: [Markup]) -> Markup { .joined(markup) }
    package static func buildBlock(_ parts: Markup...) -> Markup { .joined(parts) }
    package static func buildOptional(_ part: Markup?) -> Markup { part ?? .nothing }
    package static func buildEither(first part: Markup) -> Markup { part }
    package static func buildEither(second part: Markup) -> Markup { part }
    package static func buildArray(_ parts: [Markup]) -> Markup { .joined(parts) }
}
