import CShims
import Glibc
import Synchronization

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
        /// As `segv`, in a thread that helps with this picture.
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

    /// The record of the picture whose helpers are struck, see `CrashRecords`.
    private static let helped = Atomic(-1)

    /// An image begins to be decoded by this thread.
    package static func strike(_ name: String) {
        guard let plan, plan.name == name else { return }
        switch plan.kind {
        case .segv: crash()
        case .abort: Glibc.abort()
        case .trap: fatalError("DARKROOM_FAULT")
        case .kill: raise(SIGKILL)
        case .stack: darkroom_crash_overflow()
        case .helper: helped.store(Int(darkroom_crash_slot()), ordering: .relaxed)
        case .hang: while true { pause() }
        }
    }

    /// This thread begins to help with the picture of a record.
    package static func strikeHelper(_ slot: CInt) {
        guard plan != nil, slot >= 0 else { return }
        if helped.load(ordering: .relaxed) == Int(slot) { crash() }
    }

    private static func crash() { darkroom_crash_fault() }
}
