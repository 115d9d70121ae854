import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import Foundation
import Glibc

/// A picture to lay over others, as it is written on a command line: `LOGO`, or `LOGO:KEY=VALUE,KEY=VALUE` with the
/// parameters of the filter `watermark`. `position` is another word for `gravity`, and `margin` is
/// the distance from the edges that it names.
package struct WatermarkText: Sendable, Equatable {
    package let picture: PictureSource
    /// Without `from`.
    package let parameters: [ManifestValue.Entry]

    /// - Parameter mayBeGone: whether the file need not exist any more.
    package init(_ text: String, mayBeGone: Bool = false) throws(ClientError) {
        let (logo, rest) = Self.parts(of: text)
        picture = try PictureSource(logo, mayBeGone: mayBeGone)
        guard let rest else {
            parameters = []
            return
        }
        // The image has a name of its own later.
        let words = try Self.spelledOut(rest, in: text)
        let filter: FilterText
        do throws(ClientError) {
            filter = try FilterText("watermark:from=image,\(words)")
        } catch {
            throw ClientError(
                error.exit, code: error.code,
                "--watermark \(FileName(text).text): \(Self.cause(of: error))")
        }
        parameters = filter.parameters.filter { $0.key != "from" }
    }

    /// The message without the option, which somebody else has written.
    private static func cause(of error: ClientError) -> String {
        guard let end = error.message.firstRange(of: ": ") else { return error.message }
        return String(error.message[end.upperBound...])
    }

    /// The picture, and what follows the last colon if this is a list of parameters. A file of the whole name comes
    /// first.
    private static func parts(of text: String) -> (logo: String, parameters: String?) {
        guard access(text, F_OK) != 0, let colon = text.lastIndex(of: ":"),
            colon != text.startIndex
        else { return (text, nil) }
        let rest = text[text.index(after: colon)...]
        guard rest.firstMatch(of: #/^\s*[A-Za-z]+\s*=/#) != nil else { return (text, nil) }
        return (String(text[..<colon]), String(rest))
    }

    private static func spelledOut(_ text: String, in whole: String) throws(ClientError) -> String {
        var words: [String] = []
        var margin: String?
        var gravity = Filter.Gravity.southeast.rawValue
        for piece in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let sign = piece.firstIndex(of: "=") else {
                throw .badOption(
                    "--watermark \(FileName(whole).text): write LOGO:KEY=VALUE,KEY=VALUE")
            }
            let blank = CharacterSet(charactersIn: " ")
            let key = piece[..<sign].trimmingCharacters(in: blank)
            let value = piece[piece.index(after: sign)...].trimmingCharacters(in: blank)
            switch key {
            case "margin": margin = value
            case "position", "gravity":
                gravity = Self.gravity(value)
                words.append("gravity=\(gravity)")
            case "from":
                throw .badOption(
                    "--watermark \(FileName(whole).text): the picture stands before the colon")
            default: words.append("\(key)=\(value)")
            }
        }
        if let margin { words += Self.distances(gravity).map { "\($0)=\(margin)" } }
        return words.joined(separator: ",")
    }

    /// The parameters that are a distance from an edge.
    private static func distances(_ gravity: String) -> [String] {
        let horizontal = gravity.hasSuffix("east") || gravity.hasSuffix("west")
        let vertical = gravity.hasPrefix("north") || gravity.hasPrefix("south")
        return (horizontal ? ["x"] : []) + (vertical ? ["y"] : [])
    }

    /// `southEast`, `south-east` and `bottom-right` are corners, too.
    private static func gravity(_ word: String) -> String {
        let plain = ByteString(word.filter { $0 != "-" && $0 != "_" }).asciiLowercased.string
        let known = Filter.Gravity.allCases.map(\.rawValue)
        if known.contains(plain) { return plain }
        let compass = plain.replacing("top", with: "north").replacing("bottom", with: "south")
            .replacing("left", with: "west").replacing("right", with: "east")
        return known.contains(compass) ? compass : word
    }
}
