import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import Glibc
import SystemPackage

/// A folder in which outputs are placed, for the moment of a step. Between two steps it is not open, so that its file
/// system can be unmounted.
///
/// | state    | `active/ID` | the folder                | journal: `delivering` | a restart                           |
/// |----------|-------------|---------------------------|-----------------------|-------------------------------------|
/// | filtered | `output-N`  | –                         | –                     | the image is filtered again         |
/// | kept     | `output-N`  | it is away, or refuses    | without a name        | tries again                         |
/// | copied   | `output-N`  | a hidden copy, synced     | –, or without a name  | copies again, over the former copy  |
/// | promised | `output-N`  | the copy                  | with the name         | renames the copy                    |
/// | placed   | `output-N`  | a file NAME, synced       | with the name         | finds the file; see below           |
/// | ended    | –           | NAME                      | `ended`               | the output is in the outbox         |
///
/// | a promised copy is missing, and                                   | the image                                  |
/// |-------------------------------------------------------------------|--------------------------------------------|
/// | NAME has the bytes of the output                                  | is delivered                               |
/// | the folder is another one, as far as `Directory.mark` tells       | is copied again                            |
/// | this daemon has promised it, and has not begun to rename it       | is copied again                            |
/// | otherwise: somebody has taken the file, or has cleared the copy   | is delivered, with a warning               |
///
/// In the last case a second file would be worse: whoever takes files away at once would process it twice.
///
/// The name of the copy is the same after a restart, so that one that a killed daemon has left is found again. Others can
/// compute it. So if what has this name cannot be removed, the copy gets a name that nobody can guess, and the promise
/// has it. Only such a copy, made before a kill and not yet promised, stays in the folder.
///
/// A copy can be read by those who may list the folder, and a folder that is made has the mode of the one in which it is.
/// A made folder is empty and has mode 0700 until then, so one that a killed daemon has left is finished later.
///
/// | the name is taken by          | `number`            | `replace`       | `fail`          |
/// |-------------------------------|---------------------|-----------------|-----------------|
/// | a file                        | NAME-2, NAME-3, …   | replaces it     | the image fails |
/// | a folder                      | NAME-2, NAME-3, …   | the image fails | the image fails |
/// | a file, since the promise     | a promise of NAME-2 | replaces it     | the image fails |
///
/// Before a promised copy is removed, because its image fails, a record without a promise takes the promise back.
package struct DeliveryFolder {
    private let folder: Directory
    private let taken: TakenFolders

    /// Opens the folder.
    ///
    /// - Parameters:
    ///   - owner: of the manifest.
    ///   - taken: those of the rules, if they are open.
    /// - Throws: also if the configuration does not allow it now, if others could put another folder in its place, or if
    ///   its files would be taken as pictures again.
    package init(
        _ delivery: Delivery, of owner: UInt32?, _ rules: DeliveryRules,
        _ taken: TakenFolders? = nil
    ) throws(Refusal) {
        if let words = rules.problem(with: delivery, of: owner) {
            // Images of others may be allowed there.
            throw .output(PlaceFolder.refusal(delivery.folder, words))
        }
        self.taken = taken ?? TakenFolders(rules.taken)
        do throws(FileError) {
            if !delivery.isOfRecipe, let root = rules.root(of: delivery.folder) {
                let way = FilePath(delivery.folder).components.dropFirst(
                    FilePath(root).components.count)
                let names = way.reduce(RelativePath.root) { $0.appending(FileName($1.string)) }
                folder = try PlaceFolder.open(root).folder(beneath: names)
            } else {
                folder = try PlaceFolder.open(delivery.folder)
            }
            try refuseLoops(to: folder)
        } catch {
            throw .folder(error)
        }
    }

    private func refuseLoops(to place: Directory) throws(FileError) {
        guard let words = taken.above(place) else { return }
        throw PlaceFolder.refusal(place.path, "it is in \(words): outputs would be taken again")
    }

    /// The folder in which an output is placed: one beneath this if its name has folders.
    private func place(of output: Output, isMade: Bool) throws(FileError) -> Directory {
        guard output.isInFolder else { return folder }
        var place = folder
        for name in OutputPath.components(of: output.facts.file).dropLast() {
            let name = FileName(name.string)
            // `sync(foldersOf:)` waits for its name.
            place =
                isMade
                ? try place.makeFolder(name, like: place, durably: false)
                : try Directory(name, in: place)
        }
        // This folder may contain a hot folder.
        try refuseLoops(to: place)
        return place
    }

    package struct Output {
        package let folders: BatchFolders
        package let index: Int
        package var facts: ImageStatus.Output
        package let existing: Delivery.Existing
        package let copyName: FileName

        /// - Parameter copy: the name that the copy has if it was made; nil before.
        package init(
            _ folders: BatchFolders, index: Int, _ facts: ImageStatus.Output,
            _ existing: Delivery.Existing, copy: FileName? = nil
        ) {
            self.folders = folders
            self.index = index
            self.facts = facts
            self.existing = existing
            copyName = copy ?? CopyName.first("\(folders.spool.root.path)\n\(folders.id)\n\(index)")
        }

        fileprivate var isInFolder: Bool { facts.file.utf8.contains(UInt8(ascii: "/")) }

        fileprivate var source: FileName { folders.pathInActive(BatchFile.output(index)) }
    }

    package enum Preparation {
        /// A copy is complete, and must be on the disk before it is promised this name.
        case copied(UndeliveredImage.Promise)
        /// The promised copy is there.
        case promised
        /// The promise was kept before.
        ///
        /// - Parameter isCertain: whether the file is there.
        case placed(isCertain: Bool)
        /// A file has the name, so the image fails.
        case taken(String)
    }

    package enum Refusal: Error {
        /// It cannot be read.
        case source(FileError)
        /// It cannot be written, or cannot get its name. Others may.
        case output(FileError)
        /// Nothing can be placed in the folder. The error names only the folder: images of others wait for this reason.
        case folder(FileError)
    }

    func refusal(_ error: FileError, of output: Output) -> Refusal {
        if error.path == output.folders.spool.active.path(of: output.source) {
            return .source(error)
        }
        // Another file system may be mounted on a folder of its name.
        return output.isInFolder ? .output(error) : refusal(error) ?? .output(error)
    }

    /// nil if the error may concern one output only.
    private func refusal(_ error: FileError) -> Refusal? {
        let errors: [Errno] = [
            .readOnlyFileSystem, .staleNFSFileHandle, .ioError, .operationNotSupportedByDevice,
        ]
        guard errors.contains(error.errno) else { return nil }
        return .folder(FileError(error.step, folder.path, error.errno))
    }

    /// Makes the copy of an output, unless it was promised a name.
    ///
    /// - Parameters:
    ///   - promise: that of the journal, if its name may still be free.
    ///   - isPromised: whether the journal has any promise. Then a copy that is there stays.
    ///   - mayBePlaced: whether somebody may have begun to give the copy this name.
    ///   - promised: names that other outputs get next.
    package func prepare(
        _ output: Output, _ promise: UndeliveredImage.Promise?, isPromised: Bool,
        mayBePlaced: Bool, besides promised: Set<ByteString>
    ) throws(Refusal) -> Preparation {
        do throws(FileError) {
            let place = try place(of: output, isMade: true)
            if let promise,
                let found = try look(for: output, promise, mayBePlaced: mayBePlaced, in: place)
            {
                return found
            }
            var copyName = output.copyName
            var hasCopy = false
            if isPromised, promise == nil { hasCopy = try self.hasCopy(of: output, in: place) }
            if !hasCopy { copyName = CopyName.free(copyName, in: place) }
            guard let name = try freeName(for: output, besides: promised) else {
                return .taken(folder.path(of: FileName(output.facts.file)))
            }
            if !hasCopy { try copy(output, to: place, as: copyName) }
            return .copied(
                UndeliveredImage.Promise(
                    name: name, copy: copyName.text, folder: try place.mark()))
        } catch {
            throw refusal(error, of: output)
        }
    }

    /// What has become of a promise; nil if it is copied again.
    private func look(
        for output: Output, _ promise: UndeliveredImage.Promise, mayBePlaced: Bool,
        in place: Directory
    ) throws(FileError) -> Preparation? {
        if try hasCopy(of: output, in: place) { return .promised }
        if try place.exists(output.copyName) { return nil }
        if try holds(output.facts, as: promise.fileName, in: place) {
            return .placed(isCertain: true)
        }
        guard mayBePlaced, promise.folder == (try place.mark()) else { return nil }
        return .placed(isCertain: false)
    }

    private func hasCopy(of output: Output, in place: Directory) throws(FileError) -> Bool {
        try holds(output.facts, as: output.copyName, in: place)
    }

    private func holds(
        _ facts: ImageStatus.Output, as name: FileName, in place: Directory
    ) throws(FileError) -> Bool {
        try place.holds(name, bytes: facts.bytes, sha256: ByteString(facts.sha256))
    }

    /// nil if the image fails because its name is taken.
    private func freeName(
        for output: Output, besides promised: Set<ByteString>
    ) throws(FileError) -> String? {
        let name = output.facts.file
        return try output.existing.free(name) {
            Self.name(name, number: $0)
        } isTaken: { name throws(FileError) in
            if promised.contains(ByteString(name)) { return true }
            return try folder.information(ofOutput: name) != nil
        }
    }

    /// `beach-2.png`. Names of images are short enough for a number (`ImageName`).
    private static func name(_ path: String, number: Int) -> String {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let start = slash.map { path.utf8.index(after: $0) } ?? path.startIndex
        let (folder, name) = (path[..<start], String(path[start...]))
        guard let (stem, ending) = name.partsAtLastDot else { return "\(path)-\(number)" }
        return "\(folder)\(stem)-\(number).\(ending)"
    }

    private func copy(_ output: Output, to place: Directory, as name: FileName) throws(FileError) {
        let active = output.folders.spool.active
        let source = try active.open(output.source)
        let from = active.path(of: output.source)
        let path = place.path(of: name)
        let readers = try place.information().st_mode & 0o044
        let copy = try place.create(name, mode: 0o600)
        do throws(FileError) {
            // A file system without modes has its own.
            _ = fchmod(copy.number, 0o600 | readers)
            while true {
                let piece = try source.readPiece(path: from)
                if piece.isEmpty { break }
                try copy.write(piece, path: path)
            }
            try copy.close(path: path)
        } catch {
            // A full disk gets its space back.
            try? place.remove(name)
            throw error
        }
    }

    /// Waits until a copy is on the disk. After the first one, the others mostly are.
    package func sync(copyOf output: Output) throws(Refusal) {
        do throws(FileError) {
            let place = try place(of: output, isMade: false)
            try place.open(output.copyName).sync(path: place.path(of: output.copyName))
        } catch {
            throw refusal(error, of: output)
        }
    }

    /// Waits until the names in the folders on the way to an output are on the disk.
    package func sync(foldersOf output: Output) throws(Refusal) {
        do throws(FileError) {
            var place = folder
            for name in OutputPath.components(of: output.facts.file).dropLast() {
                place = try Directory(FileName(name.string), in: place)
                try place.syncNames()
            }
        } catch  where error.errno == .noSuchFileOrDirectory {
            // Somebody has removed it.
        } catch {
            throw refusal(error, of: output)
        }
    }

    package func sync() throws(Refusal) {
        do throws(FileError) {
            try folder.syncNames()
        } catch {
            throw .folder(error)
        }
    }

    package func discard(_ output: Output) throws(FileError) {
        try ignoringMissing(place(of: output, isMade: false).remove(output.copyName))
    }

    /// Gives the copy its name.
    ///
    /// - Returns: false if somebody else has taken the name since, or the copy. Then it is prepared again.
    package func place(
        _ output: Output, _ promise: UndeliveredImage.Promise
    ) throws(Refusal) -> Bool {
        do throws(FileError) {
            let place = try place(of: output, isMade: false)
            try place.rename(
                output.copyName, to: place, as: promise.fileName,
                replacing: output.existing == .replace, rivals: .some)
            return true
        } catch  where [.fileExists, .noSuchFileOrDirectory].contains(error.errno) {
            return false
        } catch {
            throw refusal(error, of: output)
        }
    }
}

extension UndeliveredImage.Promise {
    fileprivate var fileName: FileName {
        FileName(OutputPath.components(of: name).last?.string ?? name)
    }
}
