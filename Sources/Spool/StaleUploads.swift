import DarkroomCore
import Foundation
import Glibc

/// Files in `tmp/` that someone began to submit and left there.
package struct StaleUploads: Sendable, Equatable {
    /// Seconds after which a file counts as left: maildir's 36 hours.
    package static let age = 36.0 * 3600

    package var count = 0
    package var bytes = 0
    /// The name of the one that has been left alone for longest.
    var oldest: String?

    /// Looks for files that nobody has touched for `age` seconds. `remove` deletes them too; what cannot be
    /// deleted is passed over, for the folder's permissions are the administrator's.
    package static func find(
        in folder: Directory, olderThan age: Double, now: Date, remove: Bool = false,
        isStopped: @Sendable () -> Bool = { false }
    ) throws(FileError) -> StaleUploads {
        var stale = StaleUploads()
        var earliest = Double.infinity
        var pace = Pace()
        for name in try folder.names() where !isStopped() {
            pace.step()
            guard let information = try folder.information(of: name),
                information.st_mode & S_IFMT == S_IFREG
            else { continue }
            // A copy may keep the time of its original; that of its last change cannot be set.
            let touched = max(information.st_mtim.seconds, information.st_ctim.seconds)
            guard now.timeIntervalSince1970 - touched >= age else { continue }
            if remove, (try? folder.remove(name)) == nil { continue }
            stale.count += 1
            stale.bytes = stale.bytes.saturatingAdd(information.length)
            if touched < earliest {
                earliest = touched
                stale.oldest = name.text
            }
        }
        return stale
    }
}

extension timespec {
    fileprivate var seconds: Double { Double(tv_sec) + Double(tv_nsec) / 1e9 }
}
