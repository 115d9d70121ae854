import DarkroomCore
import Glibc
import SystemPackage

/// Why a status cannot be read image by image.
package enum StatusStreamError: Error, Equatable, Sendable {
    case file(FileError)
    /// It is not in the form in which Darkroom writes it.
    case foreign
    /// It was replaced while it was read.
    case changed
}

/// A status file whose images are read one by one, as their text. It needs no more memory than a piece of the file, and no
/// descriptor between two pieces, so that the files of many shards can be read side by side.
///
///     guard var stream = try StatusStream(in: answer) else { return }  // There is no status.
///     while let text = try stream.next() {
///         let image = ImageStatus(text: text)
///     }
///
/// It reads only what `Status.encode` writes, and throws `foreign` for any other form. `ImagesFilter` reads those too, in
/// more time.
package struct StatusStream: Sendable {
    /// The status without its images.
    package let frame: Status
    private let folder: Directory
    private let name: FileName
    private let identity: FileIdentity
    /// The bytes of the file that are read at once.
    private let piece: Int
    /// The file, if it is kept open.
    private let open: OpenFile?
    /// What is read next, and where the images end.
    private var position: Int
    private let end: Int
    private var buffer: [UInt8] = []
    /// Where in the buffer the next image begins.
    private var begin = 0
    /// No end of an image begins before this place of the buffer.
    private var searched = 0

    private static let opening = Array("\n  \"images\" : [\n".utf8)
    /// The keys are in alphabetical order, and no string contains a literal newline.
    private static let closing = Array("\n  ],\n  \"manifest\" : {\n".utf8)
    private static let newline = UInt8(ascii: "\n")
    /// The last line of an image, after the line before it; other lines of an image have more indentation.
    private static let lastLine = Array("\n    }".utf8)

    private final class OpenFile: Sendable {
        let file: Descriptor

        init(_ file: consuming Descriptor) { self.file = file }
    }

    /// - Parameter isKeptOpen: whether the file stays open, so that it can be read to its end if it is replaced.
    /// - Returns: nil if there is no such file.
    package init?(
        _ name: FileName = Status.fileName, in folder: Directory, piece: Int = 256 << 10,
        isKeptOpen: Bool = false
    ) throws(StatusStreamError) {
        let path = folder.path(of: name)
        let file: Descriptor
        do throws(FileError) {
            file = try folder.open(name)
        } catch {
            if error.errno == .noSuchFileOrDirectory { return nil }
            throw .file(error)
        }
        let information: stat
        do throws(FileError) {
            information = try file.information(path: path)
        } catch {
            throw .file(error)
        }
        let ends = try Self.ends(of: file, information.length, path)
        guard let frame = Status(decoding: ends.frame), frame.images.isEmpty else { throw .foreign }
        self.frame = frame
        identity = FileIdentity(information)
        (position, end) = (ends.images.lowerBound, ends.images.upperBound)
        self.folder = folder
        self.name = name
        self.piece = piece
        open = isKeptOpen ? OpenFile(file) : nil
    }

    /// The text without its images, and where in the file these are. Only the beginning and the end of the file are read.
    ///
    /// - Parameter length: of the file, in bytes.
    static func ends(
        of file: borrowing Descriptor, _ length: Int, _ path: String
    ) throws(StatusStreamError) -> (frame: [UInt8], images: Range<Int>) {
        let (head, opening) = try find(Self.opening, in: file, length, path) { _ in 0 }
        let (tail, closing) = try find(Self.closing, in: file, length, path) { length - $0 }
        let begin = opening.upperBound
        // The newline before the bracket may be that after the other bracket, if there are no images.
        let end = max(begin, max(0, length - tail.count) + closing.lowerBound + 1)
        return (Array(head[..<begin] + tail[(closing.lowerBound + 1)...]), begin..<end)
    }

    /// Reads ever larger pieces of a file, each from the place for its size, until one has the text.
    private static func find(
        _ text: [UInt8], in file: borrowing Descriptor, _ length: Int, _ path: String,
        from place: (_ size: Int) -> Int
    ) throws(StatusStreamError) -> (piece: [UInt8], range: Range<Int>) {
        var size = 4 << 10
        while true {
            let piece: [UInt8]
            do {
                piece = try file.read(size, at: max(0, place(size)), path: path)
            } catch {
                throw .file(error)
            }
            if let range = range(of: text, in: piece) { return (piece, range) }
            guard size < min(length, ImagesFilter.capacity) else { throw .foreign }
            size *= 4
        }
    }

    /// The first place of a text that begins with a newline. This looks for newlines only, which is some hundred times as
    /// fast as `firstRange` on 16 MiB of a file that is not a status.
    private static func range(
        of text: [UInt8], in bytes: [UInt8], from start: Int = 0
    ) -> Range<Int>? {
        text.withUnsafeBytes { text in
            bytes.withUnsafeBytes { bytes in
                place(of: text, in: bytes, from: start).map { $0..<($0 + text.count) }
            }
        }
    }

    /// Whether the text of an image has a line that begins so. No string contains a literal newline, so such a line is
    /// what it looks like.
    ///
    /// - Parameter line: begins with a newline.
    package static func has(_ line: StaticString, in image: ArraySlice<UInt8>) -> Bool {
        let line = UnsafeRawBufferPointer(start: line.utf8Start, count: line.utf8CodeUnitCount)
        return image.withUnsafeBytes { place(of: line, in: $0) != nil }
    }

    private static func place(
        of text: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer, from start: Int = 0
    ) -> Int? {
        guard let base = bytes.baseAddress, let wanted = text.baseAddress else { return nil }
        var start = start
        while start + text.count <= bytes.count,
            let found = memchr(base + start, Int32(newline), bytes.count - start)
        {
            start = UnsafeRawPointer(found) - base
            let end = start + text.count
            if end <= bytes.count, memcmp(base + start, wanted, text.count) == 0 { return start }
            start += 1
        }
        return nil
    }

    /// The text of the next image as it is in the file, without the comma after it; nil after the last one.
    package mutating func next() throws(StatusStreamError) -> ArraySlice<UInt8>? {
        while true {
            if let text = take() { return text }
            guard position < end else {
                guard buffer[begin...].allSatisfy({ $0 == Self.newline }) else { throw .foreign }
                return nil
            }
            guard buffer.count - begin <= ImagesFilter.capacity else { throw .foreign }
            try refill()
        }
    }

    /// The next image if the buffer has all of it.
    private mutating func take() -> ArraySlice<UInt8>? {
        while begin < buffer.count,
            buffer[begin] == Self.newline || buffer[begin] == UInt8(ascii: ",")
        {
            begin += 1
        }
        guard let last = Self.range(of: Self.lastLine, in: buffer, from: max(searched, begin))
        else {
            // It may have begun at the end of the buffer.
            searched = max(0, buffer.count - Self.lastLine.count + 1)
            return nil
        }
        defer { begin = last.upperBound }
        return buffer[begin..<last.upperBound]
    }

    private mutating func refill() throws(StatusStreamError) {
        buffer.removeFirst(begin)
        searched -= begin
        begin = 0
        let bytes: [UInt8]
        do throws(FileError) {
            if let open {
                bytes = try read(open.file)
            } else {
                let file = try folder.open(name)
                let isSame =
                    FileIdentity(try file.information(path: folder.path(of: name))) == identity
                bytes = isSame ? try read(file) : []
            }
        } catch {
            if error.errno == .noSuchFileOrDirectory { throw .changed }
            throw .file(error)
        }
        if bytes.isEmpty { throw .changed }
        buffer += bytes
        position += bytes.count
    }

    private func read(_ file: borrowing Descriptor) throws(FileError) -> [UInt8] {
        try file.read(min(piece, end - position), at: position, path: folder.path(of: name))
    }
}
