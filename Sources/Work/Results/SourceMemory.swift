import DarkroomFetch
import Synchronization

/// Remembers the digests of local files, so that a file that is the same needs not be read again (`SourceIdentity`).
///
/// Only settled identities are remembered, and only for the user for whose batch the file was read. A restart forgets
/// them. The sources of at least `mostOfGeneration` last uses are known, in about 10 MB.
final class SourceMemory: Sendable {
    private struct Key: Hashable {
        let owner: UInt32
        let identity: String
    }

    private struct State {
        /// Those that were used since the last change of generations, and those that were used in the one before.
        var young: [Key: String] = [:]
        var old: [Key: String] = [:]
    }

    private let state = Mutex(State())
    private let mostOfGeneration: Int

    init(mostOfGeneration: Int = 20_000) { self.mostOfGeneration = mostOfGeneration }

    /// The SHA-256 of the file in hexadecimal; nil if it is not known.
    func sha256(of identity: SourceIdentity, for owner: UInt32) -> String? {
        let key = Key(owner: owner, identity: identity.text)
        return state.withLock { state in
            if let known = state.young[key] { return known }
            guard let known = state.old[key] else { return nil }
            add(key, known, to: &state)
            return known
        }
    }

    /// - Parameter identity: settled before the file was read, and the same afterwards.
    func remember(_ sha256: String, of identity: SourceIdentity, for owner: UInt32) {
        let key = Key(owner: owner, identity: identity.text)
        state.withLock { add(key, sha256, to: &$0) }
    }

    private func add(_ key: Key, _ sha256: String, to state: inout State) {
        if state.young.count >= mostOfGeneration {
            state.old = state.young
            state.young = [:]
        }
        state.young[key] = sha256
    }
}
