import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Glibc
import SystemPackage

/// The originals of pictures whose batch has ended.
///
/// With `originals: move`, they are in the answer before the last status (`BatchFolders.answerOriginals`). The second and
/// the third step are for what could not be copied then.
///
/// | step (for each picture all of whose images are filtered) | after a crash at this point                         |
/// |----------------------------------------------------------|-----------------------------------------------------|
/// | the answer is synced                                     | the restart does the same again                     |
/// | `move`: copied to `hot/KEY/original`, compared with what | the restart copies it again                         |
/// | was taken, synced                                        |                                                     |
/// | `move`: renamed to `outbox/ID/NAME.original.EXT`, synced | the restart finds it there                          |
/// | read; renamed in its folder to `.darkroom-IDENTITY~`     | the restart finds this name, and continues or gives |
/// |                                                          | a file that is not the picture its name back        |
/// | removed                                                  | the restart finds nothing left to remove            |
/// | `hot/KEY/NAME.batch` removed, when all pictures are done | nothing to do                                       |
///
/// The rename before the removal is necessary: somebody could put another file under the name between a look at it and
/// its removal. The file is read, because whoever may write to a picture can give it back its size and time after a
/// change. One that has changed is not renamed.
extension HotFolderStation {
    private static let copyName: FileName = "original"
    /// In nanoseconds.
    private static let retry: UInt64 = 60_000_000_000

    /// Does what is due for each batch that has not been forgotten.
    func tend() {
        guard let station = records?.folder, let batches = records?.batches, !batches.isEmpty else {
            return
        }
        let retries = time.now >= (records?.lastTry ?? 0) + Self.retry
        if retries { records?.lastTry = time.now }
        for batch in batches where !isStopped {
            let name = ByteString(batch.name)
            if records?.ended.contains(name) == true, !retries { continue }
            send(batch, station)
            do throws(FileError) {
                switch try batch.fate(in: spool) {
                case .waiting: continue
                case .gone:
                    if batch.originals != .keep { log.originalsKept(of: batch.name, in: path) }
                case .ended(let id, let status):
                    records?.ended.insert(name)
                    guard try settle(batch, id, status, station) else { continue }
                }
                try batch.forget(in: station)
                records?.ended.remove(name)
                records?.batches.removeAll { $0.name == batch.name }
            } catch {
                log.storageFailed(error, batch: batch.name)
            }
        }
    }

    /// - Returns: whether all originals are where they belong.
    private func settle(
        _ batch: HotBatch, _ id: String, _ status: Status, _ station: Directory
    ) throws(FileError) -> Bool {
        if batch.originals == .keep { return true }
        let pictures = batch.done(by: status)
        if pictures.isEmpty { return true }
        guard let root = openRoot() else { return false }
        let answer = try Directory(FileName(id), in: spool.outbox)
        if settings.isDurable {
            try answer.sync()
            try spool.outbox.sync()
        }
        var isDone = true
        var removed: [ByteString] = []
        func keep(_ picture: TakenPicture, _ why: String) {
            isDone = false
            refuse(
                picture.path, .originalKept,
                "batch \(id) has its outputs, but the original stays: \(why)")
        }
        var folders: [RelativePath: Directory] = [:]
        for picture in pictures {
            if isStopped { return false }
            do throws(FileError) {
                let parent = picture.path.folder
                let folder: Directory
                if let open = folders[parent] {
                    folder = open
                } else {
                    folder = try root.folder(beneath: parent)
                    folders[parent] = folder
                }
                var isAnswered = true
                if batch.originals == .move {
                    let name = batch.outputName(of: picture, in: status)
                    isAnswered = try answerOriginal(picture, name, folder, answer, station)
                    if isStopped { return false }
                }
                switch try isAnswered ? remove(picture, from: folder) : .hasChanged {
                case .removed(let isLast):
                    // The ledger knows its other hard links by this entry, which the listings forget.
                    if isLast { removed.append(picture.stamp.identity) }
                    refused[picture.path] = nil
                case .isGone: refused[picture.path] = nil
                case .hasChanged: keep(picture, "its content is another one now")
                case .nameIsTaken:
                    let hidden = Self.hiddenName(of: picture).text
                    keep(picture, "its folder contains \(hidden), which is another file")
                }
            } catch  where [.noSuchFileOrDirectory, .notDirectory].contains(error.errno) {
                // Somebody has moved or removed it.
            } catch {
                if isStopped { return false }
                keep(picture, error.message)
            }
        }
        if settings.isDurable {
            // A network file system may not be able to.
            for folder in folders.values { try? folder.sync() }
        }
        // What is gone need not be remembered until the next listings.
        inLedger { ledger throws(FileError) in try ledger.add([], replacing: removed) }
        return isDone
    }

