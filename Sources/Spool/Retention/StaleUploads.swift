import DarkroomAnswer
import DarkroomCore
import Foundation
import Glibc

/// Files in `tmp/` that someone began to submit and left there.
package struct StaleUploads: Sendable, Equatable {
    /// The age in seconds after which a file counts as abandoned: 36 hours, as in maildir.
    package static let age = 36.0 * 3600

    package var count = 0
    package var bytes = 0
    /// The name of the file that has been unchanged for the longest time.
    var oldest: String?

    /// Finds files that have not changed for `age` seconds. With `remove`, they are removed; those that cannot be
    /// are skipped, because the administrator decides about the permissions of the folder.
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
                information.isRegularFile
            else { continue }
            // A copy may have the modification time of its original; the change time cannot be set.
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
