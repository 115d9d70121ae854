import DarkroomCore
import DarkroomManifest

/// A size of results, as it is written on a command line: `800` is a width, `800x600` a box. No picture is enlarged.
package struct SizeText: Sendable, Equatable {
    private let text: String
    private let width: Int
    private let height: Int?

    private static let sides = 1...1_000_000

    /// Reads the sizes of `--sizes`, which are divided by commas.
    package static func list(_ text: String) throws(ClientError) -> [SizeText] {
        let pieces = text.split(separator: ",", omittingEmptySubsequences: false)
        var sizes: [SizeText] = []
        for piece in pieces {
            guard let size = SizeText(String(piece.filter { $0 != " " })) else {
                throw .badOption(
                    "--sizes \(FileName(text).text): write widths or boxes from 1 to \(sides.upperBound), such as 400,800 or 400x300"
                )
            }
            guard !sizes.contains(size) else {
                throw .badOption("--sizes \(FileName(text).text): \(size.text) occurs twice")
            }
            sizes.append(size)
        }
        guard sizes.count <= VariantDraft.most else {
            throw .badOption("--sizes: \(sizes.count) sizes; the limit is \(VariantDraft.most)")
        }
        return sizes
    }

    private init?(_ text: String) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.allSatisfy { $0.isASCII && $0.isNumber } ? Int(part) : nil
        }
        guard numbers.count == parts.count, (1...2).contains(numbers.count),
            numbers.allSatisfy(Self.sides.contains)
        else { return nil }
        width = numbers[0]
        height = numbers.count == 2 ? numbers[1] : nil
        self.text = numbers.map { "\($0)" }.joined(separator: "x")
    }

    var variant: ManifestValue {
        let resize: ManifestValue = .map([
            "width": .integer(width), "height": height.map { .integer($0) },
            "withoutEnlargement": .boolean(true),
        ])
        return .map(["suffix": .text("-\(text)"), "filters": .map("resize", resize)])
    }
}
