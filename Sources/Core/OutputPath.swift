import Glibc
import SystemPackage

/// The paths of outputs from the folder of a batch's outputs. Most are the name of a file; a template may add folders.
package enum OutputPath {
    /// In bytes of UTF-8.
    package static let longest = 1000
    /// A tree of folders that is walked takes a descriptor for each level.
    package static let mostFolders = 32
    private static let slash = UInt8(ascii: "/")

    /// Whether a text is such a path: it cannot lead out of the folder.
    package static func isValid(_ text: String) -> Bool {
        if FileName.isValid(text) { return true }
        return text.utf8.count <= longest
            && text.utf8.split(separator: slash, omittingEmptySubsequences: false)
                .allSatisfy { FileName.isValid(String(Substring($0))) }
    }

    /// The names of the folders and of the file.
    package static func components(of path: String) -> [ByteString] {
        path.utf8.split(separator: slash).map { ByteString($0) }
    }

    /// The folders on the way to a file, the outer ones first: `a` and `a/b` for `a/b/c.png`.
    package static func folders(of path: String) -> [ByteString] {
        path.utf8.indices.lazy.filter { path.utf8[$0] == slash }
            .map { ByteString(decoding: path.utf8[..<$0]) }
    }
}

extension Directory {
    /// The folder in which an output is, and its name there. No folder on the way may be a link, because others may write
    /// into the folder of a run.
    ///
    /// - Parameter isMade: whether folders that are missing are made.
    package func place(
        ofOutput path: String, isMade: Bool = false
    ) throws(FileError) -> (folder: Directory, name: FileName) {
        var names = OutputPath.components(of: path).map { FileName($0.string) }
        let name = names.popLast() ?? FileName(path)
        var folder = self
        for name in names {
            // What exists has an earlier output in it, or is no folder, which the next call finds out.
            if isMade, try folder.makeIfMissing(name) { FaultPoint.outputFolderMade.pass() }
            folder = try Directory(name, in: folder)
        }
        return (folder, name)
    }

    package func open(output path: String) throws(FileError) -> Descriptor {
        let (folder, name) = try place(ofOutput: path)
        return try folder.open(name)
    }

    /// What is known of an output; nil if it or a folder on the way is not there.
    package func information(ofOutput path: String) throws(FileError) -> stat? {
        do throws(FileError) {
            let (folder, name) = try place(ofOutput: path)
            return try folder.information(of: name)
        } catch  where [.noSuchFileOrDirectory, .notDirectory].contains(error.errno) {
            return nil
        }
    }

    package func remove(output path: String) throws(FileError) {
        let (folder, name) = try place(ofOutput: path)
        try folder.remove(name)
    }

    /// Removes the folders on the way to an output that have become empty.
    package func removeEmptyFolders(ofOutput path: String) throws(FileError) {
        for folder in OutputPath.folders(of: path).reversed() {
            do throws(FileError) {
                let (parent, name) = try place(ofOutput: folder.string)
                try parent.removeDirectory(name)
            } catch
                where [.directoryNotEmpty, .fileExists, .noSuchFileOrDirectory, .notDirectory]
                .contains(error.errno)
            {
                return
            }
        }
    }

    /// Waits until the entries of folders of outputs are on the disk. Those that somebody has removed are left out.
    package func sync(outputFolders paths: some Sequence<ByteString>) throws(FileError) {
        for path in paths {
            try ifExists { () throws(FileError) in
                let (parent, name) = try place(ofOutput: path.string)
                try Directory(name, in: parent).sync()
            }
        }
    }
}
