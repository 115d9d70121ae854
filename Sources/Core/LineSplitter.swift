/// Splits bytes that arrive in pieces into lines.
package struct LineSplitter {
    private static let newline = UInt8(ascii: "\n")

    /// The beginning of a line that is not complete yet.
    package private(set) var begun: [UInt8] = []

    package init() {}

    /// Passes on the lines that are now complete, each with its newline.
    package mutating func append<Failure: Error>(
        _ bytes: [UInt8], _ take: (ArraySlice<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: Self.newline) {
            if begun.isEmpty {
                try take(rest[...end])
            } else {
                begun += rest[...end]
                try take(begun[...])
                begun = []
            }
            rest = rest[(end + 1)...]
        }
        begun += rest
    }
}

extension Descriptor {
    /// The number of bytes of a file that are read at once.
    package static let piece = 256 << 10

    /// Reads from the current position to the end and passes on the lines, each with its newline. Bytes after the last
    /// newline are ignored.
    package func readLines(
        path: String, _ take: (ArraySlice<UInt8>) throws(FileError) -> Void
    ) throws(FileError) {
        var splitter = LineSplitter()
        while true {
            let bytes = try readAll(upTo: Self.piece - 1, path: path)
            if bytes.isEmpty { return }
            try splitter.append(bytes, take)
            guard splitter.begun.count <= FileLimit.line else {
                throw .tooLong(path, limit: FileLimit.line)
            }
        }
    }
}
