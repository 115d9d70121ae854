import DarkroomAnswer
import DarkroomCore
import Synchronization
import SystemPackage

/// The outputs in the folder of a run that former runs have written, and that no image has any more: `former.json` in
/// `.darkroom`. The run may replace such a file by an output of the same name, and `--prune` removes it; nothing else in
/// the folder is ever replaced or removed.
///
/// An output gets into the list before anything happens to its image, and leaves it after its file is gone or has been
/// replaced. So the list may have more than is there, and never less. An entry counts only for a file that is what it
/// says, byte for byte.
package final class FormerOutputs: Sendable {
    package static let fileName: FileName = "former.json"
    /// Before it has this name.
    package static let newFileName: FileName = "former.json.new"

    /// An output as its status had it.
    package struct Entry: Codable, Sendable, Hashable {
        package let file: ByteString
        package let bytes: Int
        package let sha256: String
        /// The image that had it; nil if an older version wrote this.
        package let image: ByteString?
        /// true if the source of this image was gone, so that it has no output any more; nil otherwise.
        package let isGone: Bool?
        /// The local source of this image, and what it was (`SourceIdentity`); nil if that is not known.
        package var source: ByteString?
        package var sourceIdentity: String?

        private enum CodingKeys: String, CodingKey {
            case file, bytes, sha256, image, source, sourceIdentity
            case isGone = "gone"
        }

        package init(
            file: ByteString, bytes: Int, sha256: String, image: ByteString? = nil,
            isGone: Bool = false
        ) {
            self.file = file
            self.bytes = bytes
            self.sha256 = sha256
            self.image = image
            self.isGone = isGone ? true : nil
        }

        fileprivate func isSameOutput(as other: Entry) -> Bool {
            file == other.file && bytes == other.bytes && sha256 == other.sha256
                && image == other.image && isGone == other.isGone
        }
    }

    private struct File: VersionedFile, Encodable {
        var schemaVersion = 1
        let outputs: [Entry]
    }

    private let entries = Mutex<[ByteString: Set<Entry>]>([:])

    package init() {}

    package var isEmpty: Bool { entries.withLock(\.isEmpty) }

    /// All entries, sorted by their files.
    package var all: [Entry] {
        entries.withLock { $0.values.flatMap(\.self) }
            .sorted { ($0.file, $0.sha256) < ($1.file, $1.sha256) }
    }

    /// Of entries that differ only in what the source was, the one that comes last counts. One without a source replaces
    /// none.
    package func add(_ entry: Entry) {
        entries.withLock { entries in
            let known = entries[entry.file]?.first { $0.isSameOutput(as: entry) }
            if let known {
                if entry.source == nil || known == entry { return }
                entries[entry.file]?.remove(known)
            }
            entries[entry.file, default: []].insert(entry)
        }
    }

    /// Removes all entries of a file.
    package func remove(_ file: ByteString) { entries.withLock { $0[file] = nil } }

    /// Removes an entry, whatever its source was.
    package func remove(_ entry: Entry) {
        entries.withLock { entries in
            guard let known = entries[entry.file]?.first(where: { $0.isSameOutput(as: entry) })
            else { return }
            entries[entry.file]?.remove(known)
            if entries[entry.file]?.isEmpty == true { entries[entry.file] = nil }
        }
    }

    /// All entries by their files.
    package var byFile: [ByteString: Set<Entry>] { entries.withLock(\.self) }

    /// Adds what the file has.
    ///
    /// - Returns: false if it cannot be read.
    package func read(in root: Directory) throws(FileError) -> Bool {
        let bytes = try ignoringMissing(root.read(Self.fileName))
        guard let bytes else { return true }
        guard let file = File(decoding: bytes),
            file.outputs.allSatisfy({ OutputPath.isValid($0.file.string) })
        else { return false }
        for entry in file.outputs { add(entry) }
        return true
    }

    /// Replaces the file by one with these entries, or removes it if there is none.
    package func write(in root: Directory, durably: Bool) throws(FileError) {
        let outputs = all
        guard !outputs.isEmpty else {
            return try ignoringMissing(root.remove(Self.fileName)) ?? ()
        }
        // No newline ends the file.
        let text = JSONFile.text(of: File(outputs: outputs)).dropLast()
        try root.write(Array(text), to: Self.newFileName, replacing: true, durably: durably)
        FaultPoint.formerWritten.pass()
        try root.rename(Self.newFileName, to: root, as: Self.fileName, replacing: true)
        if durably { try root.sync() }
        FaultPoint.formerMoved.pass()
    }

    /// Whether the file with this path in the folder of the outputs is one of them.
    package func has(_ path: String, in outputs: Directory) throws(FileError) -> Bool {
        do {
            return try has(path, outputs.place(ofOutput: path))
        } catch  where [.noSuchFileOrDirectory, .notDirectory].contains(error.errno) {
            return false
        }
    }

    /// The same for a file whose folder is open.
    ///
    /// - Parameter place: of the file.
    package func has(
        _ path: String, _ place: (folder: Directory, name: FileName)
    ) throws(FileError) -> Bool {
        let candidates = entries.withLock { $0[ByteString(path)] ?? [] }
        let (folder, name) = place
        guard !candidates.isEmpty, let found = try folder.information(of: name),
            found.isRegularFile
        else { return false }
        let fitting = candidates.filter { $0.bytes == found.length }
        guard !fitting.isEmpty else { return false }
        let sha256 = try folder.open(name).sha256(path: folder.path(of: name))
        return fitting.contains { $0.sha256 == sha256 }
    }
}
