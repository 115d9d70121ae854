import DarkroomCore
import Glibc
import SystemPackage

/// The page of a batch that the daemon makes, `outbox/ID/page`.
///
/// | state      | active/ID/page           | outbox/ID/page              | next step                                       |
/// |------------|--------------------------|-----------------------------|-------------------------------------------------|
/// | collecting | previews of ended images | that of an earlier end      | the last image ends, and the files are written  |
/// | made       | whole                    | that of an earlier end      | an earlier page is renamed to `active/ID/page.old` |
/// | withdrawn  | whole                    | –                           | it is renamed to `outbox/ID/page`               |
/// | moved      | –                        | whole                       | the last status is written                      |
///
/// An earlier page is there after a retry. After a restart, the files are written again in each of these states, and the
/// previews are kept: those that are not in `active/ID/page` get a second name there. A page is not synced before its
/// batch ends: after a failure of the machine, a file of it may be empty, and `darkroom page` makes another one.
package struct AnswerPage: Sendable {
    private let folders: BatchFolders

    package init(of folders: BatchFolders) {
        self.folders = folders
    }

    /// The folder of the previews, within that of a page.
    package static let previews: FileName = "previews"
    /// The file that marks a folder of pages.
    package static let marker: FileName = "page.json"
    package static let markerContent = Array("{\"schemaVersion\": 1}\n".utf8)

    /// A small copy of a picture.
    package enum Preview: UInt8, CaseIterable, Sendable {
        /// The source, upright, and in the same file its difference from the result, if they have the same size.
        case before = 1
        /// The result, if it is large.
        case after = 2

        /// The file for the image with this index.
        package func name(of index: Int) -> FileName {
            switch self {
            case .before: "\(index + 1)-before.jpg"
            case .after: "\(index + 1).jpg"
            }
        }
    }

    /// Which small copies an image has.
    package struct Previews: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        init(_ preview: Preview) { rawValue = preview.rawValue }

        package static let before = Previews(.before)
        package static let after = Previews(.after)
    }

    /// Tells which previews the image with an index has in the folder of the page. The second argument is whether its
    /// result has a copy: of small ones there is none, and to look for a file that is not there takes long.
    package typealias PreviewFinder = (_ index: Int, _ isReduced: Bool) -> Previews

    // MARK: Previews

    /// The file of a preview while its batch is in work, from `active/ID`.
    package static func path(of preview: Preview, _ index: Int) -> FileName {
        BatchFile.page / previews / preview.name(of: index)
    }

    /// Creates the folder for previews in `active/ID`.
    package static func makePreviews(in active: Directory) throws(FileError) {
        _ = try active.folder(BatchFile.page).folder(previews)
    }

    // MARK: The page

    /// How often a page is begun. If the process ends each time, the batch ends without a page.
    private static let mostAttempts = 6

    /// Makes the page, and puts it into the outbox.
    ///
    /// - Parameter write: writes the files of the page. It gets the folder of the page, where files of an earlier attempt
    ///   may be.
    package func make(
        _ write: (_ page: Directory, _ previews: PreviewFinder) throws -> Void
    ) throws {
        let active = try folders.active()
        try countAttempt(in: active)
        do {
            let former = try formerPages(in: active)
            let page = try active.folder(BatchFile.page)
            let previews = try page.folder(Self.previews)
            try write(page) { index, isReduced in
                Self.find(index, isReduced, in: previews, orIn: former)
            }
            try page.write(Self.markerContent, to: Self.marker, replacing: true, durably: false)
            FaultPoint.pageMade.pass()
            try withdraw(to: active)
            try active.rename(BatchFile.page, to: folders.restoredOutbox(), as: BatchFile.page)
            FaultPoint.pageMoved.pass()
        } catch {
            try? active.remove(BatchFile.pageAttempts)
            throw error
        }
        try? active.remove(BatchFile.pageAttempts)
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

    /// The previews of earlier pages.
    private func formerPages(in active: Directory) throws(FileError) -> [Directory] {
        let places = [
            (active, BatchFile.formerPage), (try folders.restoredOutbox(), BatchFile.page),
        ]
        return places.compactMap { folder, name in
            guard let page = try? Directory(name, in: folder) else { return nil }
            return try? Directory(Self.previews, in: page)
        }
    }

    /// The previews of an image. All are of one attempt: those in `previews` or, if there are none, the former ones.
    private static func find(
        _ index: Int, _ isReduced: Bool, in previews: Directory, orIn former: [Directory]
    ) -> Previews {
        func isThere(_ preview: Preview, in folder: Directory) -> Bool {
            let found = try? folder.information(of: preview.name(of: index))
            return found.map { $0.isRegularFile && $0.length > 0 } ?? false
        }
        func those(in folder: Directory) -> Previews {
            var found: Previews = []
            if isThere(.before, in: folder) { found.insert(.before) }
            if isReduced, isThere(.after, in: folder) { found.insert(.after) }
            return found
        }
        let found = those(in: previews)
        if !found.isEmpty { return found }
        for folder in former {
            var found = those(in: folder)
            if found.isEmpty { continue }
            for preview in Preview.allCases where found.contains(Previews(preview)) {
                let name = preview.name(of: index)
                if (try? folder.link(name, to: previews, as: name)) == nil {
                    found.remove(Previews(preview))
                }
            }
            return found
        }
        return []
    }

    /// Takes an earlier page out of the outbox.
    private func withdraw(to active: Directory) throws(FileError) {
        let outbox = try folders.restoredOutbox()
        guard try outbox.exists(BatchFile.page) else { return }
        guard try Self.bytesOnDisk(in: outbox) != nil else {
            throw FileError("replace", outbox.path(of: BatchFile.page), .fileExists)
        }
        if try active.exists(BatchFile.formerPage) {
            try active.removeTree(BatchFile.formerPage)
        }
        try outbox.rename(BatchFile.page, to: active, as: BatchFile.formerPage)
        FaultPoint.pageWithdrawn.pass()
    }
}

