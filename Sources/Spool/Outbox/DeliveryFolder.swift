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
/// | placed   | `output-N`  | a file NAME, synced       | with the name         | finds no copy, so it was renamed    |
/// | ended    | –           | NAME                      | `ended`               | the output is in the outbox         |
///
/// The promise decides: with it, a copy that is not there any more has got its name, so somebody who takes the file away
/// at once does not get a second one. A missing copy in another folder proves nothing; then a file with the name and the
/// bytes of the output is it, and otherwise it is copied again.
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
    private let taken: [(path: String, what: String)]

    /// Opens the folder.
    ///
    /// - Parameter owner: of the manifest.
    /// - Throws: also if the configuration does not allow it now, if others could put another folder in its place, or if
    ///   its files would be taken as pictures again.
    package init(
        _ delivery: Delivery, of owner: UInt32?, _ rules: DeliveryRules
    ) throws(FileError) {
        func refuse(_ words: String) -> FileError {
            FileError(.use, delivery.folder, .notPermitted, detail: "it (\(words))")
        }
        if let words = rules.problem(with: delivery, of: owner) { throw refuse(words) }
        if !delivery.isOfRecipe, let root = rules.root(of: delivery.folder) {
            let way = FilePath(delivery.folder).components.dropFirst(
                FilePath(root).components.count)
            let names = way.reduce(RelativePath.root) { $0.appending(FileName($1.string)) }
            folder = try Directory(path: root).folder(beneath: names)
        } else {
            folder = try Directory(path: delivery.folder)
            if let words = FolderWay(to: try folder.information()).problem(folder) {
                throw refuse(words)
            }
        }
        taken = rules.taken
        try refuseLoops(to: folder)
    }

    private func refuseLoops(to place: Directory) throws(FileError) {
        for (path, what) in taken {
            // A folder that cannot be opened takes nothing.
            guard let taken = try? Directory(path: path), SpoolLoop.contains(place, taken) else {
                continue
            }
            throw FileError(
                .use, place.path, .notPermitted,
                detail: "it (it is in \(what), \(path): outputs would be taken again)")
        }
    }

    /// The folder in which an output is placed: one beneath this if its name has folders.
    private func place(of output: Output, isMade: Bool) throws(FileError) -> Directory {
        guard output.isInFolder else { return folder }
        let place = try folder.place(ofOutput: output.facts.file, isMade: isMade).folder
        // This folder may contain a hot folder.
        try refuseLoops(to: place)
        return place
    }

    private func inode(of place: Directory) throws(FileError) -> UInt64 {
        UInt64(try place.information().st_ino)
    }

    /// An output that is to be placed.
    package struct Output {
        package let folders: BatchFolders
        package let index: Int
        package var facts: ImageStatus.Output
        package let existing: Delivery.Existing

        package init(
            _ folders: BatchFolders, index: Int, _ facts: ImageStatus.Output,
            _ existing: Delivery.Existing
        ) {
            self.folders = folders
            self.index = index
            self.facts = facts
            self.existing = existing
        }

        /// The name of the copy. Only this image of this spool has it, after each restart.
        package var copyName: FileName {
            let key = "\(folders.spool.root.path)\n\(folders.id)\n\(index)"
            return FileName(".darkroom-\(SHA256Digest.hex(of: Array(key.utf8)).prefix(32))~")
        }

        fileprivate var isInFolder: Bool { facts.file.utf8.contains(UInt8(ascii: "/")) }

        fileprivate var source: FileName { folders.pathInActive(BatchFile.output(index)) }
    }

    package enum Preparation {
        /// A copy is complete, and must be on the disk before it is promised this name.
        case copied(UndeliveredImage.Promise)
        /// The promised copy is there.
        case promised
        /// The promise was kept under a previous daemon.
        case placed
        /// A file has the name, so the image fails.
        case taken(String)
    }

    /// Why a copy cannot be made.
    package enum Refusal: Error {
        /// The output cannot be read.
        case output(FileError)
        case folder(FileError)
    }

    /// Makes the copy of an output, unless it was promised a name.
    ///
    /// - Parameters:
    ///   - promise: that of the journal, if its name may still be free.
    ///   - isPromised: whether the journal has any promise. Then a copy that is there stays.
    ///   - promised: names that other outputs get next.
    package func prepare(
        _ output: Output, _ promise: UndeliveredImage.Promise?, isPromised: Bool,
        besides promised: Set<ByteString>
    ) throws(Refusal) -> Preparation {
        do throws(FileError) {
            let place = try place(of: output, isMade: true)
            if let promise, let found = try look(for: output, promise, in: place) { return found }
            var hasCopy = false
            if isPromised, promise == nil { hasCopy = try self.hasCopy(of: output, in: place) }
            if !hasCopy { try discard(output, in: place) }
            guard let name = try freeName(for: output, besides: promised) else {
                return .taken(folder.path(of: FileName(output.facts.file)))
            }
            if !hasCopy { try copy(output, to: place) }
            return .copied(UndeliveredImage.Promise(name: name, folder: try inode(of: place)))
        } catch {
            let isOfSpool = error.path == output.folders.spool.active.path(of: output.source)
            throw isOfSpool ? .output(error) : .folder(error)
        }
    }

    /// What has become of a promise; nil if that cannot be known.
    private func look(
        for output: Output, _ promise: UndeliveredImage.Promise, in place: Directory
    ) throws(FileError) -> Preparation? {
        if try hasCopy(of: output, in: place) { return .promised }
        if try place.exists(output.copyName) { return nil }
        if promise.folder == (try inode(of: place)) { return .placed }
        return try holds(output.facts, as: promise.fileName, in: place) ? .placed : nil
    }

    private func hasCopy(of output: Output, in place: Directory) throws(FileError) -> Bool {
        try holds(output.facts, as: output.copyName, in: place)
    }

    private func holds(
        _ facts: ImageStatus.Output, as name: FileName, in place: Directory
    ) throws(FileError) -> Bool {
        guard let found = try place.information(of: name), found.isRegularFile,
            found.length == facts.bytes
        else { return false }
        return try place.open(name).sha256(path: place.path(of: name)) == facts.sha256
    }

    /// nil if the image fails because its name is taken.
    private func freeName(
        for output: Output, besides promised: Set<ByteString>
    ) throws(FileError) -> String? {
        let name = output.facts.file
        func isTaken(_ name: String) throws(FileError) -> Bool {
            if promised.contains(ByteString(name)) { return true }
            return try folder.information(ofOutput: name) != nil
        }
        switch output.existing {
        case .replace: return name
        case .fail: return try isTaken(name) ? nil : name
        case .number:
            guard try isTaken(name) else { return name }
            let number = try FreeNumber.search(from: 2) { number throws(FileError) in
                try isTaken(Self.name(name, number: number))
            }
            return Self.name(name, number: number)
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

    private func copy(_ output: Output, to place: Directory) throws(FileError) {
        let active = output.folders.spool.active
        let source = try active.open(output.source)
        let from = active.path(of: output.source)
        let (name, path) = (output.copyName, place.path(of: output.copyName))
        let copy = try place.create(name)
        do throws(FileError) {
            while true {
                let piece = try source.readPiece(upTo: 1 << 20, path: from)
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

    /// Waits until copies and their names are on the disk. After the first one, the others mostly are.
    package func sync(copiesOf outputs: [Output]) throws(FileError) {
        for output in outputs {
            let place = try place(of: output, isMade: false)
            try place.open(output.copyName).sync(path: place.path(of: output.copyName))
        }
        try sync(namesOf: outputs)
    }

    /// Removes a copy that gets no name.
    package func discard(_ output: Output) throws(FileError) {
        try ifExists { () throws(FileError) in
            try discard(output, in: place(of: output, isMade: false))
        }
    }

    private func discard(_ output: Output, in place: Directory) throws(FileError) {
        // It is not opened: somebody could have given the name to another file of the daemon.
        if try place.exists(output.copyName) { try place.remove(output.copyName) }
    }

    /// Gives the copy its name.
    ///
    /// - Returns: false if somebody else has taken the name since, or the copy. Then it is prepared again.
    package func place(
        _ output: Output, _ promise: UndeliveredImage.Promise
    ) throws(FileError) -> Bool {
        do {
            let place = try place(of: output, isMade: false)
            try place.rename(
                output.copyName, to: place, as: promise.fileName,
                replacing: output.existing == .replace, rivals: .some)
            return true
        } catch  where [.fileExists, .noSuchFileOrDirectory].contains(error.errno) {
            return false
        }
    }

    /// Waits until the names are on the disk. A network file system may not be able to.
    package func sync(namesOf outputs: [Output]) throws(FileError) {
        let inner = Set(outputs.flatMap { OutputPath.folders(of: $0.facts.file) })
        do {
            try folder.sync(outputFolders: inner.sorted())
            try folder.sync()
        } catch  where [.invalidArgument, .notSupported].contains(error.errno) {
            // Its server decides.
        }
    }
}

extension UndeliveredImage.Promise {
    /// The name in its folder.
    fileprivate var fileName: FileName {
        FileName(OutputPath.components(of: name).last?.string ?? name)
    }
}
