import DarkroomCore
import Foundation

/// A table of text with commas (RFC 4180), whose first line names the columns.
///
/// Fields in quotes may contain commas, line ends and doubled quotes. Lines end in LF or CRLF, and empty ones have no
/// meaning.
struct CommaTable {
    struct Record {
        /// As many as there are columns.
        let fields: [String]
        /// The line at which it begins.
        let line: Int
    }

    private(set) var records: [Record] = []
    private var columns: [String] = []
    private let shown: String

    /// The index of a column; nil if there is none of this name.
    func column(_ name: String) -> Int? { columns.firstIndex(of: name) }

    /// - Parameter name: a column that makes the text a table.
    /// - Returns: nil if the first line does not name this column, so that it is another kind of text.
    /// - Throws: an error that names the line.
    init?(_ text: ArraySlice<UInt8>, shown: String, mustHave name: String) throws(ClientError) {
        self.shown = shown
        let first = text.prefix { $0 != UInt8(ascii: "\n") }
        guard Self.names(in: first, dividedBy: UInt8(ascii: ",")).contains(name) else {
            for sign in [UInt8(ascii: ";"), UInt8(ascii: "\t")]
            where Self.names(in: first, dividedBy: sign).contains(name) {
                throw PictureList.problem(
                    shown, 1,
                    "its columns are divided by a \(sign == 9 ? "tab" : "semicolon"); save it with commas"
                )
            }
            return nil
        }
        var scanner = CommaScanner(text, shown: shown)
        while let record = try scanner.next() {
            if columns.isEmpty {
                columns = record.fields.map(Self.name)
                let known = Set(columns.filter { !$0.isEmpty })
                guard known.count == columns.count(where: { !$0.isEmpty }) else {
                    throw PictureList.problem(shown, record.line, "two columns have one name")
                }
                continue
            }
            guard record.fields.count == columns.count else {
                throw PictureList.problem(
                    shown, record.line,
                    "\(Words.count(record.fields.count, "field")), but the first line names \(columns.count)"
                )
            }
            records.append(record)
        }
    }

    private static func names(in line: ArraySlice<UInt8>, dividedBy sign: UInt8) -> [String] {
        line.split(separator: sign).map { piece in
            name(String(decoding: piece, as: UTF8.self).filter { $0 != "\"" })
        }
    }

    /// The name of a column: in lower case, without the blanks and the line end around it.
    private static func name(_ field: String) -> String {
        let blanks = CharacterSet(charactersIn: " \t\r")
        return ByteString(field.trimmingCharacters(in: blanks)).asciiLowercased.string
    }
}

/// Divides the text of a table into records.
private struct CommaScanner {
    private let text: ArraySlice<UInt8>
    private let shown: String
    private var at: Int
    private var line = 1

    init(_ text: ArraySlice<UInt8>, shown: String) {
        self.text = text
        self.shown = shown
        at = text.startIndex
    }

    /// The next record that is not an empty line; nil at the end.
    mutating func next() throws(ClientError) -> CommaTable.Record? {
        while skipLineEnd() {}
        guard at < text.endIndex else { return nil }
        let first = line
        var fields: [String] = []
        while true {
            fields.append(try field())
            if at < text.endIndex, text[at] == UInt8(ascii: ",") {
                at += 1
            } else {
                _ = skipLineEnd()
                return CommaTable.Record(fields: fields, line: first)
            }
        }
    }

    private mutating func skipLineEnd() -> Bool {
        var next = at
        if next < text.endIndex, text[next] == UInt8(ascii: "\r") { next += 1 }
        guard next < text.endIndex else {
            // A last line may have half an end.
            defer { at = next }
            return next > at
        }
        guard text[next] == UInt8(ascii: "\n") else { return false }
        at = next + 1
        line += 1
        return true
    }

    private var isAtEndOfField: Bool {
        guard at < text.endIndex else { return true }
        switch text[at] {
        case UInt8(ascii: ","), UInt8(ascii: "\n"): return true
        case UInt8(ascii: "\r"):
            return at + 1 == text.endIndex || text[at + 1] == UInt8(ascii: "\n")
        default: return false
        }
    }

    private mutating func field() throws(ClientError) -> String {
        let begin = line
        var bytes: [UInt8] = []
        if at < text.endIndex, text[at] == UInt8(ascii: "\"") {
            bytes = try quoted()
            guard isAtEndOfField else {
                throw PictureList.problem(
                    shown, line, "there is text after the closing quote of a field")
            }
        } else {
            while !isAtEndOfField {
                guard text[at] != UInt8(ascii: "\"") else {
                    throw PictureList.problem(
                        shown, line,
                        "there is a quote within a field; put the field into quotes, and double this one"
                    )
                }
                bytes.append(text[at])
                at += 1
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw PictureList.problem(shown, begin, "it is not UTF-8")
        }
        return text
    }

    private mutating func quoted() throws(ClientError) -> [UInt8] {
        let begin = line
        var bytes: [UInt8] = []
        at += 1
        while at < text.endIndex {
            let byte = text[at]
            at += 1
            if byte == UInt8(ascii: "\"") {
                guard at < text.endIndex, text[at] == byte else { return bytes }
                at += 1
            }
            if byte == UInt8(ascii: "\n") { line += 1 }
            bytes.append(byte)
        }
        throw PictureList.problem(shown, begin, "a field has no closing quote")
    }
}
