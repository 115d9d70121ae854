import Foundation
import Testing

/// The whole board in random sequences of the scheduler's calls, see `BoardMachine`.
///
/// `TEST_BOARD_SEEDS=1-20000` has other seeds played. A failure tells its seed and the last steps; the same seed fails
/// again.
struct BoardMachineTests {
    private static let usual: ClosedRange<UInt64> = 1...200

    private static let seeds: ClosedRange<UInt64> = {
        let words = ProcessInfo.processInfo.environment["TEST_BOARD_SEEDS"] ?? ""
        let numbers = words.split(separator: "-").compactMap { UInt64($0) }
        guard let first = numbers.first, let last = numbers.last, first <= last else {
            return usual
        }
        return numbers.count == 1 ? 1...first : first...last
    }()

    @Test func randomSequences() {
        var missing = Self.situations
        for seed in Self.seeds {
            let (machine, fault) = BoardMachine.play(seed: seed)
            missing.subtract(machine.seen)
            if fault == nil { continue }
            let again = BoardMachine.play(seed: seed, isTraced: true)
            let steps = (again.machine.trace ?? []).suffix(60).joined(separator: "\n")
            Issue.record(
                "seed \(seed): \(String(describing: again.fault))\nthe last steps:\n\(steps)")
        }
        if Self.seeds.count >= Self.usual.count { #expect(missing.isEmpty) }
    }

    /// What the usual sequences come through, so that they do not become idle.
    private static let situations: Set = [
        "back", "cancel: acts", "cancelled", "completed", "completedWithErrors",
        "confirmed in vain", "copied", "crashes", "delivered", "download not needed",
        "filter not begun", "filter stopped", "filtered again", "filtered apart", "folder away",
        "freed", "hold: acts", "needs too much", "not delivered",
        "originals moved", "originals of a cancelled batch", "originals wait", "parked",
        "paused host", "prepared", "publishing failed", "refused", "release: acts", "reloaded",
        "restarted",
        "retried", "source given back", "stopped at work", "taken along", "to be made again",
        "tried", "tried well", "undecided", "unwanted", "waits for memory",
    ]

    /// A failure would not be found again otherwise.
    @Test func aSeedGivesTheSameSteps() {
        let traces = (0..<2).map { _ in
            BoardMachine.play(seed: 7, isTraced: true).machine.trace
        }
        #expect(traces[0] == traces[1] && traces[0]?.isEmpty == false)
    }
}
