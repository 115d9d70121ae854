import DarkroomCore
import DarkroomManifest
import DarkroomPicture

/// A filter as it is written on a command line.
///
/// | text                               | filter                                       |
/// |------------------------------------|----------------------------------------------|
/// | `mono`                             | without parameters                           |
/// | `sepia=0.8`                        | its first parameter                          |
/// | `resize=800x600`                   | its width and its height                     |
/// | `resize=800,fit=cover`             | further parameters follow                    |
/// | `crop:width=100,height=50,x=0,y=0` | all parameters by their names                |
///
/// `FilterCatalog` has the names and parameters, and the reader of manifests checks the values. So the messages are
/// those of the daemon.
package struct FilterText: Sendable, Equatable {
    package let name: String
    package let parameters: [ManifestValue.Entry]

    package init(_ text: String) throws(ClientError) {
        let end = text.utf8.firstIndex { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") }
        let name = String(text[..<(end ?? text.endIndex)])
        guard let specification = FilterCatalog.specification(named: ByteString(name)) else {
            throw Self.unknown(name, in: text)
        }
        var given: [ManifestValue.Entry] = []
        var hasMainValue = false
        if let end {
            hasMainValue = text.utf8[end] == UInt8(ascii: "=")
            let rest = String(text[text.utf8.index(after: end)...])
            given = try Self.parameters(
                rest, of: specification, startsWithValue: hasMainValue, in: text)
        }
        if hasMainValue, let companion = specification.companion,
            !given.contains(where: { $0.key == companion.name })
        {
            given.append(ManifestValue.Entry(companion.name, .text(companion.word)))
        }
        self.name = name
        parameters = given
        try check(text)
    }

    private static func unknown(_ name: String, in text: String) -> ClientError {
        let names = FilterCatalog.all.map(\.name)
        let nearest = Suggestion.meant(by: ByteString(name), among: names)
        return problem(
            text, code: "unknown-filter",
            "there is no filter ‘\(shown(name))’"
                + (nearest.map { "; did you mean ‘\($0)’?" }
                    ?? ". The filters are \(Words.list(names, "and"))."))
    }

    // MARK: Parameters

    private static func parameters(
        _ rest: String, of specification: FilterSpecification, startsWithValue: Bool,
        in text: String
    ) throws(ClientError) -> [ManifestValue.Entry] {
        var entries: [ManifestValue.Entry] = []
        for (index, piece) in pieces(of: rest).enumerated() {
            if index == 0, startsWithValue {
                entries = try main(piece, of: specification, in: text)
                continue
            }
            guard let sign = piece.firstIndex(of: "="), sign != piece.startIndex else {
                throw problem(text, "write \(form(of: piece, for: specification))")
            }
            let key = String(piece[..<sign])
            let value = String(piece[piece.index(after: sign)...])
            let parameter = specification.parameter(named: ByteString(key))
            if parameter == nil, FilterCatalog.specification(named: ByteString(key)) != nil {
                throw problem(text, "‘\(key)’ is a filter, too; give each filter its own --filter")
            }
            entries.append(ManifestValue.Entry(key, self.value(value, of: parameter)))
        }
        return entries
    }

    /// The right form of a value behind a colon, as in a manifest, if it can be the first parameter.
    private static func form(of piece: String, for specification: FilterSpecification) -> String {
        let value = piece.drop { $0 == " " }
        let text = "\(specification.name)=\(value)"
        guard !value.isEmpty, (try? FilterText(text)) != nil else {
            return "NAME, NAME=VALUE or NAME:KEY=VALUE,KEY=VALUE"
        }
        return text.shellQuoted
    }

    /// The text between commas. A piece without a `=` belongs to the value before it, such as a file name with a comma.
    private static func pieces(of text: String) -> [String] {
        var pieces: [String] = []
        for piece in text.split(separator: ",", omittingEmptySubsequences: false) {
            if piece.contains("=") || pieces.isEmpty {
                pieces.append(String(piece))
            } else {
                pieces[pieces.count - 1] += "," + piece
            }
        }
        return pieces
    }

    /// A value without a name.
    private static func main(
        _ text: String, of specification: FilterSpecification, in whole: String
    ) throws(ClientError) -> [ManifestValue.Entry] {
        guard let first = specification.parameters.first else {
            throw problem(
                whole,
                "‘\(specification.name)’ has no parameters; write --filter \(specification.name)")
        }
        if let sides = sides(text), specification.parameter(named: "width") != nil,
            specification.parameter(named: "height") != nil
        {
            return [
                ManifestValue.Entry("width", .integer(sides.width)),
                ManifestValue.Entry("height", .integer(sides.height)),
            ]
        }
        return [ManifestValue.Entry(first.name, value(text, of: first))]
    }

    /// `800x600`.
    private static func sides(_ text: String) -> (width: Int, height: Int)? {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]) else {
            return nil
        }
        return (width, height)
    }

    /// The text as a value of the parameter's kind, if it can be one. Otherwise it stays text, and the reader of
    /// manifests has the message.
    private static func value(_ text: String, of parameter: FilterParameter?) -> ManifestValue {
        switch parameter?.kind {
        case .number, .integer, .oneOf: number(text) ?? .text(text)
        case .boolean: PlainScalar.boolean(ByteString(text)).map { .boolean($0) } ?? .text(text)
        case .choice, .colour, .image, nil: .text(text)
        }
    }

    private static func number(_ text: String) -> ManifestValue? {
        switch PlainScalar.number(ByteString(text)) {
        case .integer(let value): .integer(value)
        case .number(let value) where value.isFinite: .number(value)
        default: nil
        }
    }

    // MARK: The manifest

    /// The filter in a manifest. `image` returns the name of the image that a parameter refers to.
    package func value(
        image: (String) throws(ClientError) -> String
    ) throws(ClientError) -> ManifestValue {
        if parameters.isEmpty { return .text(name) }
        let entries = try parameters.map { (entry) throws(ClientError) -> ManifestValue.Entry in
            guard case .text(let text) = entry.value, refersToImage(entry) else { return entry }
            return ManifestValue.Entry(entry.key, .text(try image(text)))
        }
        return .map(name, .map(entries))
    }

    private func refersToImage(_ entry: ManifestValue.Entry) -> Bool {
        let specification = FilterCatalog.specification(named: ByteString(name))
        return specification?.parameter(named: ByteString(entry.key))?.kind == .image
    }

    /// Checks the filter as the reader of manifests does, without its image.
    private func check(_ text: String) throws(ClientError) {
        let list = ManifestValue.list([try value { _ throws(ClientError) in "image" }])
        do {
            _ = try FilterList.read(yaml: Array(list.inline(.yaml).utf8))
        } catch {
            let unknownImage = ProblemCode.unknownImage.rawValue
            guard let problem = error.problems.first(where: { $0.code != unknownImage }) else {
                return
            }
            let hint = problem.suggestion.map { "; did you mean ‘\($0)’?" } ?? ""
            throw Self.problem(text, code: problem.code, Self.inThisForm(problem.message) + hint)
        }
    }

    /// The message with `key: VALUE`, which corrects a manifest, as `key=VALUE`.
    private static func inThisForm(_ message: String) -> String {
        message.replacing(#/‘(\w+): (\w+)’/#) { "‘\($0.1)=\($0.2)’" }
    }

    private static func problem(
        _ text: String, code: String = "bad-filter", _ message: String
    ) -> ClientError {
        ClientError(.usage, code: code, "--filter \(shown(text)): \(message)")
    }

    private static func shown(_ text: String) -> String { FileName(text).text }
}
