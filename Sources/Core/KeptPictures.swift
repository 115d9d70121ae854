/// The pictures that an answer has kept, for a look at them after the end of their batch: those of a submitted folder in
/// `originals`, and those of a hot folder as `NAME.original.EXT`. This is the only place that says which file a source
/// has there.
package struct KeptPictures: Sendable, Equatable {
    /// The folder of the pictures that came in a folder.
    package static let folderName = "originals"

    /// The file of a picture of a hot folder.
    ///
    /// - Parameters:
    ///   - output: the name of the first image that was made of it.
    ///   - file: its own name.
    ///   - number: 1, or more if other files have the names before.
    package static func fileName(of output: String, _ file: FileName, number: Int = 1) -> FileName {
        let ending = file.text.partsAtLastDot.map { ".\($0.ending)" } ?? ""
        let base = "\(output).original"
        return FileName(number == 1 ? base + ending : "\(base)-\(number)\(ending)")
    }

    /// The path of the answer.
    package let answer: String
    /// For each source, the name of the first image that was made of it.
    private var outputs: [ByteString: ByteString] = [:]

    package init(in answer: String) { self.answer = answer }

    package mutating func note(_ source: ByteString, of image: ByteString) {
        if outputs[source] == nil { outputs[source] = image }
    }

    /// Where the picture of a local source may be, as paths from the answer.
    package func paths(of source: String) -> [String] {
        // An absolute source is as if the folder were `/`.
        let path = Substring(source.utf8.drop { $0 == UInt8(ascii: "/") })
        guard !path.isEmpty else { return [] }
        var paths = ["\(Self.folderName)/\(path)"]
        if let output = outputs[ByteString(source)],
            let last = path.utf8.split(separator: UInt8(ascii: "/")).last
        {
            paths.append(Self.fileName(of: output.string, FileName(bytes: last)).text)
        }
        return paths
    }
}
