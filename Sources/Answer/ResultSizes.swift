import DarkroomCore
import DarkroomPicture

/// The text of `sizes.json`: each image with its outputs, for the templates of web sites. The variants of an image are
/// together. It follows from the status, image by image, so that a batch may have a million of them.
///
/// An answer has the file if one of its images is a variant, or has a path of its output that it would not have without a
/// template. It is written before the last status, and is right when that is there.
package struct ResultSizes: Sendable {
    package static let fileName: FileName = "sizes.json"

    package struct Image: Sendable, Equatable {
        /// The name of the image; of variants, that of the image of which they are variants.
        package let name: String
        package let source: String?
        package internal(set) var outputs: [Output]
    }

    package struct Output: Sendable, Equatable {
        /// The name in the status.
        package let name: String
        package let file: ImageStatus.Output
    }

    private var writer = JSONWriter(isIndented: true)
    /// The last image, which may have further variants.
    private var last: (variantOf: String?, image: Image)?
    /// Whether one of the images is a reason for the file.
    package private(set) var areUseful = false

    package init(id: String) {
        writer.add("id", id)
        writer.beginList("images")
    }

    /// Adds the next image of the status.
    ///
    /// - Returns: an image whose outputs are all known now.
    @discardableResult
    package mutating func add(_ status: ImageStatus) -> Image? {
        guard status.state == .filtered, let file = status.output else { return nil }
        if Self.isUseful(status) { areUseful = true }
        let output = Output(name: status.name, file: file)
        let variantOf = status.variantOf
        if let variantOf, let before = last?.variantOf, ByteString(before) == ByteString(variantOf)
        {
            last?.image.outputs.append(output)
            return nil
        }
        defer {
            last = (
                variantOf,
                Image(name: variantOf ?? status.name, source: status.source, outputs: [output])
            )
        }
        return endLast()
    }

    package mutating func endLast() -> Image? {
        guard let image = last.take()?.image else { return nil }
        writer.add { image.write(&$0) }
        return image
    }

    /// The text since the last call.
    package mutating func take() -> [UInt8] { writer.take() }

    package var count: Int { writer.count }

    /// The rest of the text.
    package consuming func end() -> [UInt8] {
        _ = endLast()
        writer.endList()
        writer.add("schemaVersion", 1)
        // Objects that a command prints have it.
        writer.add("type", "sizes")
        return writer.text()
    }

    /// Removes the file of an earlier end from an answer that has none now. Somebody else's file of this name stays.
    package static func removeOwn(in answer: Directory, id: String) throws(FileError) {
        var sizes = ResultSizes(id: id)
        let beginning = sizes.take()
        let isOwn = try ignoringMissing(
            answer.read(fileName, upTo: beginning.count).starts(with: beginning))
        if isOwn == true { try answer.remove(fileName) }
    }

    /// Whether an image is a reason for the file.
    private static func isUseful(_ image: ImageStatus) -> Bool {
        guard image.variantOf == nil, let file = image.output?.file else { return true }
        guard file.utf8.starts(with: image.name.utf8) else { return true }
        let ending = String(Substring(file.utf8.dropFirst(image.name.utf8.count)))
        return !ending.isEmpty && !OutputFormat.allCases.contains { $0.endings.contains(ending) }
    }

    /// Whether an answer with these images has the file.
    package static func areUseful(for images: [ImageStatus]) -> Bool {
        images.contains { $0.state == .filtered && $0.output != nil && isUseful($0) }
    }
}

extension ResultSizes.Image {
    fileprivate func write(_ writer: inout JSONWriter) {
        writer.add("name", name)
        writer.add("outputs", outputs) { writer, output in
            writer.add("bytes", output.file.bytes)
            writer.add("file", output.file.file)
            writer.add("height", output.file.height)
            writer.add("mediaType", output.file.format.mediaType)
            writer.add("name", output.name)
            writer.add("sha256", output.file.sha256)
            writer.add("width", output.file.width)
        }
        writer.add("source", source)
        writer.add(
            "srcset",
            Dictionary(uniqueKeysWithValues: sourceSets.map { ($0.format.mediaType, $0.text) }))
    }

    /// The outputs as the attribute `srcset` of HTML has them, one for each format, in the order of the outputs:
    /// `photo-400.webp 400w, photo-800.webp 800w`. A width that is there already is left out. The text needs no escapes:
    /// all characters of a path but letters, digits, `-`, `.`, `_` and the slash are percent-encoded.
    package var sourceSets: [(format: OutputFormat, text: String)] {
        var sets: [(format: OutputFormat, widths: Set<Int>, candidates: [String])] = []
        for output in outputs.map(\.file) {
            let known = sets.firstIndex { $0.format == output.format }
            let index = known ?? sets.count
            if known == nil { sets.append((output.format, [], [])) }
            guard sets[index].widths.insert(output.width).inserted else { continue }
            sets[index].candidates.append("\(PercentEncoding.path(output.file)) \(output.width)w")
        }
        return sets.map { ($0.format, $0.candidates.joined(separator: ", ")) }
    }
}
