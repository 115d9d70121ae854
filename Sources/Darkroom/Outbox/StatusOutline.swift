import Foundation

/// What of a status file tells whether its entry may go: read without its images, which may be 100,000.
struct StatusOutline: Decodable, Equatable, Sendable {
    let schemaVersion: Int
    let id: String
    let state: BatchState
    let times: Status.Times

    /// What is kept of a file besides its images; a rejected manifest may have many errors.
    private static let capacity = 8 << 20

    /// Reads the outline of `status.json` in a folder of the outbox; nil where there is none, or where it is
    /// not as Darkroom writes it.
    init?(in folder: Directory) throws(FileError) {
        let file: Descriptor
        do {
            file = try folder.open(BatchFile.status)
        } catch  where [.noSuchFileOrDirectory, .tooManySymbolicLinkLevels].contains(error.errno) {
            return nil
        }
        var filter = ImagesFilter()
        let path = folder.path(of: BatchFile.status)
        while filter.kept.count <= Self.capacity {
            let part = try file.readAll(upTo: (256 << 10) - 1, path: path)
            if part.isEmpty { break }
            filter.append(part)
        }
        guard filter.kept.count <= Self.capacity,
            let outline = try? JSONDecoder().decode(Self.self, from: Data(filter.kept)),
            outline.schemaVersion == 1
        else { return nil }
        self = outline
    }
}

/// Leaves out of a status file the lines of its images.
///
/// The file is indented, and no string holds a newline as it is; so the list's lines are those from the one
/// that opens it to the next that begins with two spaces and a bracket.
private struct ImagesFilter {
    private static let opening = Array("  \"images\" : [".utf8)
    private static let closing = Array("  ]".utf8)
    private static let newline = UInt8(ascii: "\n")

    private(set) var kept: [UInt8] = []
    /// The beginning of a line that has not come whole.
    private var line: [UInt8] = []
    private var isInImages = false

    mutating func append(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: Self.newline) {
            if line.isEmpty {
                take(rest[...end])
            } else {
                line += rest[...end]
                take(line[...])
                line = []
            }
            rest = rest[(end + 1)...]
        }
        line += rest
    }

    private mutating func take(_ line: ArraySlice<UInt8>) {
        if isInImages, line.starts(with: Self.closing) { isInImages = false }
        if !isInImages { kept += line }
        // An empty list may be opened and closed in one line.
        if line.starts(with: Self.opening), !line.contains(UInt8(ascii: "]")) { isInImages = true }
    }
}
