import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomSpool
import Glibc
import SystemPackage

/// The local pictures of a manifest that are sent along with it, each with its place in the folder (`SentPictures`).
///
/// These are all files with an absolute path, and the files with a relative path that exist beside the manifest. Other
/// relative paths begin at one of the daemon's roots.
package struct SentSources: Sendable {
    package struct Item: Sendable, Equatable {
        let path: String
        /// The path in the folder.
        let place: [FileName]
        /// Folders that must exist in the folder although they contain nothing: those before a `..`.
        let passed: [[FileName]]
        let bytes: Int
        /// The device and the inode: two paths may lead to one file.
        let file: [UInt64]
    }

    package private(set) var items: [Item] = []

    package var bytes: Int { items.reduce(0) { $0.saturatingAdd($1.bytes) } }

    /// - Parameters:
    ///   - folder: the folder of the manifest's file.
    ///   - limit: the maximum size of a picture, in bytes.
    /// - Throws: if a file cannot be sent; nothing was done then.
    package init(of manifest: Manifest, beside folder: String, limit: Int?) throws(ClientError) {
        var taken: [[FileName]: Item] = [:]
        for image in manifest.images {
            guard let path = image.source?.localPath,
                let item = try Self.item(path, beside: folder, limit: limit)
            else { continue }
            if let other = taken[item.place] {
                // A relative source, and an absolute one without its first slash.
                guard other.file == item.file else {
                    throw ClientError(
                        .rejected, code: "same-place",
                        "\(FileName(other.path).text) and \(FileName(item.path).text) would have the same place in the folder that is sent; rename one of them"
                    )
                }
            } else if item.place.count == 1, let name = item.place.first,
                FolderJob.format(of: name) != nil
            {
                throw ClientError(
                    .rejected, code: "same-place",
                    "\(name.text): a picture with this name would be the manifest of the folder that is sent; rename it"
                )
            } else {
                taken[item.place] = item
                items.append(item)
            }
        }
    }

    /// nil for a relative path that does not exist beside the manifest.
    private static func item(
        _ path: String, beside folder: String, limit: Int?
    ) throws(ClientError) -> Item? {
        let isAbsolute = path.utf8.first == UInt8(ascii: "/")
        let file = isAbsolute ? path : "\(folder)/\(path)"
        guard let information = stat(path: file) else {
            if !isAbsolute { return nil }
            throw ClientError(
                FileError(.find, FileName(path).text, Errno(rawValue: errno), detail: "it"))
        }
        guard let (place, passed) = places(of: path) else {
            throw ClientError(
                .rejected, code: "source-forbidden",
                "\(FileName(path).text): it is not beneath the manifest's folder; name it by its absolute path"
            )
        }
        guard information.isRegularFile else {
            throw ClientError(
                .rejected, code: "not-a-file", "\(FileName(path).text): it is not a file")
        }
        guard access(file, R_OK) == 0 else {
            throw ClientError(
                FileError(.read, FileName(path).text, Errno(rawValue: errno), detail: "it"))
        }
        if let limit, information.length > limit {
            throw ClientError(
                .rejected, code: "too-large",
                "\(FileName(path).text): the file has \(Units.bytes(information.length)), more than the limit of "
                    + Units.bytes(limit))
        }
        return Item(
            path: file, place: place, passed: passed, bytes: information.length,
            file: [UInt64(information.st_dev), UInt64(information.st_ino)])
    }

    /// The names from the folder to the file, and to the folders that a `..` leaves; nil if the path leads out of the
    /// folder. The daemon looks for the path as it is written.
    static func places(of path: String) -> (place: [FileName], passed: [[FileName]])? {
        var place: [FileName] = []
        var passed: [[FileName]] = []
        for part in path.utf8.split(separator: UInt8(ascii: "/")) {
            let name = FileName(bytes: part)
            if name == "." { continue }
            guard name == ".." else {
                place.append(name)
                continue
            }
            // At the root of the machine, `..` leads nowhere; the daemon refuses it in the folder.
            guard !place.isEmpty else { return nil }
            passed.append(place)
            place.removeLast()
        }
        return place.isEmpty ? nil : (place, passed)
    }

    /// Puts the pictures into the folder.
    ///
    /// - Parameter told: receives the number of bytes of each piece that is there; returns false to stop.
    package func send(into staged: StagedFolder, told: (Int) -> Bool) throws(ClientError) {
        do throws(FileError) {
            for item in items {
                for folder in item.passed { _ = try staged.subfolder(folder) }
                guard let name = item.place.last else { continue }
                let folder = try staged.subfolder(item.place.dropLast())
                try PictureTransfer(item.path).put(into: folder, of: staged, as: name, told: told)
            }
        } catch {
            throw error.errno == .canceled ? Self.interrupted : ClientError(error)
        }
    }

    package static let interrupted = ClientError(
        .interrupted, code: "interrupted",
        "Interrupted while the pictures were copied; the copies are removed.")
}
