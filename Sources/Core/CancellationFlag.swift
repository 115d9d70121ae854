import Synchronization
import SystemPackage

/// A flag that is set once and asked between the steps of the work it concerns.
package final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    package init() {}

    package func set() { flag.store(true, ordering: .releasing) }

    package var isSet: Bool { flag.load(ordering: .acquiring) }
}

extension CancellationFlag {
    /// Fails with ECANCELED once it is set: for what reads and writes files, between two pieces.
    package func check(_ step: String, _ path: @autoclosure () -> String) throws(FileError) {
        if isSet { throw FileError(step, path(), .canceled) }
    }
}
