/// Random moments in the life of a program that is killed.
///
/// How long it lives depends on the machine and on what it finds done. So the limit of the moments follows what was seen:
/// about half of the programs end before they are killed.
struct KillMoments {
    private var limit = Duration.milliseconds(100)

    func wait() async throws { try await Task.sleep(for: limit * Double.random(in: 0...1)) }

    mutating func note(wasKilled: Bool) {
        limit = min(max(limit * (wasKilled ? 1.25 : 0.75), .milliseconds(2)), .seconds(2))
    }
}
