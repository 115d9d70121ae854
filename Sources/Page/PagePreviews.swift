import DarkroomAnswer
import DarkroomCore
import DarkroomPicture
import DarkroomSpool
import SystemPackage

/// The small copies for a page that the daemon makes: those of the batch's log, which go into sheets, and those of an
/// earlier page of the batch.
struct PagePreviews {
    struct Copies {
        /// The copy of the source; nil if there is none.
        var before: PreviewSheet.Place?
        /// Whether there is one of the result. Only large results have one.
        var hasAfter = false
    }

    private let folders: AnswerPage.PreviewFolders
    /// By the indices of the images.
    private var logged: [Int: Copies] = [:]
    /// For each folder of an earlier page, the sources in its sheets; nil before they are needed.
    private var former: [[Int: PreviewSheet.Place]]?
    private var used: Set<FileName> = []

    /// Writes the sheets.
    ///
    /// - Parameters:
    ///   - count: the number of the batch's images. Lines of others are ignored.
    ///   - mayGoOn: asked before each; if it returns false, this throws ECANCELED.
    init(
        in folders: AnswerPage.PreviewFolders, of count: Int, while mayGoOn: () -> Bool
    ) throws(FileError) {
        self.folders = folders
        var logged: [Int: Copies] = [:]
        var draft = PreviewSheet.Draft()
        func writeSheet() throws(FileError) {
            guard mayGoOn() else { throw FileError(.write, folders.new.path, .canceled) }
            try folders.new.write(draft.content, to: draft.sheet, durably: false)
            draft = PreviewSheet.Draft()
        }
        try PreviewLog.forEachLine(in: folders.active) { line, base64 throws(FileError) in
            guard line.index < count else { return }
            logged[line.index] = Copies(
                before: line.facts.map {
                    draft.add(line.index, $0, base64: base64)
                }, hasAfter: line.hasAfter)
            if draft.isFull { try writeSheet() }
        }
        if draft.count > 0 { try writeSheet() }
        self.logged = logged
    }

    /// The copies of an image: those of the log, or else all from one earlier page. From there, they get a second name.
    ///
    /// - Parameter isReduced: whether the result of the image has a copy. Small results have none.
    mutating func copies(of index: Int, isReduced: Bool) -> Copies {
        let copies = loggedCopies(of: index) ?? formerCopies(of: index, isReduced)
        if let sheet = copies.before?.sheet { used.insert(sheet) }
        return copies
    }

    private func loggedCopies(of index: Int) -> Copies? {
        guard var copies = logged[index] else { return nil }
        if copies.hasAfter, !Self.isThere(index, in: folders.new) {
            // The process ended when the page was in the outbox.
            copies.hasAfter = folders.former.contains {
                Self.isThere(index, in: $0) && add(AnswerPage.copy(of: index), from: $0)
            }
        }
        return copies
    }

    private mutating func formerCopies(of index: Int, _ isReduced: Bool) -> Copies {
        let former = former ?? folders.former.map(Self.sheets)
        self.former = former
        for (folder, sheets) in zip(folders.former, former) {
            var found = Copies(
                before: sheets[index], hasAfter: isReduced && Self.isThere(index, in: folder))
            if found.before == nil, !found.hasAfter { continue }
            if let sheet = found.before?.sheet, !add(sheet, from: folder) { found.before = nil }
            if found.hasAfter { found.hasAfter = add(AnswerPage.copy(of: index), from: folder) }
            return found
        }
        return Copies()
    }

    /// Gives a file of an earlier page a second name.
    private func add(_ name: FileName, from folder: Directory) -> Bool {
        do {
            try folder.link(name, to: folders.new, as: name)
            return true
        } catch {
            // With another image of the sheet, or by an earlier process.
            return error.errno == .fileExists
        }
    }

    /// Removes the sheets of which nothing is shown: those of an earlier attempt.
    func removeUnused() {
        for name in (try? folders.new.names()) ?? []
        where PreviewSheet.isName(name) && !used.contains(name) {
            try? folders.new.remove(name)
        }
    }

    private static func sheets(in folder: Directory) -> [Int: PreviewSheet.Place] {
        let names = (try? folder.names()) ?? []
        var result: [Int: PreviewSheet.Place] = [:]
        for name in names where PreviewSheet.isName(name) {
            guard let bytes = try? folder.read(name, upTo: PreviewSheet.mostBytes),
                let places = PreviewSheet.places(in: bytes, of: name)
            else { continue }
            // An image that was filtered again is in a later sheet, too.
            result.merge(places) {
                $1.sheet < $0.sheet ? $0 : $1
            }
        }
        return result
    }

    private static func isThere(_ index: Int, in folder: Directory) -> Bool {
        let found = try? folder.information(of: AnswerPage.copy(of: index))
        return found.map { $0.isRegularFile && $0.length > 0 } ?? false
    }
}
