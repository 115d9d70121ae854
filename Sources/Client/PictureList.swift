import DarkroomCore
import DarkroomManifest
import Foundation

/// A list of pictures that somebody has made: `--from FILE`.
///
/// | form                                    | means                                                             |
/// |-----------------------------------------|-------------------------------------------------------------------|
/// | the first line names a column `source`  | CSV (RFC 4180); a column `name` has the names of the images       |
/// | there is a NUL                          | sources with a NUL after each, as `find -print0` writes them      |
/// | otherwise                               | a source in each line                                             |
///
/// Lines end in LF or CRLF, and a byte order mark is ignored. Empty lines have no meaning.
package struct PictureList: Sendable, Equatable {
    package struct Row: Sendable, Equatable {
        package let source: String
        /// nil for a name that follows from the source.
        package var name: ByteString?
        /// Counted from 1.
        package let line: Int
    }

    /// For messages: the path as it was given, `-` for standard input.
    package let shown: String
    package private(set) var rows: [Row] = []

    /// The maximum size of the file, in bytes: that of a manifest.
    package static let mostBytes = ManifestLimits().bytes

    /// Reads the file at a path, or standard input if the path is `-`.
    package init(path: String) throws(ClientError) {
        let shown = FileName(path).text
        let bytes = try asClientError(
            ManifestFile.open(path).readAll(upTo: Self.mostBytes, path: shown, waits: true))
        try self.init(bytes, shown: shown)
    }

    package init(_ bytes: [UInt8], shown: String) throws(ClientError) {
        self.shown = shown
        guard bytes.count <= Self.mostBytes else {
            throw Self.problem(shown, nil, "the list has more than \(Units.bytes(Self.mostBytes))")
        }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw Self.problem(shown, nil, "it is UTF-16; save it as UTF-8")
        }
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        if text.contains(0) {
            try readPlain(text, dividedBy: 0)
        } else if let table = try CommaTable(text, shown: shown, mustHave: "source") {
            try read(table)
        } else {
            try readPlain(text, dividedBy: UInt8(ascii: "\n"))
        }
        guard !rows.isEmpty else { throw Self.problem(shown, nil, "it names no picture") }
    }

    private mutating func readPlain(
        _ text: ArraySlice<UInt8>, dividedBy end: UInt8
    ) throws(ClientError) {
        let pieces = text.split(separator: end, omittingEmptySubsequences: false)
        for (index, piece) in pieces.enumerated() {
            var piece = piece
            if end == UInt8(ascii: "\n"), piece.last == UInt8(ascii: "\r") { piece.removeLast() }
            if piece.isEmpty { continue }
            guard let source = String(validating: piece, as: UTF8.self) else {
                throw Self.problem(shown, index + 1, "it is not UTF-8")
            }
            rows.append(Row(source: source, line: index + 1))
        }
    }

    private mutating func read(_ table: CommaTable) throws(ClientError) {
        guard let sources = table.column("source") else {
            preconditionFailure("a table without the column that it must have")
        }
        let names = table.column("name")
        var lines: [ByteString: Int] = [:]
        for record in table.records {
            let source = record.fields[sources]
            guard !source.isEmpty else {
                throw Self.problem(shown, record.line, "it has no source")
            }
            let name = names.map { ByteString(record.fields[$0]) }.flatMap { $0.isEmpty ? nil : $0 }
            if let name {
                if let fault = ImageName.fault(of: name) {
                    throw Self.problem(
                        shown, record.line, "the name ‘\(name.string.visible)’ \(fault)")
                }
                if let other = lines.updateValue(record.line, forKey: name) {
                    throw Self.problem(
                        shown, record.line,
                        "the name ‘\(name.string.visible)’ is that of line \(other)")
                }
            }
            rows.append(Row(source: source, name: name, line: record.line))
        }
    }

    /// The extensions that such lists have.
    private static let endings: Set<ByteString> = ["csv", "txt", "tsv", "lst", "list"]

    /// Whether a file that was named as a picture is a list, by its name and its content.
    package static func isOne(_ path: String) -> Bool {
        guard let parts = path.partsAtLastDot,
            endings.contains(ByteString(parts.ending).asciiLowercased),
            let list = try? PictureList(path: path), let first = list.rows.first
        else { return false }
        // A manifest under another name.
        return !first.source.hasPrefix("images:")
    }

    static func problem(_ shown: String, _ line: Int?, _ message: String) -> ClientError {
        ClientError(
            .rejected, code: "bad-list",
            "\(shown):\(line.map { "\($0):" } ?? "") \(message)")
    }

    /// The pictures of the list.
    ///
    /// - Throws: an error that names the first line that cannot be used, and counts the others.
    package func pictures(
        in folder: String = FileManager.default.currentDirectoryPath, mayBeGone: Bool = false
    ) throws(ClientError) -> [PictureSource] {
        var pictures: [PictureSource] = []
        var failure: ClientError?
        var others = 0
        for row in rows {
            do throws(ClientError) {
                var picture = try PictureSource(row.source, in: folder, mayBeGone: mayBeGone)
                if let name = row.name { picture = picture.named(name) }
                pictures.append(picture)
            } catch {
                if failure == nil {
                    failure = error
                    failure?.message = "\(shown):\(row.line): \(error.message)"
                    if row.line == 1, let advice = adviceOnHeading { failure?.remedy = advice }
                } else {
                    others += 1
                }
            }
        }
        guard var failure else { return pictures }
        if others > 0 {
            failure.message += "; \(Words.count(others, "other line")) cannot be used either"
        }
        throw failure
    }

    /// For a first line that is no picture and looks like the heading of a table.
    private var adviceOnHeading: String? {
        guard let first = rows.first, first.line == 1, first.name == nil,
            first.source.contains(where: { ",;\t".contains($0) })
        else { return nil }
        return "If this is CSV, name the column with the files and URLs ‘source’."
    }
}
