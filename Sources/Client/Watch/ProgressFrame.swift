import DarkroomCore
import DarkroomManifest
import DarkroomSpool

/// The lines of live progress on a terminal: never wider than the screen, and one line lower than it.
struct ProgressFrame {
    private static let gap = "  "
    private let batches: [BatchProgress]
    private let daemon: DaemonState
    private let terminal: Terminal
    /// A character in the last column would make some terminals wrap.
    private let width: Int

    init(_ batches: [BatchProgress], _ daemon: DaemonState, _ terminal: Terminal) {
        self.batches = batches
        self.daemon = daemon
        self.terminal = terminal
        width = max(1, (terminal.width ?? 80) - 1)
    }

    var lines: [String] {
        var room = max(1, terminal.height - 1)
        var lines: [String] = []
        if let obstacle = daemon.obstacle, room > 2 {
            lines.append(
                terminal.paint(obstacle.capitalizedFirst.cut(to: width, terminal.ellipsis), .yellow)
            )
            room -= 1
        }
        // The total below the batches; where not all have room, it also counts the others.
        let needsTotal = batches.count > 1 && room > 1
        let shown = batches.prefix(needsTotal ? room - 1 : room)
        // Reasons take the lines that the batches leave.
        var spare = room - shown.count - (needsTotal ? 1 : 0)
        let nameWidth = nameWidth(shown)
        for batch in shown {
            lines.append(line(batch, nameWidth))
            if spare > 0, daemon.obstacle == nil, let reason = batch.reason(daemon) {
                lines.append(terminal.paint("  \(reason)".cut(to: width, terminal.ellipsis), .dim))
                spare -= 1
            }
        }
        if needsTotal { lines.append(total(hidden: batches.count - shown.count, nameWidth)) }
        return lines
    }

    private func nameWidth(_ shown: ArraySlice<BatchProgress>) -> Int {
        let longest = shown.map { DisplayWidth.of($0.id.visible) }.max() ?? 0
        // Bar and speed give way before an ID, which somebody may have to type.
        let numbers = shown.map { Self.width(Self.numbers($0.counts)) }.max() ?? 0
        return min(
            max(longest, batches.count > 1 ? 5 : 0), max(8, width - numbers - Self.gap.count))
    }

    private func line(_ batch: BatchProgress, _ nameWidth: Int) -> String {
        let name = batch.id.visible.cut(to: nameWidth, terminal.ellipsis)
        let end =
            batch.state == .processing
            ? speed(images: batch.imagesPerSecond, left: batch.secondsLeft) : [batch.state.words]
        return line(
            name.padded(to: nameWidth), batch.counts,
            fields: Self.numbers(batch.counts) + Self.failures(batch.counts) + end, hasBar: true)
    }

    /// The sums of all batches, also of those that have no line.
    private func total(hidden: Int, _ nameWidth: Int) -> String {
        var counts = Status.Counts()
        for batch in batches { counts += batch.counts }
        let rates = batches.compactMap(\.imagesPerSecond)
        let end = speed(
            images: rates.isEmpty ? nil : rates.reduce(0, +),
            left: batches.compactMap(\.secondsLeft).max())
        let rest = hidden > 0 ? ["\(hidden) not shown"] : []
        return line(
            "total".padded(to: nameWidth), counts,
            fields: Self.numbers(counts) + rest + Self.failures(counts) + end, hasBar: hidden == 0)
    }

    private static func numbers(_ counts: Status.Counts) -> [String] {
        let percent = counts.total > 0 ? counts.finished.saturatingMultiply(100) / counts.total : 0
        return ["\(percent)%".padded(to: 4, right: true), "\(counts.finished)/\(counts.total)"]
    }

    private static func failures(_ counts: Status.Counts) -> [String] {
        counts.failed > 0 ? ["\(counts.failed) failed"] : []
    }

    private func speed(images: Double?, left: Double?) -> [String] {
        guard daemon.name == .running else { return [] }
        return [
            left.map { "\(HumanText.estimate($0)) left" }, images.map { "\(HumanText.rate($0))/s" },
        ].compactMap { $0 }
    }

    /// - Parameter fields: the most important ones first. Those that have no room are left out, except the first two,
    ///   for which the bar gives way.
    private func line(
        _ name: String, _ counts: Status.Counts, fields: [String], hasBar: Bool
    ) -> String {
        let widest = width >= 79 ? 24 : width >= 59 ? 12 : 8
        func isFitting(_ parts: [String]) -> Bool { Self.width(parts) <= width }
        var fields = fields
        if hasBar {
            // A short bar says enough, so it leaves its room to the fields.
            let bars = [24, 12, 8].filter { $0 <= widest }.map { bar(counts, $0) }
            if let bar = bars.first(where: { isFitting([name, $0] + fields) }) {
                return ([name, bar] + fields).joined(separator: Self.gap)
            }
            var few = fields
            while few.count > 2, !isFitting([name, bar(counts, 8)] + few) { few.removeLast() }
            if isFitting([name, bar(counts, 8)] + few) {
                return ([name, bar(counts, 8)] + few).joined(separator: Self.gap)
            }
        }
        while fields.count > 2, !isFitting([name] + fields) { fields.removeLast() }
        return ([name] + fields).joined(separator: Self.gap).cut(to: width, terminal.ellipsis)
    }

    private static func width(_ parts: [String]) -> Int {
        parts.reduce(0) { $0 + DisplayWidth.of($1) } + gap.count * max(0, parts.count - 1)
    }

    /// `[####----]`. It is full only when all images have ended.
    private func bar(_ counts: Status.Counts, _ width: Int) -> String {
        let done = counts.total > 0 ? counts.finished.saturatingMultiply(width) / counts.total : 0
        let full = String(repeating: "#", count: min(max(done, 0), width))
        let rest = String(repeating: "-", count: width - full.count)
        return "[" + full + rest + "]"
    }
}

extension Status.Counts {
    /// Adds the numbers of another batch. They come from a file and may have any values.
    static func += (sum: inout Status.Counts, other: Status.Counts) {
        sum.total = sum.total.saturatingAdd(other.total)
        for state in ImageState.allCases {
            sum[state] = sum[state].saturatingAdd(other[state])
        }
    }
}

extension String {
    /// The sentence with a capital letter at its beginning.
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