    /// Copies an original into the answer, unless it is there.
    ///
    /// - Returns: false if its content is another one now. If it is not in its folder, there is nothing to copy.
    private func answerOriginal(
        _ picture: TakenPicture, _ name: String, _ folder: Directory, _ answer: Directory,
        _ station: Directory
    ) throws(FileError) -> Bool {
        guard let file = try open(picture, in: folder) else { return true }
        let shown = folder.path(of: picture.path.name)
        guard let target = try picture.free(name, in: answer) else { return true }
        let copy = try station.create(Self.copyName, replacing: true)
        let place = station.path(of: Self.copyName)
        let digest: String
        do throws(Copying) {
            digest = try Self.copy(
                file, length: picture.stamp.size, shown, to: copy, place, stop: stopped)
        } catch {
            try? station.remove(Self.copyName)
            throw error.error
        }
        guard ByteString(digest) == picture.sha256 else {
            try station.remove(Self.copyName)
            return false
        }
        if settings.isDurable { try copy.sync(path: place) }
        try station.rename(Self.copyName, to: answer, as: target)
        if settings.isDurable { try answer.sync() }
        return true
    }

    /// Opens the original under its name, or under the hidden one after a crash; nil if neither is the picture.
    private func open(
        _ picture: TakenPicture, in folder: Directory
    ) throws(FileError) -> Descriptor? {
        for name in [picture.path.name, Self.hiddenName(of: picture)] {
            guard let entry = try folder.information(of: name), picture.stamp.matches(entry) else {
                continue
            }
            let file = try folder.open(name)
            // It may have been exchanged since then.
            if picture.stamp.matches(try file.information(path: folder.path(of: name))) {
                return file
            }
        }
        return nil
    }

    private enum Removal {
        /// - Parameter isLast: whether the file had no other hard link.
        case removed(isLast: Bool)
        /// It is not there any more, or has changed visibly.
        case isGone
        /// Its attributes are those of the picture, but its content is not.
        case hasChanged
        /// Somebody else uses the hidden name.
        case nameIsTaken
    }

    private static func hiddenName(of picture: TakenPicture) -> FileName {
        FileName(".darkroom-\(picture.stamp.identity)~")
    }

    /// Removes an original that has not changed.
    private func remove(
        _ picture: TakenPicture, from folder: Directory
    ) throws(FileError) -> Removal {
        let name = picture.path.name
        let hidden = Self.hiddenName(of: picture)
        let isNamed = try folder.information(of: name).map(picture.stamp.matches) ?? false
        if let former = try folder.information(of: hidden), isNamed {
            // The name can be known beforehand. A former daemon would have left the picture under one of both names.
            guard picture.stamp.matches(former) else { return .nameIsTaken }
            // A file system that cannot refuse to replace leaves both names (`renameByLink`).
            try folder.remove(hidden)
        }
        if isNamed {
            guard try isUnchanged(picture, name, in: folder) else { return .hasChanged }
            try folder.rename(name, to: folder, as: hidden, rivals: .some)
            FaultPoint.hotOriginalHidden.pass()
        }
        guard let information = try folder.information(of: hidden) else { return .isGone }
        var removal = Removal.isGone
        if picture.stamp.matches(information) {
            // If it had its name, it was read above: it has the same inode.
            var isPicture = isNamed
            if !isNamed { isPicture = try isUnchanged(picture, hidden, in: folder) }
            if isPicture {
                try folder.remove(hidden)
                FaultPoint.hotOriginalRemoved.pass()
                return .removed(isLast: information.st_nlink <= 1)
            }
            removal = .hasChanged
        }
        // Somebody has put another file in its place in between.
        do {
            try folder.rename(hidden, to: folder, as: name, rivals: .some)
        } catch  where error.errno == .fileExists {
            try folder.rename(
                hidden, to: folder, as: FileName("2-").appending(name), rivals: .some)
        }
        return removal
    }

    /// Whether a file with the attributes of a picture has its content too.
    private func isUnchanged(
        _ picture: TakenPicture, _ name: FileName, in folder: Directory
    ) throws(FileError) -> Bool {
        let shown = folder.path(of: name)
        let file = try folder.open(name)
        guard picture.stamp.matches(try file.information(path: shown)) else { return false }
        var digest = SHA256Digest()
        var rest = picture.stamp.size
        while rest > 0, !isStopped {
            let piece = try file.readPiece(upTo: rest, path: shown)
            if piece.isEmpty { break }
            digest.update(piece)
            rest -= piece.count
        }
        if isStopped { throw FileError(.read, shown, .canceled) }
        return ByteString(digest.hex()) == picture.sha256
    }
}

extension FileName {
    fileprivate func appending(_ other: FileName) -> FileName {
        FileName(bytes: bytes + other.bytes)
    }
}
