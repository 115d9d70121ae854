import DarkroomClient
import DarkroomCore
import DarkroomFetch
import DarkroomManifest

/// A source in the folder of the results whose name a result will have. No result replaces a file of others, so the
/// image would fail at its end.
enum ResultConflict {
    /// Throws if a source of the manifest lies where a result belongs.
    ///
    /// - Parameters:
    ///   - base: the folder at which relative sources begin.
    ///   - folder: the folder of the results, which may not exist.
    static func refuse(_ manifest: Manifest, base: String, folder: String) throws(ClientError) {
        guard let target = folder.realPath else { return }
        var parents: [ByteString: Bool] = [:]
        var results: Set<ByteString>?
        for image in manifest.images {
            guard let path = image.source?.localPath else { continue }
            let whole = path.utf8.first == UInt8(ascii: "/") ? path : "\(base)/\(path)"
            guard let slash = whole.utf8.lastIndex(of: UInt8(ascii: "/")) else { continue }
            let parent = String(whole[...slash])
            let isInFolder = parents[ByteString(parent)] ?? (parent.realPath == target)
            parents[ByteString(parent)] = isInFolder
            guard isInFolder else { continue }
            let name = String(whole[whole.utf8.index(after: slash)...])
            let names = results ?? Set(manifest.images.map { ByteString($0.outputFile) })
            results = names
            guard names.contains(ByteString(name)) else { continue }
            throw ClientError(
                .cannotCreate, code: "source-in-the-way",
                "\(FileName(path).text): this source lies in the folder of the results, and a result would get its name",
                remedy: "Name another folder with -o.")
        }
    }
}
