import DarkroomCore

extension Status {
    package var writtenNow: Status {
        var status = self
        status.written = Clock.timestamp
        return status
    }

    /// The content of the file, in one piece.
    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        encode { bytes += $0 }
        return bytes
    }

    /// Passes on the content of the file piece by piece: indented JSON with keys in alphabetical order and a final
    /// newline. The text of 100,000 images has tens of megabytes, which are never needed at once.
    package func encode<Failure: Error>(
        _ write: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        var writer = beginning
        for image in images {
            writer.add { image.write(&$0) }
            if writer.count >= Self.piece { try write(writer.take()) }
        }
        writer.endList()
        writeTail(&writer)
        try write(writer.text())
    }

    /// The lines of the file before and after the images.
    package func encodedFrame() -> (head: [UInt8], tail: [UInt8]) {
        var writer = beginning
        let head = writer.take()
        writer.endList()
        writeTail(&writer)
        // The end of the last image's line is not a part of it.
        return (head, Array(writer.text().dropFirst()))
    }

    /// The text up to the first image.
    private var beginning: JSONWriter {
        var writer = JSONWriter(isIndented: true)
        writeHead(&writer)
        writer.beginList("images")
        return writer
    }

    /// In bytes; a piece is longer by less than the text of an image.
    private static let piece = 64 << 10
}
