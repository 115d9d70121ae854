import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// The lock of `.darkroom` during a merge or a change of the plan, so that there is one of these at a time. On a file
/// system that is mounted read-only, a merge still finds out what is missing.
final class LockedFolder: Sendable {
    private let descriptor: Descriptor

    init(
        _ root: Directory, of folder: String, for program: String = "darkroom merge"
    ) throws(RunError) {
        do {
            if let shared = try SpoolLock.takeToRead(root) {
                descriptor = shared
            } else {
                descriptor = try SpoolLock.take(root, for: "\(program) on \(Machine.name)")
            }
        } catch {
            throw RunError(error, folder: folder)
        }
    }
}
