import DarkroomCore
import Foundation
import SystemPackage

/// What of a status file tells whether its entry may go: read without its images, which may be 100,000.
struct StatusOutline: Decodable, Equatable, Sendable {
    let schemaVersion: Int
    let id: String
    let state: BatchState
    let times: Status.Times

    /// Reads the outline of `status.json` in a folder of the outbox; nil where there is none, or where it is
    /// not as Darkroom writes it.
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
    /// Reads `status.json` in a folder of the outbox without its images, as far as it is as Darkroom writes it.
    /// nil where it is not a status of this version.
    init?(frameIn folder: Directory) throws(FileError) {
        guard let bytes = try ImagesFilter.frame(in: folder) else { return nil }
        self.init(decoding: bytes)
    }

    /// Reads `status.json` in a folder of the outbox, decoding the images one by one: a decoder that is given
    /// 100,000 at once takes many times what they are. nil where it is not a status of this version.
    init?(in folder: Directory) throws(FileError) {
        let decoder = JSONDecoder()
        var images: [ImageStatus] = []
        var text = Data()
        var isBroken = false
        let file = try folder.open(BatchFile.status)
        let path = folder.path(of: BatchFile.status)
        let frame = try ImagesFilter.read(file, path) { line throws(FileError) in
            text.append(contentsOf: line)
            guard line.starts(with: ImagesFilter.imageClosing) else {
                isBroken = isBroken || text.count > ImagesFilter.capacity
                if isBroken { text = Data() }
                return
            }
            // Without the comma and the newline after the bracket.
            text.removeLast(line.count - ImagesFilter.imageClosing.count)
            if let image = try? decoder.decode(ImageStatus.self, from: text) {
                images.append(image)
            } else {
                isBroken = true
            }
            text = Data()
        }
        guard !isBroken, let frame else { return nil }
        self.init(decoding: frame)
        // One that somebody has written anew has come with its images.
        if self.images.isEmpty { self.images = images }
    }
}

extension BatchFolders {
    /// Changes what `status.json` says besides its images, and copies those as they are. Does nothing where there is
    /// no status of this version, or where `change` says that it is not to be changed.
    package func amendStatus(_ change: (inout Status) -> Bool) throws(FileError) {
        let outbox = try outbox()
        guard var status = try Status(frameIn: outbox), change(&status) else { return }
        // One that somebody has written anew has come with its images.
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

/// Parts a status file into the lines of its images and the rest.
///
/// The file is indented, and no string holds a newline as it is; so the list's lines are those from the one
/// that opens it to the next that begins with two spaces and a bracket.
private struct ImagesFilter {
    private static let opening = Array("  \"images\" : [".utf8)
    private static let closing = Array("  ]".utf8)
    /// How the last line of an image begins; none within it is indented so little.
    static let imageClosing = Array("    }".utf8)
    /// What is kept of a file besides its images; a rejected manifest may have many errors.
    static let capacity = 8 << 20

    private var kept: [UInt8] = []
    private var isInImages = false

    /// What `status.json` says besides its images; nil where that is too much to be one of ours.
    static func frame(in folder: Directory) throws(FileError) -> [UInt8]? {
        let file = try folder.open(BatchFile.status)
        return try read(file, folder.path(of: BatchFile.status)) { _ throws(FileError) in }
    }

    /// The same, and hands on the lines of the images, each with its newline.
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

    private mutating func take(
        _ line: ArraySlice<UInt8>, _ image: (ArraySlice<UInt8>) throws(FileError) -> Void
    ) throws(FileError) {
        if isInImages, line.starts(with: Self.closing) { isInImages = false }
        if isInImages { try image(line) } else { kept += line }
        // An empty list may be opened and closed in one line.
        if line.starts(with: Self.opening), !line.contains(UInt8(ascii: "]")) { isInImages = true }
    }
}
