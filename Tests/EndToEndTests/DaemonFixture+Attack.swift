import Foundation
import Glibc
import TestSupport
import Testing

/// How a daemon under attack is judged: another user's picture is done within five seconds while the attack
/// lasts, and SIGTERM ends the daemon within ten.
///
/// Other tests share the machine, so the same picture is done once before the attack, and several times what that took
/// is added to each limit.
extension DaemonFixture {
    /// A user who has nothing to do with the attacker; the tests' own where they may not give files away.
    private static let innocentUser: uid_t = 2000

    /// Has a picture of an innocent user done, and returns how long it took from its drop to its last status.
    ///
    /// - Parameter source: of the picture; nil for one of the origin.
    func innocentPicture(
        _ id: String, _ daemon: DaemonProcess, source: String? = nil
    ) async throws -> Duration {
        let image = ["name": "a", "source": source ?? url("0.png")]
        let clock = ContinuousClock()
        let start = clock.now
        try drop(id, ["images": [image]], as: Self.innocentUser)
        let status = try await spool.finish(id, daemon)
        let duration = clock.now - start
        try checkCompleted(status)
        return duration
    }

    /// Drops a user's manifest, complete by a rename; the tests' own user's where they may not give files away.
    func drop(_ id: String, _ manifest: [String: Any], as user: uid_t) throws {
        let staged = spool.root.appending(path: "tmp/\(id).json").path
        try Data(Self.json(manifest).utf8).write(to: URL(filePath: staged))
        if geteuid() == 0 {
            try #require(chown(staged, user, user) == 0)
            try #require(chmod(staged, 0o644) == 0)
        }
        try #require(rename(staged, spool.root.appending(path: "inbox/\(id).json").path) == 0)
    }

    /// Holds a daemon against the limits while `attack` lasts.
    ///
    /// - Parameters:
    ///   - source: of the innocent user's picture; nil for one of the origin.
    ///   - before: how long that picture took; nil to have it done now, where the attack has not begun.
    ///   - attack: begins the attack and returns while it lasts.
    func withstands(
        _ daemon: DaemonProcess, source: String? = nil, before known: Duration? = nil,
        sourceLocation: SourceLocation = #_sourceLocation,
        attack: () async throws -> Void
    ) async throws {
        let before: Duration
        if let known {
            before = known
        } else {
            before = try await innocentPicture("innocent-before", daemon, source: source)
        }
        try await attack()
        let during = try await innocentPicture("innocent-during", daemon, source: source)
        #expect(during < .seconds(5) + before * 4, sourceLocation: sourceLocation)
        let clock = ContinuousClock()
        let start = clock.now
        let ending = try await daemon.stop()
        #expect(clock.now - start < .seconds(10) + before * 4, sourceLocation: sourceLocation)
        #expect(ending == .exited(0), sourceLocation: sourceLocation)
    }
}
