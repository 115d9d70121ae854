/// Kills of a program at random moments of its life.
///
/// How long it lives depends on the machine and on what it finds done. So the limit of the moments follows what was seen:
/// about half of the programs end before they are killed.
struct RandomKills {
    /// Of programs that had not ended before.
    private(set) var count = 0
    private var limit = Duration.milliseconds(100)

    /// Waits until the next moment.
    func wait() async throws { try await Task.sleep(for: limit * Double.random(in: 0...1)) }

    /// - Parameter exit: how a program ended, as a shell says it.
    mutating func note(exit: Int32) {
        let wasKilled = exit == 137
        if wasKilled { count += 1 }
        limit = min(max(limit * (wasKilled ? 1.25 : 0.75), .milliseconds(2)), .seconds(2))
    }
}
