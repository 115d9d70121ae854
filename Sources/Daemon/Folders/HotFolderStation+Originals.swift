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
/// | read; renamed in its folder to its hidden name           | the restart finds this name, and continues or gives |
/// |                                                          | a file that is not the picture its name back        |
/// | removed                                                  | the restart finds nothing left to remove            |
/// | `hot/KEY/NAME.batch` removed, when all pictures are done | nothing to do                                       |
///
/// `HotOriginal` says why it is read, and renamed before it is removed. One that has changed is not renamed.
///
/// With `originals: {move: FOLDER}`, they were moved before the last status (`OriginalsFolder`). What is left is to tell
/// of those that have changed.
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
                    if [.move, .remove].contains(batch.originals) {
                        log.originalsKept(of: batch.name, in: path)
                    }
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
        func original(_ picture: TakenPicture, _ folder: Directory) -> HotOriginal {
            HotOriginal(picture, in: folder, batch.hidingKey, stop: stopped)
        }
        let moved = batch.originals == .place ? batch.moved(by: status) : []
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
                if batch.originals == .place {
                    let isOther = try original(picture, folder).hasOtherContent()
                    if isOther, !moved.contains(picture.source) {
                        keep(picture, "its content is another one now")
                    } else {
                        refused[picture.path] = nil
                    }
                    continue
                }
                var isAnswered = true
                if batch.originals == .move {
                    let name = batch.outputName(of: picture, in: status)
                    isAnswered = try place(original(picture, folder), as: name, in: answer, station)
                    if isStopped { return false }
                }
                switch try isAnswered ? original(picture, folder).remove() : .hasChanged {
                case .done(let information):
                    // The ledger knows its other hard links by this entry, which the listings forget.
                    if information.st_nlink <= 1 { removed.append(picture.stamp.identity) }
                    refused[picture.path] = nil
                case .isGone: refused[picture.path] = nil
                case .hasChanged: keep(picture, "its content is another one now")
                case .nameIsTaken:
                    let hidden = original(picture, folder).hiddenName.text
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
    private func place(
        _ original: HotOriginal, as name: String, in answer: Directory, _ station: Directory
    ) throws(FileError) -> Bool {
        guard let file = try original.open() else { return true }
        let picture = original.picture
        let shown = original.folder.path(of: picture.path.name)
        guard let target = try picture.free(name, in: answer) else { return true }
        let copy = try station.create(Self.copyName, replacing: true)
        let place = station.path(of: Self.copyName)
        let digest: String
        do throws(FileError) {
            digest = try file.copySparsely(
                upTo: picture.stamp.size, path: shown, to: copy, place, stop: stopped)
        } catch {
            try? station.remove(Self.copyName)
            throw error
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
}
