import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomSpool
import Foundation
import Glibc

/// A folder of pictures that is named on a command line: its pictures and those of the folders within it, sorted by the
/// bytes of their paths.
///
/// Left out are names that begin with a dot, links to folders, and the results of `darkroom run`: folders with
/// `.darkroom` in them, and the folder into which the results go. So are files that are no pictures, by the extensions
/// of their names.
package struct PictureTree: Sendable {
    package struct Content: Sendable {
        package fileprivate(set) var pictures: [PictureSource] = []
        /// How many files are no pictures.
        private var others = 0
        /// By their kinds: the extensions of names, or the names of files without one.
        private var kinds: [ByteString: Int] = [:]
        private let shown: String

        fileprivate init(shown: String) { self.shown = shown }

        /// `3 files of phone/ are not pictures: .AAE, .MOV (2)`; nil if all are.
        package var remark: String? {
            guard others > 0 else { return nil }
            let listed = kinds.sorted { $0.key < $1.key }.prefix(Self.mostKinds).map {
                $0.key.string.visible + ($0.value > 1 ? " (\($0.value))" : "")
            }
            let rest = kinds.count > Self.mostKinds ? ", …" : ""
            let verb = others == 1 ? "is not a picture" : "are not pictures"
            return
                "\(Words.count(others, "file")) of \(shown) \(verb): \(listed.joined(separator: ", "))\(rest)"
        }

        /// - Parameter path: from the folder on.
        fileprivate mutating func add(other path: FileName) {
            others += 1
            let name = path.text.split(separator: "/").last.map(String.init) ?? path.text
            var kind = name.partsAtLastDot.map { ".\($0.ending)" } ?? name
            if SourcePattern.everything.matches(path) { kind = "\(name) (rename it)" }
            guard kinds.count < Self.mostCounted || kinds[ByteString(kind)] != nil else { return }
            kinds[ByteString(kind), default: 0] += 1
        }

        private static let mostKinds = 12
        private static let mostCounted = 1000
    }

    /// The path as it was given, for messages.
    private let shown: String
    private let path: String
    /// The path with a slash at its end.
    private var prefix: String { path.utf8.last == UInt8(ascii: "/") ? path : path + "/" }

    /// Whether the argument means a folder. A URL never does.
    package static func isOne(_ argument: String) -> Bool {
        !argument.contains("://") && isFolder(argument)
    }

    package static func isFolder(_ path: String) -> Bool { stat(path: path)?.isFolder == true }

    package init(_ path: String) {
        self.path = path
        shown = FileName(path).text
    }

    /// - Parameters:
    ///   - limit: the maximum number of pictures.
    ///   - ignored: the names that are left out.
    ///   - results: the folder of the results, which may not exist.
    /// - Throws: if there is none, or if the folder has a manifest, which says what to do with its pictures.
    package func content(
        limit: Int = ManifestLimits().images, ignoring ignored: IgnoredNames = .standard,
        without results: String? = nil
    ) throws(ClientError) -> Content {
        let root = try asClientError(Directory(path: path))
        if let results, let place = results.realPath, place == path.realPath {
            throw ClientError(
                .usage, code: "results-among-sources",
                "\(shown): the results cannot go into the folder of the pictures, or they would be pictures of the next run",
                remedy: "Name another folder with -o, which may lie in this one.")
        }
        try refuseManifest(in: root)
        let folder = SentPictures.Folder(root, owner: getuid())
        var local = LocalSources(roots: [])
        local.ignored = ignored
        var skipped = Skipped(root: path, results: results)
        var content = Content(shown: shown)
        let listing = local.list(
            allOf: folder, limit: limit,
            matches: { SourcePattern.everything.matches($0) && $0.textFault == nil }
        ) { other in
            guard !skipped.contains("./\(other.text)") else { return }
            content.add(other: other)
        }
        switch listing {
        case .sources(let sources):
            let files = sources.map(\.string).filter { !skipped.contains($0) }
            guard !files.isEmpty else { throw nothing("there is no picture in it") }
            // The paths begin with `./`.
            // What is no picture after all, such as a link that leads nowhere, fails alone.
            let current = FileManager.default.currentDirectoryPath
            content.pictures = files.map {
                PictureSource.unchecked(prefix + $0.dropFirst(2), in: current).found(as: $0)
            }
            return content
        case .nothing(let reason): throw nothing(reason)
        case .tooMany:
            throw ClientError(
                .rejected, code: "too-many-images",
                "\(shown): it has more than \(limit) pictures, or too many other files")
        }
    }

    private func nothing(_ reason: String) -> ClientError {
        ClientError(.rejected, code: "no-pictures", "\(shown): \(reason)")
    }

    private func refuseManifest(in root: Directory) throws(ClientError) {
        let names = try asClientError(root.names())
        let manifest = names.first { FolderJob.format(of: $0) != nil }
        guard let manifest else { return }
        if names.contains(FileName(RunFolders.spoolName)) {
            throw ClientError(
                .usage, code: "has-manifest",
                "\(shown): it has the results of darkroom run, and a manifest with them",
                remedy: "Name the pictures that you mean, as in \(prefix.shellQuoted)*.jpg")
        }
        throw ClientError(
            .usage, code: "has-manifest",
            "\(shown): it has a manifest, which says what to do with its pictures",
            remedy:
                "Name the manifest instead: \((prefix + manifest.text).shellQuoted); with submit, add --copy to send its pictures along."
        )
    }

    private struct Skipped {
        let root: String
        private let results: String?
        private var known: [ByteString: Bool] = [:]

        init(root: String, results: String?) {
            self.root = root
            self.results = results?.realPath
        }

        /// - Parameter file: its path from the root, with `./` before it.
        mutating func contains(_ file: String) -> Bool {
            guard let slash = file.lastIndex(of: "/") else { return false }
            return isResult(file[..<slash])
        }

        private mutating func isResult(_ folder: Substring) -> Bool {
            let name = ByteString(folder)
            if let known = known[name] { return known }
            let whole = "\(root)/\(folder)"
            var answer =
                access("\(whole)/\(RunFolders.spoolName)", F_OK) == 0
                || results != nil && whole.realPath == results
            // What the user has named is not left out because of another run in it.
            if folder == "." { answer = false }
            if !answer, let slash = folder.lastIndex(of: "/") {
                answer = isResult(folder[..<slash])
            }
            known[name] = answer
            return answer
        }
    }
}
