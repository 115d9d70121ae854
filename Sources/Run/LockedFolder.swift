import DarkroomCore
import DarkroomSpool

/// The lock of `.darkroom` during a merge, so that there is one at a time.
final class LockedFolder: Sendable {
    private let descriptor: Descriptor

    init(_ root: Directory, of folder: String) throws(RunError) {
        do {
            descriptor = try SpoolLock.take(root, for: "darkroom merge on \(Machine.name)")
        } catch {
            switch error {
            case .locked(_, let holder): throw .inUse(folder: folder, holder: holder)
            case .file(let error), .barred(let error, _): throw RunError(error)
            }
        }
    }
}
