import DarkroomCore
import DarkroomFetch
import DarkroomPicture

/// A source that means several local files: `photos/*.jpg`, or the pictures of a folder, `photos/`.
///
/// Only `*` has a meaning, and only in the last part of a plain path. A URL never is a pattern, so
/// `file:///srv/a%2A.jpg` is the file `/srv/a*.jpg`.
package struct SourcePattern: Sendable, Hashable {
    /// The path as it is written.
    package let text: ByteString
    /// The folder as it is written, without the last slash; empty for a pattern without a folder, `/` for the root of
    /// the machine.
    package let folder: String
    /// The pattern of the names; nil for all pictures of the folder.
    private let name: NamePattern?
    /// Whether the files of the folders within its folder are meant too. No text says so: only `everything` does.
    package private(set) var includesFolders = false

    /// All pictures of a folder that was submitted without a manifest.
    package static let everything = SourcePattern()

    private init() { (text, folder, name, includesFolders) = ("./", ".", nil, true) }

    /// nil if the source means one picture.
    ///
    /// - Throws: the end of the sentence "a source that …".
    package init?(_ text: ByteString) throws(Fault) {
        let bytes = Array(text.utf8)
        let star = UInt8(ascii: "*")
        guard bytes.contains(star) || bytes.last == UInt8(ascii: "/"),
            SourceReference.isPath(text.string)
        else { return nil }
        let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let last = parts[parts.count - 1]
        let folder = parts.dropLast().joined(separator: [UInt8(ascii: "/")])
        guard !folder.contains(star) else { throw Fault(words: "has ‘*’ before its last part") }
        self.text = text
        let isRoot = parts.count > 1 && folder.allSatisfy { $0 == UInt8(ascii: "/") }
        self.folder = isRoot ? "/" : String(decoding: Array(folder), as: UTF8.self)
        name = last.isEmpty ? nil : NamePattern(ByteString(decoding: last))
    }

    package struct Fault: Error, Equatable {
        let words: String
    }

    /// Whether a file name belongs to it. Names that begin with a dot do not, as in a shell.
    package func matches(_ file: FileName) -> Bool {
        guard file.bytes.first != UInt8(ascii: ".") else { return false }
        guard let name else { return PictureFileExtensions.match(file.text) }
        return name.matches(file)
    }

    /// Whether a source is one of its files in the form in which a run writes them: the folder as the pattern has it, and
    /// a name.
    func hasFile(_ source: ByteString) -> Bool {
        let slash = UInt8(ascii: "/")
        var beginning = Array(folder.utf8)
        if !beginning.isEmpty, beginning.last != slash { beginning.append(slash) }
        let bytes = Array(source.utf8)
        // `./` comes before what would be a URL otherwise.
        return [beginning, Array("./".utf8) + beginning].contains { beginning in
            let name = bytes.dropFirst(beginning.count)
            return bytes.starts(with: beginning) && !name.isEmpty && !name.contains(slash)
                && matches(FileName(bytes: Array(name)))
        }
    }

    /// Whether a source can be one of its files. A relative pattern may have been looked up in one of several folders, so
    /// the source may begin with any other folder.
    package func canMean(_ source: ByteString) -> Bool {
        let parts = source.string.pathParts
        guard let name = parts.last, source.utf8.last != UInt8(ascii: "/") else { return false }
        let folders = folder.pathParts
        return matches(FileName(bytes: name.utf8))
            && parts.dropLast().suffix(folders.count) == folders[...]
    }
}

/// The files that a pattern meant when the manifest was taken. A restart and a retry use them, whatever has become of
/// the folder.
package struct FoundSources: Codable, Sendable, Equatable {
    package let pattern: ByteString
    /// The sources, sorted by the bytes of their names; never empty.
    package let files: [ByteString]

    /// The first file that a run has not found by the pattern; nil if there is none. Others may have written the list.
    package var stranger: ByteString? {
        guard let pattern = try? SourcePattern(pattern) else { return files.first ?? pattern }
        return files.first { !pattern.hasFile($0) }
    }
}
