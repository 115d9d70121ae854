import DarkroomAnswer
import DarkroomCore

/// The lines of live progress on a terminal: not wider than the screen, unless an ID is, and one row lower than it.
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
            let told = sentence(obstacle.capitalizedFirst, room: room - 2)
            lines += told.map { terminal.paint($0, .yellow) }
            room -= terminal.rows(of: told)
        }
        // The total below the batches; where not all have room, it also counts the others.
        let needsTotal = batches.count > 1 && room > 1
        let (rows, used) = rows(room: needsTotal ? room - 1 : room, needsTotal)
        // Reasons take the lines that the batches leave.
        var spare = room - used - (needsTotal ? 1 : 0)
        let total = needsTotal ? [total(hidden: batches.count - rows.count)] : []
        let layout = layout(of: rows + total)
        for (row, batch) in zip(rows, batches) {
            lines += self.lines(row, layout)
            if spare > 0, daemon.obstacle == nil, let reason = batch.reason(daemon) {
                let told = sentence("  \(reason)", room: spare)
                lines += told.map { terminal.paint($0, .dim) }
                spare -= terminal.rows(of: told)
            }
        }
        return lines + total.flatMap { self.lines($0, layout) }
    }

    /// The rows of the first batches that fit into so many rows of the screen, and how many they take. There is always one:
    /// without its name, if there is no room for it.
    private func rows(room: Int, _ needsTotal: Bool) -> ([Row], used: Int) {
        var candidates = batches.prefix(max(1, room)).map(row)
        let most = nameRoom(beside: candidates + (needsTotal ? [total(hidden: 0)] : []))
        var count = 0
        var used = 0
        for row in candidates {
            let name = DisplayWidth.of(row.name) <= most ? 0 : terminal.rows(of: [row.name])
            guard used + name + 1 <= room else { break }
            used += name + 1
            count += 1
        }
        guard count == 0, !candidates.isEmpty else {
            return (Array(candidates.prefix(count)), used)
        }
        candidates[0].name = ""
        return (Array(candidates.prefix(1)), 1)
    }

    /// The first lines of a sentence, each of whole words.
    private func sentence(_ text: String, room: Int) -> [String] {
        let indent = text.prefix { $0 == " " }.count
        var lines = text.wrapped(to: width, indent: indent)
        guard terminal.rows(of: lines) > room else { return lines }
        while terminal.rows(of: lines) > room { lines.removeLast() }
        guard let last = lines.last else { return [] }
        let mark = " \(terminal.ellipsis)"
        if DisplayWidth.of(last + mark) <= width { lines[lines.count - 1] = last + mark }
        return lines
    }

    private struct Row {
        /// Empty if it has no room.
        var name: String
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

    private func total(hidden: Int) -> Row {
        var counts = Status.Counts()
        for batch in batches { counts.add(batch.counts) }
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
        /// 0 if no name stands beside its numbers.
        let name: Int
        /// The width up to which a name stands beside its numbers. A longer one has a line of its own.
        let mostName: Int
        /// nil if there is no room for bars.
        let bar: Int?
    }

    private func nameRoom(beside rows: [Row]) -> Int {
        max(0, width - (rows.map { Self.width($0.numbers) }.max() ?? 0) - Self.gap.count)
    }

    /// An ID is never cut: somebody may have to type it. Bars and the less important fields give way before it has a line
    /// of its own. A short bar says enough, so it also gives way before fields.
    private func layout(of rows: [Row]) -> Layout {
        let most = nameRoom(beside: rows)
        let name = rows.map { DisplayWidth.of($0.name) }.filter { $0 <= most }.max() ?? 0
        let used = name == 0 ? 0 : name + Self.gap.count
        let widest = width >= 79 ? 24 : width >= 59 ? 12 : 8
        let bars = [24, 12, 8].filter { $0 <= widest }
        func isFitting(_ bar: Int, without dropped: Int) -> Bool {
            rows.allSatisfy { row in
                let fields = row.fields.prefix(max(2, row.fields.count - dropped))
                return !row.hasBar
                    || used + bar + 2 + Self.gap.count + Self.width(fields) <= width
            }
        }
        let fields = rows.map(\.fields.count).max() ?? 2
        for dropped in 0...max(0, fields - 2) {
            if let bar = bars.first(where: { isFitting($0, without: dropped) }) {
                return Layout(name: name, mostName: most, bar: bar)
            }
        }
        return Layout(name: name, mostName: most, bar: nil)
    }

    private func lines(_ row: Row, _ layout: Layout) -> [String] {
        let isBeside = DisplayWidth.of(row.name) <= layout.mostName
        var parts: [String] = []
        if layout.name > 0 { parts.append((isBeside ? row.name : "").padded(to: layout.name)) }
        if row.hasBar, let width = layout.bar { parts.append(bar(row.counts, width)) }
        var fields = row.fields
        while fields.count > 2, Self.width((parts + fields)[...]) > width { fields.removeLast() }
        let line = (parts + fields).joined(separator: Self.gap)
        return (isBeside ? [] : [row.name]) + [line.cut(to: width, terminal.ellipsis)]
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
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
