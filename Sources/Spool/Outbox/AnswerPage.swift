import DarkroomAnswer
import DarkroomCore
import Glibc
import SystemPackage

/// The page of a batch that the daemon makes, `outbox/ID/page`.
///
/// | state      | active/ID/page           | outbox/ID/page              | next step                                       |
/// |------------|--------------------------|-----------------------------|-------------------------------------------------|
/// | collecting | copies of large results  | that of an earlier end      | the last image ends, and the files are written  |
/// | made       | whole                    | that of an earlier end      | an earlier page is renamed to `active/ID/page.old` |
/// | withdrawn  | whole                    | –                           | it is renamed to `outbox/ID/page`               |
/// | moved      | –                        | whole                       | the last status is written                      |
///
/// An earlier page is there after a retry. If the batch does not get a page this time, it is only withdrawn. After a
/// restart, the files are written again in each of these states, and the previews are kept: those of sources are in
/// `active/ID/previews`, others in an earlier page, from which they get a second name in `active/ID/page`. A page is not
/// synced before its batch ends: after a failure of the machine, a file of it may be empty, and `darkroom page` makes
/// another one.
package struct AnswerPage: Sendable {
    private let folders: BatchFolders

    package init(of folders: BatchFolders) { self.folders = folders }

    /// The folder of the previews, within that of a page.
    package static let previews: FileName = "previews"
    /// The file that marks a folder of pages.
    package static let marker: FileName = "page.json"
    package static let markerContent = Array("{\"schemaVersion\": 1}\n".utf8)

    // MARK: Previews

    /// Where small copies are.
    package struct PreviewFolders {
        /// The folder of the batch in work, with the log.
        package let active: Directory
        /// The folder of the new page's previews.
        package let new: Directory
        /// The folders of earlier pages' previews, the last one first.
        package let former: [Directory]
    }

    /// The file for a small copy of a large result. The copies of sources are in sheets, see `PreviewSheet`.
    package static func copy(of index: Int) -> FileName { "\(index + 1).jpg" }

    /// Writes it while the batch is in work. The first one creates the folder. If it cannot be written, none is left.
    package static func write(
        _ file: [UInt8], copyOf index: Int, in batch: BatchFolders
    ) throws(FileError) {
        let active = batch.spool.active
        let path = FileName(batch.id) / BatchFile.page / previews / copy(of: index)
        do throws(FileError) {
            do throws(FileError) {
                try active.write(file, to: path, replacing: true, durably: false)
            } catch  where error.errno == .noSuchFileOrDirectory {
                _ = try batch.active().folder(BatchFile.page).folder(previews)
                try active.write(file, to: path, replacing: true, durably: false)
            }
        } catch {
            try? active.remove(path)
            throw error
        }
    }

    // MARK: The page

    /// How often a page is begun. If the process ends each time, the batch ends without a page.
    private static let mostAttempts = 6

    /// Makes the page, and puts it into the outbox.
    ///
    /// - Parameter write: writes the files of the page. It gets the folder of the page, where files of an earlier attempt
    ///   may be.
    package func make(
        _ write: (_ page: Directory, _ previews: PreviewFolders) throws -> Void
    ) throws {
        let active = try folders.active()
        try countAttempt(in: active)
        defer { try? active.remove(BatchFile.pageAttempts) }
        let former = try formerPages(in: active)
        let page = try active.folder(BatchFile.page)
        let previews = try page.folder(Self.previews)
        try write(page, PreviewFolders(active: active, new: previews, former: former))
        try page.write(Self.markerContent, to: Self.marker, replacing: true, durably: false)
        FaultPoint.pageMade.pass()
        try withdraw(to: active)
        try active.rename(BatchFile.page, to: folders.restoredOutbox(), as: BatchFile.page)
        FaultPoint.pageMoved.pass()
    }

    /// Takes a page of an earlier end out of the answer, if this end gets none: it shows other states and pictures. It goes
    /// with the batch's folder in `active`.
    package func withdrawFormer() throws(FileError) {
        guard try folders.restoredOutbox().exists(BatchFile.page) else { return }
        try withdraw(to: folders.active())
    }

    /// Removes what there is of a page that could not be made, because the space may be needed.
    package func discard() {
        guard let active = try? folders.active() else { return }
        try? active.removeTree(BatchFile.page)
    }

    private func countAttempt(in active: Directory) throws {
        let file = try active.append(to: BatchFile.pageAttempts)
        let path = active.path(of: BatchFile.pageAttempts)
        guard try file.length(path: path) < Self.mostAttempts else {
            throw Failure(
                .internalError,
                "\(folders.id): darkroomd has ended \(Self.mostAttempts) times while it made the page"
            )
        }
        try file.write([UInt8(ascii: ".")], path: path)
    }

    private func formerPages(in active: Directory) throws(FileError) -> [Directory] {
        let places = [
            (active, BatchFile.formerPage), (try folders.restoredOutbox(), BatchFile.page),
        ]
        return places.compactMap { folder, name in
            guard let page = try? Directory(name, in: folder) else { return nil }
            return try? Directory(Self.previews, in: page)
        }
    }

    private func withdraw(to active: Directory) throws(FileError) {
        let outbox = try folders.restoredOutbox()
        guard try outbox.exists(BatchFile.page) else { return }
        guard try Self.isOwn(in: outbox) else {
            throw FileError(.replace, outbox.path(of: BatchFile.page), .fileExists)
        }
        if try active.exists(BatchFile.formerPage) { try active.removeTree(BatchFile.formerPage) }
        try outbox.rename(BatchFile.page, to: active, as: BatchFile.formerPage)
        FaultPoint.pageWithdrawn.pass()
    }
}

extension AnswerPage {
    // MARK: A page in an answer

    package static func isThere(in answer: Directory) -> Bool {
        guard let page = try? Directory(BatchFile.page, in: answer) else { return false }
        return (try? page.exists(marker)) == true
    }

    /// Whether `page` in `answer` is a page, without a folder that a page does not have.
    static func isOwn(in answer: Directory) throws(FileError) -> Bool {
        guard let page = try FinishedBatch.open(BatchFile.page, in: answer),
            try page.exists(marker)
        else { return false }
        for name in try page.names() where try page.information(of: name)?.isFolder == true {
            guard name == previews else { return false }
            let folder = try Directory(previews, in: page)
            for name in try folder.names()
            where try folder.information(of: name)?.isFolder == true { return false }
        }
        return true
    }

    /// Removes the page in `answer`. Symbolic links are removed and not followed. Another folder in it does not come
    /// from Darkroom, and this throws EISDIR.
    ///
    /// - Parameter removed: called after each file; if it returns false, this ends.
    /// - Returns: whether all of it is gone.
    static func remove(from answer: Directory, removed: () -> Bool) throws(FileError) -> Bool {
        let page = try Directory(BatchFile.page, in: answer)
        for name in try page.names() {
            if name == previews, let folder = try FinishedBatch.open(name, in: page) {
                for name in try folder.names() {
                    try folder.remove(name)
                    guard removed() else { return false }
                }
                try page.removeDirectory(name)
            } else {
                try page.remove(name)
                guard removed() else { return false }
            }
        }
        try answer.removeDirectory(BatchFile.page)
        return true
    }
}
