import DarkroomCore
import Foundation

extension Status {
    /// The same status with the current time.
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
    /// newline.
    ///
    /// Many images are encoded one by one, because the encoder builds a tree of its input, and for 100,000 images the
    /// text alone has tens of megabytes, which are never needed at once.
    package func encode<Failure: Error>(
        _ write: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        let encoder = Self.encoder
        if (1...Self.fewImages).contains(images.count) {
            return try write(Self.encode(self, encoder) + [UInt8(ascii: "\n")])
        }
        let (head, tail) = encodedFrame()
        var bytes = head
        if images.isEmpty { bytes.append(UInt8(ascii: "\n")) }
        for (index, image) in images.enumerated() {
            bytes.append(contentsOf: index == 0 ? "    ".utf8 : ",\n    ".utf8)
            for byte in Self.encode(image, encoder) {
                bytes.append(byte)
                // Strings contain no literal newline, so each newline begins a line to be indented.
                if byte == UInt8(ascii: "\n") { bytes.append(contentsOf: "    ".utf8) }
            }
            if bytes.count >= Self.piece {
                try write(bytes)
                bytes.removeAll(keepingCapacity: true)
            }
        }
        if !images.isEmpty { bytes.append(UInt8(ascii: "\n")) }
        try write(bytes + tail)
    }

    /// The lines of the file before and after the images.
    package func encodedFrame() -> (head: [UInt8], tail: [UInt8]) {
        var frame = self
        frame.images = []
        let text = Self.encode(frame, Self.encoder)
        // No string contains a literal newline, so this is the key of the status.
        let opening = Array("\n  \"images\" : [".utf8)
        guard let place = text.firstRange(of: opening),
            let end = text[place.upperBound...].firstIndex(of: UInt8(ascii: "]"))
        else { preconditionFailure("a status is encoded without a list of images") }
        let newline = UInt8(ascii: "\n")
        return (
            Array(text[..<place.upperBound]) + [newline],
            Array("  ".utf8) + text[end...] + [newline]
        )
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// So many images take little memory if they are encoded at once, which takes less time.
    private static let fewImages = 16

    /// In bytes; a piece is longer by less than the text of an image.
    private static let piece = 64 << 10

    private static func encode(_ value: some Encodable, _ encoder: JSONEncoder) -> [UInt8] {
        do {
            return Array(try encoder.encode(value))
        } catch {
            // Strings, integers and enumerations can always be encoded.
            preconditionFailure("a status cannot be encoded: \(error)")
        }
    }

    /// Reads the content of a file; nil if it is not a status of this version.
    package init?(decoding bytes: [UInt8]) {
        guard let status = try? JSONDecoder().decode(Status.self, from: Data(bytes)),
            status.schemaVersion == 1
        else { return nil }
        self = status
    }
}
