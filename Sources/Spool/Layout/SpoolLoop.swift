import DarkroomCore
import Glibc

/// Whether a folder contains the spool, or is part of it. The outputs would be taken as pictures again, without end.
package enum SpoolLoop {
    /// Deeper paths than this are not examined.
    private static let depth = 256

    /// The problem of a hot folder; nil if there is none. The folders are compared by device and inode, so links and
    /// bind mounts do not hide it.
    package static func problem(between folder: Directory, and spool: Directory) -> String? {
        if contains(spool, folder) {
            return "it contains the spool, \(spool.path): outputs would be taken as pictures again"
        }
        if contains(folder, spool) {
            return
                "it is part of the spool, \(spool.path): outputs would be taken as pictures again"
        }
        return nil
    }

    package static func isSame(_ a: Directory, _ b: Directory) -> Bool {
        guard let a = try? a.information(), let b = try? b.information() else { return false }
        return (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)
    }

    /// Whether a folder is `above` or beneath it. A folder that this process may not list ends the search; the check of
    /// the configuration compares the paths too.
    package static func contains(_ folder: Directory, _ above: Directory) -> Bool {
        var place = folder
        for _ in 0..<depth {
            if isSame(place, above) { return true }
            guard let parent = try? Directory("..", in: place), !isSame(parent, place) else {
                return false
            }
            place = parent
        }
        return false
    }
}
