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
        var rows = shown.map(row)
        if needsTotal { rows.append(total(hidden: batches.count - shown.count)) }
        let layout = layout(of: rows)
        for (row, batch) in zip(rows, shown) {
            lines.append(line(row, layout))
            if spare > 0, daemon.obstacle == nil, let reason = batch.reason(daemon) {
                lines.append(terminal.paint("  \(reason)".cut(to: width, terminal.ellipsis), .dim))
                spare -= 1
            }
        }
        return needsTotal ? lines + [line(rows[rows.count - 1], layout)] : lines
    }

    /// What a line says.
    private struct Row {
        let name: String
        let counts: Status.Counts
        /// The most important ones first. The first two are always shown.
        let fields: [String]
        var hasBar = true

        var numbers: ArraySlice<String> { fields.prefix(2) }
    }

    private func row(_ batch: BatchProgress) -> Row {
        let end =
            batch.state == .processing
            ? speed(images: batch.imagesPerSecond, left: batch.secondsLeft) : [batch.state.words]
        return Row(
            name: batch.id.visible, counts: batch.counts,
            fields: Self.numbers(batch.counts) + Self.failures(batch.counts) + end)
    }

    /// The sums of all batches, also of those that have no line.
    private func total(hidden: Int) -> Row {
        var counts = Status.Counts()
        for batch in batches { counts.addSaturating(batch.counts) }
        let rates = batches.compactMap(\.imagesPerSecond)
        let end = speed(
            images: rates.isEmpty ? nil : rates.reduce(0, +),
            left: batches.compactMap(\.secondsLeft).max())
        let rest = hidden > 0 ? ["\(hidden) not shown"] : []
        return Row(
            name: "total", counts: counts,
            fields: Self.numbers(counts) + rest + Self.failures(counts) + end, hasBar: hidden == 0)
    }

    private static func numbers(_ counts: Status.Counts) -> [String] {
        let percent = counts.total > 0 ? counts.finished.saturatingMultiply(100) / counts.total : 0
        return ["\(percent)%".padded(to: 4, right: true), "\(counts.finished)/\(counts.total)"]
    }

    private static func failures(_ counts: Status.Counts) -> [String] {
        (counts.failed > 0 ? ["\(counts.failed) failed"] : [])
            + [counts.warningText].compactMap(\.self)
    }

    private func speed(images: Double?, left: Double?) -> [String] {
        guard daemon.name == .running else { return [] }
        return [
            left.map { "\(HumanText.estimate($0)) left" }, images.map { "\(HumanText.rate($0))/s" },
        ].compactMap { $0 }
    }

    // MARK: Layout

    /// The widths that all lines have in common, so that they stand below each other.
    private struct Layout {
        let name: Int
        /// nil if there is no room for bars.
        let bar: Int?
    }

    /// Bars and the less important fields give way before an ID, which somebody may have to type. A short bar says
    /// enough, so it also gives way before fields.
    private func layout(of rows: [Row]) -> Layout {
        let numbers = rows.map { Self.width($0.numbers) }.max() ?? 0
        let longest = rows.map { DisplayWidth.of($0.name) }.max() ?? 0
        let name = min(longest, max(8, width - numbers - Self.gap.count))
        let widest = width >= 79 ? 24 : width >= 59 ? 12 : 8
        let bars = [24, 12, 8].filter { $0 <= widest }
        func isFitting(_ bar: Int, without dropped: Int) -> Bool {
            rows.allSatisfy { row in
                let fields = row.fields.prefix(max(2, row.fields.count - dropped))
                return !row.hasBar
                    || name + bar + 2 + Self.gap.count * 2 + Self.width(fields) <= width
            }
        }
        let most = rows.map(\.fields.count).max() ?? 2
        for dropped in 0...max(0, most - 2) {
            if let bar = bars.first(where: { isFitting($0, without: dropped) }) {
                return Layout(name: name, bar: bar)
            }
        }
        return Layout(name: name, bar: nil)
    }

    private func line(_ row: Row, _ layout: Layout) -> String {
        var parts = [row.name.cut(to: layout.name, terminal.ellipsis).padded(to: layout.name)]
        if row.hasBar, let width = layout.bar { parts.append(bar(row.counts, width)) }
        var fields = row.fields
        while fields.count > 2, Self.width((parts + fields)[...]) > width { fields.removeLast() }
        return (parts + fields).joined(separator: Self.gap).cut(to: width, terminal.ellipsis)
    }

    private static func width(_ parts: ArraySlice<String>) -> Int {
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

extension String {
    /// The sentence with a capital letter at its beginning.
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
