import Synchronization
import SystemPackage

/// A flag that is set once. Work checks it between its steps.
package final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    package init() {}

    package func set() { flag.store(true, ordering: .releasing) }

    package var isSet: Bool { flag.load(ordering: .acquiring) }

    /// Throws ECANCELED if the flag is set. For code that reads or writes files in pieces.
    package func check(_ step: FileError.Step, _ path: @autoclosure () -> String) throws(FileError)
    {
        if isSet { throw FileError(step, path(), .canceled) }
    }
}
