import DarkroomCore
import Glibc
import SystemPackage

extension LocalSources {
    /// The files of a submitted folder and of all folders within it, whose names match. Their sources begin with `./`
    /// and are sorted by the bytes of their paths. Names that begin with a dot, and those that are not the user's
    /// (`ignored`), are left out. Links to folders are not followed.
    ///
    /// A folder that cannot be read is not left out: then there is no listing, but the reason.
    ///
    /// - Parameter limit: the maximum number of files. Their paths have a limit of their own, because the status repeats
    ///   them.
    package func list(
        allOf sent: SentPictures.Folder, limit: Int, matches: (FileName) -> Bool,
        others: (FileName) -> Void = { _ in }
    ) -> Listing {
        var files: [FileName] = []
        var pending = [FileName(".")]
        var left = Self.mostEntries
        var pathBytes = 0
        while let folder = pending.popLast() {
            guard let path = String(validating: folder.bytes, as: UTF8.self) else {
                return .nothing("the name of \(folder.text) is not UTF-8; rename it")
            }
            do throws(Errno) {
                let place = try resolution.open(
                    path, beneath: sent.directory.number, followsLinks: false)
                let isWhole = try Self.entries(of: place.number, &left) { name, type in
                    guard name.bytes.first != UInt8(ascii: "."), !ignored.contains(name) else {
                        return true
                    }
                    let path = folder == "." ? name : folder / name
                    switch Self.kind(of: name, type, in: place.number) {
                    case .folder: pending.append(path)
                    case .file where matches(name):
                        guard files.count < limit else { return false }
                        files.append(path)
                        pathBytes += path.bytes.count
                    case .file: others(path)
                    case .other: break
                    }
                    return true
                }
                guard isWhole else { return .tooMany }
                guard pathBytes <= Self.mostPathBytes else {
                    return .nothing(
                        "the paths of its pictures have more than \(Units.bytes(Self.mostPathBytes)) together; divide the folder"
                    )
                }
            } catch .noSuchFileOrDirectory {
                // Its submitter has removed it in the meantime.
            } catch {
                return .nothing("its folder \(folder.text) cannot be read: \(error)")
            }
        }
        guard !files.isEmpty else { return .nothing("there is no picture in it") }
        return Self.sources(files.sorted(), in: ".")
    }

    /// 160 bytes for each of 100,000 pictures.
    private static let mostPathBytes = 16 << 20
}
