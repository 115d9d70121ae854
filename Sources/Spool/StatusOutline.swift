import DarkroomCore
import Foundation
import SystemPackage

/// The part of a status file that decides whether its batch may be removed, and by whom. It is read without the images, of which
/// there may be 100,000.
struct StatusOutline: Decodable, Equatable, Sendable {
    let schemaVersion: Int
    let id: String
    let state: BatchState
    let times: Status.Times
    let manifest: Submitted

    struct Submitted: Decodable, Equatable, Sendable {
        /// The owner of the submitted file, if it is known.
        let uid: UInt32?
        /// Whether it is a folder with pictures; absent if not.
        let folder: Bool?
        let file: String?
        let redacted: Status.ManifestReference.RedactedCopy?
    }

    /// Reads the outline of `status.json` in a folder of the outbox; nil if it is missing, or if Darkroom has not
    /// written it.
    init?(in folder: Directory) throws(FileError) {
        do {
            guard let bytes = try ImagesFilter.frame(in: folder),
                let outline = try? JSONDecoder().decode(Self.self, from: Data(bytes)),
                outline.schemaVersion == 1
            else { return nil }
            self = outline
        } catch  where [.noSuchFileOrDirectory, .tooManySymbolicLinkLevels].contains(error.errno) {
            return nil
        }
    }
}

extension Status {
    /// Reads `status.json` in a folder of the outbox without its images, if it has the form that Darkroom writes; nil
    /// if it is not a status of this version.
    package init?(frameIn folder: Directory) throws(FileError) {
        guard let bytes = try ImagesFilter.frame(in: folder) else { return nil }
        self.init(decoding: bytes)
    }

    /// Reads `status.json` in a folder of the outbox and decodes the images one by one, because a decoder of 100,000
    /// images at once takes many times their memory; nil if it is not a status of this version.
    package init?(in folder: Directory) throws(FileError) {
        let decoder = JSONDecoder()
        var images: [ImageStatus] = []
        var isBroken = false
        let frame = try ImagesFilter.readImages(BatchFile.status, in: folder) { text in
            if let image = try? decoder.decode(ImageStatus.self, from: text) {
                images.append(image)
            } else {
                isBroken = true
            }
        }
        guard !isBroken, let frame else { return nil }
        self.init(decoding: frame)
        // If someone has written the file again, it contains its images.
        if self.images.isEmpty { self.images = images }
    }
}

extension BatchFolders {
    /// Changes `status.json` except its images, which are copied unchanged. Does nothing if it is not a status of this
    /// version, or if `change` returns false.
    package func amendStatus(_ change: (inout Status) -> Bool) throws(FileError) {
        let outbox = try outbox()
        guard var status = try Status(frameIn: outbox), change(&status) else { return }
        // If someone has written the file again, it contains its images.
        guard status.images.isEmpty else { return try writeStatus(status, durably: false) }
        let file = try outbox.open(BatchFile.status)
        let path = outbox.path(of: BatchFile.status)
        try writeStatus(isFinal: status.state.isFinal, durably: false) { write throws(FileError) in
            let (head, tail) = status.writtenNow.encodedFrame()
            var bytes = head
            _ = try ImagesFilter.read(file, path) { line throws(FileError) in
                bytes += line
                guard bytes.count >= Descriptor.piece else { return }
                try write(bytes)
                bytes.removeAll(keepingCapacity: true)
            }
            try write(bytes + tail)
        }
    }
}

/// Splits a status file into the lines of its images and the rest.
///
/// The file is indented, and no string contains a literal newline. So the lines of the list are those from its opening
/// line to the next line that begins with two spaces and a bracket.
struct ImagesFilter {
    private static let opening = Array("  \"images\" : [".utf8)
    private static let closing = Array("  ]".utf8)
    /// The beginning of the last line of an image; no other line of an image has so little indentation.
    static let imageClosing = Array("    }".utf8)
    /// The maximum size of the part without images; a rejected manifest may have many errors.
    static let capacity = 8 << 20

    private var kept: [UInt8] = []
    private var isInImages = false

    /// The part of `status.json` without its images; nil if it is too long to be written by Darkroom.
    static func frame(in folder: Directory) throws(FileError) -> [UInt8]? {
        let file = try folder.open(BatchFile.status)
        return try read(file, folder.path(of: BatchFile.status)) { _ throws(FileError) in }
    }

    /// The same; also passes on the lines of the images, each with its newline.
    static func read(
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

    /// The same; passes on the text of each image, without the comma and the newline after it. A text that is longer
    /// than `capacity` is passed on empty.
    static func readImages(
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
