import CDarkroomShims
import Glibc

/// A deliberate fault, to test what happens to a picture that ends the process. With `DARKROOM_FAULT=decode=NAME:KIND`
/// in the environment, it happens when decoding of the image NAME begins. Without the variable, that is, always except
/// in tests, it costs a comparison.
package enum DecodeFault {
    private enum Kind: String {
        /// Read from an address that is not mapped.
        case segv
        /// Call abort(3).
        case abort
        /// Execute an invalid instruction.
        case trap
        /// Be killed by SIGKILL.
        case kill
        /// Recurse until the stack is exhausted.
        case stack
        /// Like `segv`, but in a thread that helps with this picture while this thread waits.
        case helper
        /// Hang for ever.
        case hang
    }

    private static let plan: (name: String, kind: Kind)? = getenv("DARKROOM_FAULT").flatMap {
        value in
        let prefix = "decode="
        let text = String(cString: value)
        guard text.hasPrefix(prefix), let colon = text.lastIndex(of: ":"),
            let kind = Kind(rawValue: String(text[text.index(after: colon)...]))
        else { return nil }
        return (name: String(text[..<colon].dropFirst(prefix.count)), kind: kind)
    }

    /// Call this when the thread begins to decode an image.
    ///
    /// - Parameter lend: makes a thread help with the picture. Without a fault, it depends on the idle cores whether a
    ///   thread helps, and a thread that begins late finds the picture finished.
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
