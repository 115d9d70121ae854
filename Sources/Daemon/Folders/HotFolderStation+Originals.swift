import DarkroomCore
import DarkroomSpool
import Glibc
import SystemPackage

/// The originals of pictures whose batch has ended.
///
/// | step (for each picture all of whose images are filtered) | after a crash at this point                         |
/// |----------------------------------------------------------|-----------------------------------------------------|
/// | the answer is synced                                     | the restart does the same again                     |
/// | `move`: copied to `hot/KEY/original`, compared with what | the restart copies it again                         |
/// | was taken, synced                                        |                                                     |
/// | `move`: renamed to `outbox/ID/NAME.original.EXT`, synced | the restart finds it there                          |
/// | renamed in its folder to `.darkroom-INODE~`, examined    | the restart finds this name, and continues or gives |
/// |                                                          | a file that is not the picture its name back        |
/// | removed                                                  | the restart finds nothing left to remove            |
/// | `hot/KEY/NAME.batch` removed, when all pictures are done | nothing to do                                       |
///
/// The rename before the removal is necessary: somebody could put another file under the name between a look at it and
/// its removal.
extension HotFolderStation {
    private static let copyName: FileName = "original"
    /// In nanoseconds.
    private static let retry: UInt64 = 60_000_000_000

    /// Does what is due for each batch that has not been forgotten.
    func tend() {
        guard let station, !batches.isEmpty else { return }
        let retries = time.now >= lastTry + Self.retry
        if retries { lastTry = time.now }
        for batch in batches where !isStopped {
            let name = ByteString(batch.name)
            if ended.contains(name), !retries { continue }
            send(batch, station)
            do throws(FileError) {
                switch try batch.fate(in: spool) {
                case .waiting: continue
                case .gone:
                    if batch.originals != .keep { log.originalsKept(of: batch.name, in: path) }
                case .ended(let id, let status):
                    ended.insert(name)
                    guard try settle(batch, id, status, station) else { continue }
                }
                try batch.forget(in: station)
                ended.remove(name)
                batches.removeAll { $0.name == batch.name }
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
                if batch.originals == .move {
                    try answerOriginal(
                        picture, batch.outputName(of: picture, in: status), root, answer, station)
                }
                if try remove(picture, from: folder) { removed.append(picture.stamp.identity) }
                refused[picture.path] = nil
            } catch  where [.noSuchFileOrDirectory, .notDirectory].contains(error.errno) {
                // Somebody has moved or removed it.
            } catch {
                isDone = false
                refuse(
                    picture.path, .originalKept,
                    "batch \(id) has its outputs, but the original stays: \(error.message)")
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

    /// Copies an original into the answer. One that has changed is another picture and stays.
    private func answerOriginal(
        _ picture: TakenPicture, _ name: String, _ root: Directory, _ answer: Directory,
        _ station: Directory
    ) throws(FileError) {
        let shown = "\(path)/\(picture.path.text)"
        let file: Descriptor
        do {
            file = try root.open(beneath: picture.path)
        } catch  where error.errno == .noSuchFileOrDirectory {
            return
        }
        guard picture.stamp.matches(try file.information(path: shown)) else { return }
        let ending = picture.path.name.text.partsAtLastDot.map { ".\($0.ending)" } ?? ""
        let base = "\(name).original"
        var number = 1
        while true {
            let target = FileName(number == 1 ? base + ending : "\(base)-\(number)\(ending)")
            if try answer.exists(target) {
                let there = try answer.open(target)
                let digest = try there.sha256(path: answer.path(of: target))
                if ByteString(digest) == picture.sha256 { return }
                number += 1
                continue
            }
            let copy = try station.create(Self.copyName, replacing: true)
            let place = station.path(of: Self.copyName)
            var digest = SHA256Digest()
            while true {
                let piece = try file.readPiece(path: shown)
                if piece.isEmpty { break }
                digest.update(piece)
                try copy.write(piece, path: place)
            }
            guard ByteString(digest.hex()) == picture.sha256 else {
                return try station.remove(Self.copyName)
            }
            if settings.isDurable { try copy.sync(path: place) }
            FaultPoint.hotOriginalCopied.pass()
            try station.rename(Self.copyName, to: answer, as: target)
            FaultPoint.hotOriginalAnswered.pass()
            if settings.isDurable { try answer.sync() }
            return
        }
    }

    /// Removes an original that has not changed.
    ///
    /// - Returns: false if it is not there any more.
    private func remove(
        _ picture: TakenPicture, from folder: Directory
    ) throws(FileError) -> Bool {
        let name = picture.path.name
        let hidden = FileName(".darkroom-\(picture.stamp.identity)~")
        if try !folder.exists(hidden) {
            guard let information = try folder.information(of: name),
                picture.stamp.matches(information)
            else { return false }
            try folder.rename(name, to: folder, as: hidden)
            FaultPoint.hotOriginalHidden.pass()
        }
        guard let information = try folder.information(of: hidden) else { return false }
        if picture.stamp.matches(information) {
            try folder.remove(hidden)
            FaultPoint.hotOriginalRemoved.pass()
            return true
        }
        // Somebody has put another file in its place in between.
        do {
            try folder.rename(hidden, to: folder, as: name)
        } catch  where error.errno == .fileExists {
            try folder.rename(hidden, to: folder, as: FileName("2-").appending(name))
        }
        return false
    }
}

extension FileName {
    fileprivate func appending(_ other: FileName) -> FileName {
        FileName(bytes: bytes + other.bytes)
    }
}
