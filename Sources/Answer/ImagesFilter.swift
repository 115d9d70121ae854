import DarkroomCore
import Foundation
import SystemPackage

/// Splits a status file into the lines of its images and the rest.
///
/// The file is indented, and no string contains a literal newline. So the lines of the list are those from its opening
/// line to the next line that begins with two spaces and a bracket:
///
///     {                      kept
///       "id" : "holiday",    kept
///       "images" : [         kept
///         {                  a line of an image
///           …
///         }                  the last line of an image
///       ],                   kept
///
/// A file that somebody has written in another form has no such lines, so all of it is kept.
package struct ImagesFilter {
    private static let opening = Array("  \"images\" : [".utf8)
    private static let closing = Array("  ]".utf8)
    /// The beginning of the last line of an image; no other line of an image has so little indentation.
    package static let imageClosing = Array("    }".utf8)
    /// The maximum size of the part without images; a rejected manifest may have many errors.
    package static let capacity = 8 << 20

    private var kept: [UInt8] = []
    private var isInImages = false

    /// The part of `status.json` without its images; nil if it is too long to be written by Darkroom.
    package static func frame(in folder: Directory) throws(FileError) -> [UInt8]? {
        let file = try folder.open(Status.fileName)
        let path = folder.path(of: Status.fileName)
        let length = try file.information(path: path).length
        if let ends = try? StatusStream.ends(of: file, length, path) { return ends.frame }
        return try read(file, path) { _ throws(FileError) in }
    }

    /// Returns the part without the images, and passes on the lines of the images, each with its newline.
    package static func read(
        _ file: borrowing Descriptor, _ path: String,
        image: (ArraySlice<UInt8>) throws(FileError) -> Void
    ) throws(FileError) -> [UInt8]? {
        var filter = ImagesFilter()
        var splitter = LineSplitter()
        while filter.kept.count + splitter.begun.count <= capacity {
            let part = try file.readAll(upTo: Descriptor.piece - 1, path: path)
            if part.isEmpty {
                try filter.take(splitter.begun[...], image)
                return filter.kept
            }
            try splitter.append(part) { line throws(FileError) in try filter.take(line, image) }
        }
        return nil
    }

    /// Returns the part without the images, and passes on the text of each image, without the comma and the newline after
    /// it. A text that is longer than `capacity` is passed on empty.
    package static func readImages(
        _ name: FileName, in folder: Directory, _ body: (Data) -> Void
    ) throws(FileError) -> [UInt8]? {
        var text = Data()
        var isTooLong = false
        let file = try folder.open(name)
        return try read(file, folder.path(of: name)) { line throws(FileError) in
            isTooLong = isTooLong || text.count + line.count > capacity
            if isTooLong { text = Data() } else { text.append(contentsOf: line) }
            guard line.starts(with: imageClosing) else { return }
            // Without the comma and the newline after the bracket.
            if !isTooLong { text.removeLast(line.count - imageClosing.count) }
            body(text)
            text = Data()
            isTooLong = false
        }
    }

    private mutating func take(
        _ line: ArraySlice<UInt8>, _ image: (ArraySlice<UInt8>) throws(FileError) -> Void
    ) throws(FileError) {
        if isInImages, line.starts(with: Self.closing) { isInImages = false }
        if isInImages { try image(line) } else { kept += line }
        // An empty list may be opened and closed in one line.
        if line.starts(with: Self.opening), !line.contains(UInt8(ascii: "]")) { isInImages = true }
    }
}
