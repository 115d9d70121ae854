import DarkroomCore

/// Where a time is drawn, from 0 to 1. A long time in which nothing ran is drawn short, so that a night does not hide the
/// work before and after it.
struct TimeScale: Sendable {
    /// A part of the time that is drawn with one scale.
    struct Part: Sendable, Equatable {
        let begin: Int
        let end: Int
        let from: Double
        let to: Double
        let isShortened: Bool

        func place(_ time: Int) -> Double {
            guard end > begin else { return from }
            let share = Double(time - begin) / Double(end - begin)
            return from + (to - from) * min(max(share, 0), 1)
        }
    }

    struct Mark: Sendable, Equatable {
        let place: Double
        /// The time since the beginning.
        let text: String
    }

    let parts: [Part]
    private let begin: Int

    init(_ timeline: Timeline) {
        begin = timeline.begin
        let gaps = timeline.gaps
        let busy = max(1, gaps.reduce(timeline.end - timeline.begin) { $0 - ($1.end - $1.begin) })
        // The length of each part as it is drawn, in milliseconds of work.
        var lengths: [(begin: Int, end: Int, length: Double, isShortened: Bool)] = []
        var start = timeline.begin
        for gap in gaps {
            let length = Double(gap.end - gap.begin)
            guard length > Double(busy) * 0.15 else { continue }
            lengths.append((start, gap.begin, Double(gap.begin - start), false))
            lengths.append((gap.begin, gap.end, Double(busy) * 0.08, true))
            start = gap.end
        }
        lengths.append((start, timeline.end, Double(timeline.end - start), false))
        let total = lengths.reduce(0) { $0 + $1.length }
        var from = 0.0
        parts = lengths.map { part in
            defer { from += part.length / total }
            return Part(
                begin: part.begin, end: part.end, from: from, to: from + part.length / total,
                isShortened: part.isShortened)
        }
    }

    func place(_ time: Int) -> Double {
        let part = parts.first { time <= $0.end } ?? parts.last
        return part?.place(time) ?? 0
    }

    // MARK: Marks

    private static let steps =
        [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000]
        + [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720].map { $0 * 60_000 }
        + [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map { $0 * 86_400_000 }

    /// About four marks at round times, none too near to the one before it, and none in a shortened part.
    var marks: [Mark] {
        let drawn = parts.filter { !$0.isShortened }.reduce(0) { $0 + ($1.end - $1.begin) }
        let step = Self.steps.first { $0 >= drawn / 5 } ?? max(1, drawn / 5)
        var marks: [Mark] = []
        for part in parts where !part.isShortened {
            var time = (part.begin - begin + step - 1) / step * step
            while begin + time <= part.end {
                let place = part.place(begin + time)
                if place <= 0.92, place - (marks.last?.place ?? -1) >= 0.14 {
                    marks.append(Mark(place: place, text: Self.text(time)))
                }
                time += step
            }
        }
        return marks
    }

    /// `250 ms`, `12 s`, `2.5 s`, `3:05 min`, `12:03:10 h`.
    static func text(_ milliseconds: Int) -> String {
        let seconds = milliseconds / 1000
        func two(_ number: Int) -> String { number.digits(width: 2) }
        if milliseconds == 0 { return "0" }
        if milliseconds < 1000 { return "\(milliseconds) ms" }
        if seconds < 60 {
            let rest = milliseconds % 1000 / 100
            return rest == 0 ? "\(seconds) s" : "\(seconds).\(rest) s"
        }
        if seconds < 3600 { return "\(seconds / 60):\(two(seconds % 60)) min" }
        return "\(seconds / 3600):\(two(seconds / 60 % 60)):\(two(seconds % 60)) h"
    }
}
