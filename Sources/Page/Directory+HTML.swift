import DarkroomCore

extension Directory {
    /// Writes a document, piece by piece. It is not synced.
    func write(
        _ document: HTMLWriter, to name: FileName, replacing: Bool = false
    ) throws(FileError) {
        try write(to: name, replacing: replacing, durably: false) { write throws(FileError) in
            for piece in document.pieces { try write(piece) }
        }
    }
}
