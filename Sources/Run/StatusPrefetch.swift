import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomSpool
import Dispatch
import Synchronization
import SystemPackage

/// Reads the status of a former run on a thread of its own, while the manifest is read or made: with 10,000 unchanged
/// images, each of the two takes a third of a run.
///
/// The folder is not locked yet, so whoever takes the status looks whether the file is still the one that was read.
package final class StatusPrefetch: Sendable {
    private struct Found: Sendable {
        let status: Status
        /// Of the file, before it was read.
        let identity: SourceIdentity
    }

    private let found = Mutex<Found?>(nil)
    private let reading = DispatchGroup()

    /// - Parameter folder: the folder of the results, which need not exist.
    package init(of folder: String) {
        DispatchQueue.global(qos: .userInitiated).async(group: reading) { [self] in
            guard let answer = try? Directory(path: folder),
                let information = try? answer.information(of: BatchFile.status),
                let status = try? Status(in: answer)
            else { return }
            found.withLock {
                $0 = Found(status: status, identity: SourceIdentity(information))
            }
        }
    }

    /// Waits for the status, and gives it once.
    ///
    /// - Returns: nil if the file in `answer` is not the one that was read.
    func take(in answer: Directory) -> Status? {
        reading.wait()
        guard let found = found.withLock({ $0.take() }),
            let information = try? answer.information(of: BatchFile.status),
            SourceIdentity(information) == found.identity
        else { return nil }
        return found.status
    }
}
