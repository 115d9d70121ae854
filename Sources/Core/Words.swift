package enum Words {
    /// `a`, `a and b`, `a, b and c`.
    package static func list(_ words: [String], _ conjunction: String) -> String {
        guard let last = words.last, words.count > 1 else { return words.last ?? "" }
        return words.dropLast().joined(separator: ", ") + " \(conjunction) \(last)"
    }

    /// `1 image`, `12 images`.
    package static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(number) \(number == 1 ? one : many ?? one + "s")"
    }

    /// `312 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`, `9 days`.
    package static func time(microseconds: UInt64) -> String {
        let tenths = microseconds.saturatingAdd(50_000) / 100_000
        let seconds = microseconds.saturatingAdd(500_000) / 1_000_000
        if microseconds < 1_000_000 { return "\(microseconds / 1000) ms" }
        if tenths < 600 { return "\(tenths / 10).\(tenths % 10) s" }
        if seconds < 3600 { return "\(seconds / 60) min \(seconds % 60) s" }
        let minutes = (seconds + 30) / 60
        if minutes >= 2 * 1440 { return "\((minutes + 720) / 1440) days" }
        return "\(minutes / 60) h \(minutes % 60) min"
    }

    /// The most frequent first: `12 http-status, 3 timeout, 7 others`.
    package static func reasons(_ counts: [String: Int]) -> String {
        let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let shown = sorted.count <= 5 ? sorted.count : 4
        var words = sorted.prefix(shown).map { "\($0.value) \($0.key)" }
        let others = sorted.dropFirst(shown).reduce(0) { $0 + $1.value }
        if others > 0 { words.append("\(others) others") }
        return words.joined(separator: ", ")
    }
}
