import Glibc

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
        while let end = Self.firstNewline(in: rest) {
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

    /// memchr(3) finds it many times as fast as `firstIndex`: the lines of a log of small copies are long.
    private static func firstNewline(in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress,
                let found = memchr(base, CInt(newline), buffer.count)
            else { return nil }
            return bytes.startIndex + (UnsafeRawPointer(found) - base)
        }
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
