import Foundation

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
}

/// Leaves out of a status file the lines of its images.
///
/// The file is indented, and no string holds a newline as it is; so the list's lines are those from the one
/// that opens it to the next that begins with two spaces and a bracket.
private struct ImagesFilter {
    private static let opening = Array("  \"images\" : [".utf8)
    private static let closing = Array("  ]".utf8)
    /// What is kept of a file besides its images; a rejected manifest may have many errors.
    private static let capacity = 8 << 20

    private var kept: [UInt8] = []
    private var isInImages = false

    /// What `status.json` says besides its images; nil where that is too much to be one of ours.
    static func frame(in folder: Directory) throws(FileError) -> [UInt8]? {
        let file = try folder.open(BatchFile.status)
        let path = folder.path(of: BatchFile.status)
        var filter = ImagesFilter()
        var splitter = LineSplitter()
        while filter.kept.count + splitter.begun.count <= capacity {
            let part = try file.readAll(upTo: Descriptor.piece - 1, path: path)
            if part.isEmpty {
                filter.take(splitter.begun[...])
                return filter.kept
            }
            splitter.append(part) { filter.take($0) }
        }
        return nil
    }

    private mutating func take(_ line: ArraySlice<UInt8>) {
        if isInImages, line.starts(with: Self.closing) { isInImages = false }
        if !isInImages { kept += line }
        // An empty list may be opened and closed in one line.
        if line.starts(with: Self.opening), !line.contains(UInt8(ascii: "]")) { isInImages = true }
    }
}
