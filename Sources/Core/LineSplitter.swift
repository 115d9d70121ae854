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

    /// Appends lines to a file that is open for this. If a kill or a full disk has left half a line at its end, they begin
    /// a new one.
    ///
    /// - Parameter torn: the fault point at which all is written but the newline and a few bytes before it.
    /// - Returns: whether the file was empty.
    package func append(
        lines: [UInt8], path: String, torn: FaultPoint?, at place: StaticString = #fileID
    ) throws(FileError) -> Bool {
        var lines = lines
        let length = try length(path: path)
        let last = length > 0 ? try byte(at: length - 1, path: path) : nil
        if let last, last != UInt8(ascii: "\n") { lines.insert(UInt8(ascii: "\n"), at: 0) }
        torn?.pass(place) { try? write(lines.dropLast(4), path: path) }
        do {
            try write(lines, path: path)
        } catch {
            // A full disk may have stored half a line. If this call fails, the next append begins a new line.
            try? truncate(to: length, path: path)
            throw error
        }
        return length == 0
    }
}

extension Directory {
    /// Writes a new file of lines, in pieces: the lines of 100,000 images together take much memory.
    ///
    /// - Parameter append: appends the line of an item.
    package func writeLines<Item>(
        of items: some Sequence<Item>, to name: FileName, durably: Bool,
        _ append: (Item, inout [UInt8]) -> Void
    ) throws(FileError) {
        try write(to: name, durably: durably) { write throws(FileError) in
            var bytes: [UInt8] = []
            for item in items {
                append(item, &bytes)
                guard bytes.count >= Descriptor.piece else { continue }
                try write(bytes)
                bytes.removeAll(keepingCapacity: true)
            }
            try write(bytes)
        }
    }
}
