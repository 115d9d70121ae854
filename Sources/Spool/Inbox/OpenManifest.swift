import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import Glibc
import SystemPackage

/// A manifest that is open for reading. Its submitter may exchange the file under its name, but not this one, so its
/// type, its owner and its bytes belong together.
package struct OpenManifest: ~Copyable {
    let file: Descriptor
    let path: String
    let name: FileName
    let format: ManifestFormat
    let information: stat
    /// The folder in which it came, with its pictures; nil for a single file.
    let pictures: Directory?
    var isFolder: Bool { pictures != nil }

    /// - Throws: ENOTSUP if it is not a regular file: reading a FIFO or a socket could block.
    init(
        _ name: FileName, _ format: ManifestFormat, in folder: Directory, isFolder: Bool = false
    ) throws(FileError) {
        path = folder.path(of: name)
        self.name = name
        let file = try folder.open(name)
        information = try Self.information(of: file, path)
        self.file = file
        self.format = format
        pictures = isFolder ? folder : nil
    }

    private static func information(
        of file: borrowing Descriptor, _ path: String
    ) throws(FileError) -> stat {
        let information = try file.information(path: path)
        guard information.isRegularFile else {
            throw FileError(.read, path, .notSupported, detail: "(it is not a regular file)")
        }
        return information
    }
}
