/// The name of a file within its folder: any bytes except NUL and `/`, as in Linux.
///
/// Names that Darkroom creates are UTF-8. Names in the inbox come from users and need not be UTF-8, but the file must
/// be found again by exactly these bytes.
package struct FileName: Hashable, Comparable, Sendable, ExpressibleByStringLiteral,
    ExpressibleByStringInterpolation
{
    package let bytes: [UInt8]

    package static func < (a: FileName, b: FileName) -> Bool {
        a.bytes.lexicographicallyPrecedes(b.bytes)
    }

    package init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    package init(_ string: String) { bytes = Array(string.utf8) }

    package init(stringLiteral string: String) { self.init(string) }

    /// In bytes: the limit of Linux and of almost all of its file systems.
    package static let longest = 255

    /// Whether a text can be the name of a file in a folder: it does not lead to another one.
    package static func isValid(_ text: String) -> Bool {
        let bytes = text.utf8
        return !bytes.isEmpty && bytes.count <= longest
            && !bytes.elementsEqual(".".utf8) && !bytes.elementsEqual("..".utf8)
            && !bytes.contains(UInt8(ascii: "/")) && !bytes.contains(0)
    }

    /// The path of a file in a folder in which nobody but the daemon can put a symbolic link. A call with this path
    /// costs less than to open the folder for it.
    package static func / (folder: FileName, name: FileName) -> FileName {
        FileName(bytes: folder.bytes + CollectionOfOne(UInt8(ascii: "/")) + name.bytes)
    }

    /// The name for people: bytes that are not UTF-8 and control characters (`isControl`) become U+FFFD.
    package var text: String {
        String(decoding: bytes, as: UTF8.self)
            .replacingScalars(with: "\u{FFFD}", where: \.isControl)
    }

    /// Why no text can have the name, as the end of a sentence that begins with it; nil if a text can.
    package var textFault: String? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return "is not UTF-8" }
        return text.unicodeScalars.contains(where: \.isControl)
            ? "contains a control character" : nil
    }

    package func hasSuffix(_ ending: String) -> Bool {
        bytes.suffix(ending.utf8.count).elementsEqual(ending.utf8)
    }

    package func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        body(bytes.map { CChar(bitPattern: $0) } + [0])
    }
}
