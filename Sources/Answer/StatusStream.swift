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
/// descriptor between two pieces, so that those of many shards can be read side by side.
package struct StatusStream: Sendable {
    /// The status without its images.
    package let frame: Status
    private let folder: Directory
    private let name: FileName
    private let identity: FileIdentity
    /// The bytes of the file that are read at once.
    private let piece: Int
    /// What is read next, and where the images end.
    private var position: Int
    private let end: Int
    private var buffer: [UInt8] = []
    /// The first byte of the buffer that was not given away, and the first one that was not searched.
    private var begin = 0
    private var searched = 0

    private static let opening = Array("\n  \"images\" : [\n".utf8)
    /// The keys are in alphabetical order, and no string contains a literal newline.
    private static let closing = Array("\n  ],\n  \"manifest\" : {\n".utf8)
    private static let mostFrame = 8 << 20
    private static let newline = UInt8(ascii: "\n")
    /// The last line of an image; other lines of an image have more indentation.
    private static let lastLine = Array("    }".utf8)

    /// - Returns: nil if there is no such file.
    package init?(
        _ name: FileName = Status.fileName, in folder: Directory, piece: Int = 256 << 10
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
        let length = information.length
        let (head, opening) = try Self.find(Self.opening, in: file, length, path) { _ in 0 }
        let (tail, closing) = try Self.find(Self.closing, in: file, length, path) { length - $0 }
        let text = head[..<opening.upperBound] + tail[(closing.lowerBound + 1)...]
        guard let frame = Status(decoding: Array(text)), frame.images.isEmpty else {
            throw .foreign
        }
        self.frame = frame
        identity = FileIdentity(information)
        // The newline before the bracket may be that after the other bracket, if there are no images.
        position = opening.upperBound
        end = max(opening.upperBound, max(0, length - tail.count) + closing.lowerBound + 1)
        self.folder = folder
        self.name = name
        self.piece = piece
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
            guard size < min(length, mostFrame) else { throw .foreign }
            size *= 4
        }
    }

    /// The first place of a text that begins with a newline. This looks for newlines only, which is some hundred times as
    /// fast as `firstRange` on 16 MiB of a file that is not a status.
    private static func range(of text: [UInt8], in bytes: [UInt8]) -> Range<Int>? {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            var start = 0
            while start + text.count <= bytes.count,
                let found = memchr(base + start, Int32(newline), bytes.count - start)
            {
                start = UnsafeRawPointer(found) - base
                let end = start + text.count
                if end <= bytes.count, memcmp(base + start, text, text.count) == 0 {
                    return start..<end
                }
                start += 1
            }
            return nil
        }
    }

    /// The text of the next image as it is in the file, without the comma after it; nil after the last one.
    package mutating func next() throws(StatusStreamError) -> ArraySlice<UInt8>? {
        while true {
            if let text = take() { return text }
            guard position < end else {
                guard buffer[begin...].allSatisfy({ $0 == Self.newline }) else { throw .foreign }
                return nil
            }
            guard buffer.count - begin <= Self.mostFrame else { throw .foreign }
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
        searched = max(searched, begin)
        while let line = newline(from: searched) {
            let next = line + 1
            // The whole line must be there.
            guard next + Self.lastLine.count <= buffer.count else { return nil }
            searched = next
            if buffer[next..<(next + Self.lastLine.count)].elementsEqual(Self.lastLine) {
                let text = buffer[begin..<(next + Self.lastLine.count)]
                begin = text.endIndex
                searched = begin
                return text
            }
        }
        return nil
    }

    private func newline(from start: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress,
                let found = memchr(base + start, Int32(Self.newline), bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    private mutating func refill() throws(StatusStreamError) {
        buffer.removeFirst(begin)
        searched -= begin
        begin = 0
        let bytes: [UInt8]
        do throws(FileError) {
            let file = try folder.open(name)
            let path = folder.path(of: name)
            let isSame = FileIdentity(try file.information(path: path)) == identity
            let count = isSame ? min(piece, end - position) : 0
            bytes = try file.read(count, at: position, path: path)
        } catch {
            if error.errno == .noSuchFileOrDirectory { throw .changed }
            throw .file(error)
        }
        if bytes.isEmpty { throw .changed }
        buffer += bytes
        position += bytes.count
    }
}
