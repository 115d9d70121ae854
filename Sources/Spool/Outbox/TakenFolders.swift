import DarkroomCore

/// The folders from which Darkroom takes files, or which are its own, for the moment of a pass. Nothing is placed there:
/// it would be taken again. Each is opened once, when a place is first compared with them.
package final class TakenFolders {
    private let folders: [(path: String, what: String)]
    private lazy var opened = folders.compactMap { path, what in
        // A folder that cannot be opened takes nothing.
        (try? Directory(path: path)).map { (folder: $0, words: "\(what), \(path)") }
    }

    /// - Parameter folders: with words for each.
    package init(_ folders: [(path: String, what: String)]) { self.folders = folders }

    /// Whether it is made of the folders with these paths.
    package func areThose(of folders: [(path: String, what: String)]) -> Bool {
        self.folders.map(\.path) == folders.map(\.path)
    }

    /// The words for one that contains the place; nil if none does.
    func above(_ place: Directory) -> String? {
        opened.first { SpoolLoop.contains(place, $0.folder) }?.words
    }

    /// The words for one that the place contains; nil if it contains none.
    func beneath(_ place: Directory) -> String? {
        opened.first { SpoolLoop.contains($0.folder, place) }?.words
    }
}
