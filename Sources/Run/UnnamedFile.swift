import DarkroomCore
import Glibc
import SystemPackage

/// A file without a name, in the folder for temporary files. It goes when it is closed.
package enum UnnamedFile {
    /// The folder for temporary files, as the environment names it.
    static var folder: String {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        return folder.isEmpty ? "/tmp" : folder
    }

    package static func make() throws(FileError) -> Descriptor {
        var template = Array("\(folder)/.darkroom-XXXXXX".utf8CString)
        let number = try retryingInterrupts(.create, folder, detail: "a temporary file") {
            mkstemp(&template)
        }
        unlink(template)
        return Descriptor(owning: number)
    }
}

extension Descriptor {
    /// Copies the rest of another file into this empty one, and goes to its beginning.
    ///
    /// - Parameters:
    ///   - maximum: when more bytes than this are read, the copy ends.
    ///   - path: the name of the other file in messages.
    /// - Returns: the number of copied bytes.
    func copy(
        from other: borrowing Descriptor, upTo maximum: Int, path: String
    ) throws(FileError) -> Int {
        var total = 0
        while total <= maximum {
            let piece = try other.readAll(upTo: (1 << 20) - 1, path: path, waits: true)
            if piece.isEmpty { break }
            try write(piece, path: "the temporary file")
            total += piece.count
        }
        lseek(number, 0, SEEK_SET)
        return total
    }
}
