import CDarkroomShims
import Glibc

/// A fault on demand, for the tests of what becomes of a picture that ends the process: with
/// `DARKROOM_FAULT=decode=NAME:KIND` in the environment it strikes when the image NAME begins to be decoded.
/// Without, which is always but in tests, it costs a comparison.
package enum DecodeFault {
    private enum Kind: String {
        /// Read from an address that nothing is at.
        case segv
        /// Call abort(3).
        case abort
        /// Execute no instruction.
        case trap
        /// Be killed by someone.
        case kill
        /// Call itself until the stack is used up.
        case stack
        /// As `segv`, in a thread that helps with this picture, while this one waits.
        case helper
        /// Never go on.
        case hang
    }

    private struct Plan: Sendable {
        let name: String
        let kind: Kind
    }

    private static let plan: Plan? = getenv("DARKROOM_FAULT").flatMap { value in
        let prefix = "decode="
        let text = String(cString: value)
        guard text.hasPrefix(prefix), let colon = text.lastIndex(of: ":"),
            let kind = Kind(rawValue: String(text[text.index(after: colon)...]))
        else { return nil }
        let name = text[..<colon].dropFirst(prefix.count)
        return Plan(name: String(name), kind: kind)
    }

    /// An image begins to be decoded by this thread.
    ///
    /// - Parameter lend: has a thread help with the picture. Whether one does otherwise depends on which cores are idle,
    ///   and one that begins late finds the picture done.
    package static func strike(
        _ name: String, lend: (_ body: @escaping @Sendable () -> Void) -> Void
    ) {
        guard let plan, plan.name == name else { return }
        switch plan.kind {
        case .segv: crash()
        case .abort: Glibc.abort()
        case .trap: fatalError("DARKROOM_FAULT")
        case .kill: raise(SIGKILL)
        case .stack: darkroom_crash_overflow()
        case .helper:
            lend { crash() }
            while true { pause() }
        case .hang: while true { pause() }
        }
    }

    private static func crash() { darkroom_crash_fault() }
}
