import DarkroomCore
import DarkroomManifest
import SystemPackage

/// What `DeliveryFolder` and `OriginalsFolder` have in common: a folder of somebody else into which Darkroom places files.
package enum PlaceFolder {
    /// Opens a folder.
    ///
    /// - Throws: also if others could put another folder in its place.
    static func open(_ path: String) throws(FileError) -> Directory {
        let folder = try Directory(path: path)
        if let words = TrustedPath(to: try folder.information()).problem(folder) {
            throw refusal(path, words)
        }
        return folder
    }

    static func refusal(_ path: String, _ words: String) -> FileError {
        FileError(.use, path, .notPermitted, detail: "it (\(words))")
    }

    /// Whether an error is about the name of one file, and not about a folder or the machine. No other attempt can help.
    package static func concernsOneName(_ error: FileError) -> Bool {
        [
            .fileNameTooLong, .isDirectory, .fileTooLarge, .invalidArgument, .illegalByteSequence,
        ].contains(error.errno)
    }
}

extension Directory {
    /// Whether a regular file has this content.
    ///
    /// - Parameter sha256: in hexadecimal.
    func holds(_ name: FileName, bytes: Int, sha256: ByteString) throws(FileError) -> Bool {
        guard let found = try information(of: name), found.isRegularFile, found.length == bytes
        else { return false }
        return ByteString(try open(name).sha256(path: path(of: name))) == sha256
    }
}

extension Delivery.Existing {
    /// The name that a file gets; nil if it gets none, because its own is taken.
    ///
    /// - Parameters:
    ///   - numbered: the name with a number, from 2.
    ///   - isTaken: whether a file has the name, or gets it next.
    func free<Name>(
        _ name: Name, numbered: (Int) -> Name, isTaken: (Name) throws(FileError) -> Bool
    ) throws(FileError) -> Name? {
        switch self {
        case .replace: return name
        case .fail: return try isTaken(name) ? nil : name
        case .number:
            guard try isTaken(name) else { return name }
            let number = try FreeNumber.search(from: 2) { number throws(FileError) in
                try isTaken(numbered(number))
            }
            return numbered(number)
        }
    }
}
