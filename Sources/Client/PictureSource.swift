import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import Foundation
import Glibc
import SystemPackage

/// A picture that was named on a command line: a file of this machine, or a URL.
package struct PictureSource: Sendable, Equatable {
    /// As a manifest names it: an absolute path, or a URL.
    package let source: String
    /// The name that an image gets after it; see `ImageName`.
    package private(set) var imageName: ByteString
    /// Whether somebody has chosen this name, so that it gets no number.
    package private(set) var isNamed = false
    package let path: String?
    /// The folders between a folder that was named and the file, as parts of the paths of results.
    package private(set) var folders: [String] = []

    /// - Parameters:
    ///   - folder: the folder that relative paths begin at.
    ///   - mayBeGone: whether the file of a picture need not exist any more.
    /// - Throws: if the file does not exist, or is not a picture's file.
    package init(
        _ argument: String, in folder: String = FileManager.default.currentDirectoryPath,
        mayBeGone: Bool = false
    ) throws(ClientError) {
        if SourceReference.isURL(argument: argument) {
            source = argument
            imageName = ImageName.derived(from: ByteString(argument))
            path = nil
            return
        }
        let path = Self.absolute(argument, in: folder)
        // What has not the name of a picture was a folder.
        if !mayBeGone || !PictureFileExtensions.match(argument) || access(path, F_OK) == 0 {
            try Self.requireFile(path, argument)
        }
        self.path = path
        source = Self.written(path)
        imageName = ImageName.named(after: FilePath(path).lastComponent?.string ?? "")
    }

    /// What is at a path, whatever it is: the daemon says so if it is no picture.
    static func unchecked(_ path: String, in folder: String) -> PictureSource {
        let path = absolute(path, in: folder)
        let name = FilePath(path).lastComponent?.string ?? ""
        return PictureSource(path: path, imageName: ImageName.named(after: name))
    }

    package static let standardInput = PictureSource(path: "/dev/stdin", imageName: "stdin")

    private init(path: String, imageName: ByteString, isNamed: Bool = false) {
        self.path = path
        self.imageName = imageName
        self.isNamed = isNamed
        source = Self.written(path)
    }

    /// The same picture with a name that somebody has chosen.
    package func named(_ name: ByteString) -> PictureSource {
        var picture = self
        picture.imageName = name
        picture.isNamed = true
        return picture
    }

    /// The same picture, found in a folder by this path.
    func found(as path: String) -> PictureSource {
        var picture = self
        picture.folders = OutputName.folders(ofFile: ByteString(path))
        return picture
    }

    /// The same file by its path without links, if the given path is not beneath one of the roots but this one is.
    package func seen(in roots: SourceRoots) -> PictureSource {
        guard let path, !roots.contain(path), let real = path.realPath, roots.contain(real)
        else { return self }
        return PictureSource(path: real, imageName: imageName, isNamed: isNamed)
    }

    /// The same for a folder: by its path without links, if only so its files are beneath one of the roots.
    static func folder(_ path: String, seenIn roots: SourceRoots) -> String {
        func contain(_ folder: String) -> Bool { roots.contain(folder + "/*") }
        guard !contain(path), let real = path.realPath, contain(real) else { return path }
        return real
    }

    /// Whether it begins like the URL of a scheme that nobody fetches, or like a mistyped one.
    private static func resemblesURL(_ text: String) -> Bool {
        text.firstMatch(of: #/^(?:[A-Za-z][A-Za-z0-9+.-]+:/|https?:)/#) != nil
    }

    /// The path from the root, without `.` and repeated slashes. `..` is left to the system, because a link may lead
    /// elsewhere.
    static func absolute(_ path: String, in folder: String) -> String {
        let whole = path.utf8.first == UInt8(ascii: "/") ? path : folder + "/" + path
        if isNormal(whole.utf8) { return whole }
        let parts = whole.pathParts
        let joined = "/" + parts.map(\.string).joined(separator: "/")
        return parts.contains("..") ? joined.realPath ?? joined : joined
    }

    /// Whether a path has no part that is empty or begins with a dot.
    private static func isNormal(_ path: String.UTF8View) -> Bool {
        let slash = UInt8(ascii: "/")
        var previous: UInt8 = 0
        for byte in path {
            if previous == slash, byte == slash || byte == UInt8(ascii: ".") { return false }
            previous = byte
        }
        return previous != slash
    }

    private static func requireFile(_ path: String, _ argument: String) throws(ClientError) {
        let shown = FileName(argument).text
        guard let information = stat(path: path) else {
            let error = Errno(rawValue: errno)
            if error == .noSuchFileOrDirectory, resemblesURL(argument) {
                throw ClientError(
                    .missing, code: "file-missing",
                    "\(shown): there is no such file, and addresses begin with http:// or https://")
            }
            throw ClientError(FileError(.find, shown, error, detail: "it"))
        }
        switch information.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR:
            let end = shown.hasSuffix("/") ? "*.jpg" : "/*.jpg"
            throw ClientError(
                .rejected, code: "not-a-file",
                "\(shown): it is a folder. Name the pictures in it, for example \(shown)\(end)")
        default:
            throw ClientError(.rejected, code: "not-a-file", "\(shown): it is not a file")
        }
    }

    /// The path in a manifest. A source cannot have control characters, and `*` is a pattern, so such a path becomes a
    /// `file:` URL.
    private static func written(_ path: String) -> String {
        guard path.unicodeScalars.contains(where: { $0.isControl || $0 == "*" }) else {
            return path
        }
        return "file://"
            + PercentEncoding.encoded(path.utf8) { $0.isLetterOrDigit || "/-._~".utf8.contains($0) }
    }
}