extension AnswerPage {
    // MARK: A page in an answer

    /// Whether `answer` has a page.
    package static func isThere(in answer: Directory) -> Bool {
        guard let page = try? Directory(BatchFile.page, in: answer) else { return false }
        return (try? page.exists(marker)) == true
    }

    /// The disk space of the page in `answer`; nil if `page` there is something else, or has a folder that a page does
    /// not have.
    static func bytesOnDisk(in answer: Directory) throws(FileError) -> Int? {
        guard let page = try FinishedBatch.open(BatchFile.page, in: answer) else { return nil }
        guard try page.exists(marker) else { return nil }
        var bytes = 0
        for name in try page.names() {
            guard let information = try page.information(of: name) else { continue }
            bytes = bytes.saturatingAdd(information.bytesOnDisk)
            guard information.isFolder else { continue }
            guard name == previews else { return nil }
            let folder = try Directory(previews, in: page)
            for name in try folder.names() {
                guard let information = try folder.information(of: name) else { continue }
                if information.isFolder { return nil }
                bytes = bytes.saturatingAdd(information.bytesOnDisk)
            }
        }
        return bytes
    }

    /// Removes the page in `answer`. Symbolic links are removed and not followed. Another folder in it does not come
    /// from Darkroom, and this throws EISDIR.
    ///
    /// - Parameter removed: called after each file; if it returns false, this ends.
    /// - Returns: whether all of it is gone.
    static func remove(
        from answer: Directory, removed: () -> Bool
    ) throws(FileError) -> Bool {
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

extension Directory {
    /// Opens the folder `name` in this one, and creates it if it is missing.
    fileprivate func folder(_ name: FileName) throws(FileError) -> Directory {
        do {
            try makeDirectory(name)
        } catch  where error.errno == .fileExists {
            // Another image's thread, or an earlier process, has made it.
        }
        return try Directory(name, in: self)
    }
}
